"""The operator's guide: its commands work when they are pasted, as far as they start or stop nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from infra.stack.broker import EmbeddedBroker
from infra.stack.paths import ROOT
from infra.stack.redis import EmbeddedRedis
from pratique.contract.topics import COMPACTION_REQUESTED, DEAD_LETTER
from tests.integration.raw import until
from tests.integration.test_guide_agent_engineer import bare_desk, desk, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.platform import Platform
    from tests.integration.raw import Raw

__all__ = ["bare_desk", "desk"]

pytestmark = pytest.mark.containers

GUIDE = ROOT / "docs" / "guide" / "operator.md"
EXAMPLE = "3 17"
COMPOSE_KAFKA, COMPOSE_REDIS = "127.0.0.1:9092", "redis://127.0.0.1:6379/0"


def blocks(section: str) -> list[str]:
    """Return what a section of the guide has its reader paste."""
    _, heading, rest = GUIDE.read_text(encoding="utf-8").partition(f"\n{section}\n")
    assert heading, section
    return re.findall(r"```sh\n(.*?)```", re.split(r"\n#+ ", rest)[0], re.DOTALL)


def paste(desk: Path, *pasted: str) -> str:
    """Run blocks one after the other, in one shell."""
    return run(desk, "bash", "-euo", "pipefail", "-c", "\n".join(pasted))


def test_the_commands_about_recalls_and_the_ledger_work(desk: Path) -> None:
    said = paste(desk, *blocks("## Recalls and the ledger"))
    assert "topic, audit and view agree" in said
    assert "look-ups read" in said


def test_the_commands_about_dead_letters_work_on_the_running_stack(platform: Platform, desk: Path) -> None:
    (facts,) = blocks("## The stack")
    (pasted,) = blocks("## Dead letters")
    value = b"nobody has signed this"
    platform.log.publish(COMPACTION_REQUESTED, value, partition=0)
    until(lambda: bool(letters(platform, value)), "it is a dead letter")
    letter = letters(platform, value)[0]
    assert EXAMPLE in pasted
    said = paste(desk, facts, pasted.replace(EXAMPLE, f"{letter.partition} {letter.offset}"))
    assert "SIGNATURE_INVALID" in said
    assert f"published to {COMPACTION_REQUESTED}" in said
    assert (desk / "letter.bin").read_bytes() == value
    until(lambda: len(letters(platform, value)) > 1, "what was replayed as it stood is a dead letter again")


def letters(platform: Platform, value: bytes) -> list[Raw]:
    """Return the dead letters of some bytes."""
    return [record for record in platform.log.records(DEAD_LETTER) if record.value == value]


def test_a_new_cluster_and_a_new_redis_are_made_ready(bare_desk: Path) -> None:
    where, ready, apps = blocks("## Running the apps")
    (bare_desk / "infra").symlink_to(ROOT / "infra")
    beside = bare_desk / ".pratique" / "compose"
    redis = EmbeddedRedis(beside, beside / "keys", log_dir=beside)
    with EmbeddedBroker(beside / "kafka", log_dir=beside) as broker:
        try:
            redis.start()
            assert COMPOSE_KAFKA in where
            assert COMPOSE_REDIS in where
            here = where.replace(COMPOSE_KAFKA, broker.bootstrap).replace(COMPOSE_REDIS, redis.url)
            said = paste(bare_desk, here, ready, apps.partition("pratique run")[0], "pratique ledger verify")
        finally:
            redis.stop()
    assert "look-ups read" in said
    assert "topic, audit and view agree" in said
