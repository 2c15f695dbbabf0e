"""Language models at start: workers begin where they are the pinned ones, and not at all where they are not."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from streams.adapters.language_models import files_sha256, located
from streams.adapters.policy_source import read_json
from streams.adapters.pool import WorkerPool
from streams.application.ports.detection import Detection
from streams.domain.policy.documents import scan_policy
from streams.domain.policy.language_models import LanguageModel
from streams.domain.policy.model import ScanPolicy
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import ConfigurationError
from tests.fakes.detectors import NAMES, SCRIPTED
from tests.fakes.language_model import ENGLISH, PACKAGE, asking
from tests.fakes.policy import DEMO_SOURCE
from topologies.bootstrap.language_models import model_digest, require_models, verify_models

PINNED = {"policy_sha256": "0" * 64, "scanner_version": "1", "scanner_sha256": "0" * 64}


def policy(*models: LanguageModel) -> ScanPolicy:
    document = read_json(DEMO_SOURCE / "scan.json")
    assert isinstance(document, dict)
    return scan_policy({**(asking(document, *models) if models else document), **PINNED})


def test_models_that_are_here_are_told() -> None:
    assert verify_models([policy(), policy(ENGLISH), policy(ENGLISH)]) == [f"en: {located(PACKAGE)}"]
    assert verify_models([policy()]) == []


def test_a_policy_takes_the_digest_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_digest(PACKAGE) == (located(PACKAGE), ENGLISH.sha256)
    shutil.copytree(located(PACKAGE), tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    assert model_digest("./model") == (tmp_path / "model", ENGLISH.sha256)


@pytest.mark.parametrize(
    "model", [replace(ENGLISH, package="no_such_language_model"), replace(ENGLISH, sha256="0" * 64)]
)
def test_a_model_that_is_absent_or_different_ends_the_start(model: LanguageModel) -> None:
    async def start() -> None:
        async with WorkerPool(workers=1, factory=SCRIPTED) as pool:
            await require_models(pool, [policy(), policy(ENGLISH), policy(model)])

    with pytest.raises(ConfigurationError, match="policy"):
        asyncio.run(start())


def test_workers_load_the_pinned_model_and_find_by_it_or_do_not_start(tmp_path: Path) -> None:
    broken = tmp_path / "model"
    shutil.copytree(located(PACKAGE), broken)
    (broken / "ner" / "model").write_bytes(b"x")
    unusable = policy(replace(ENGLISH, package="", path=str(broken), sha256=files_sha256(broken)))

    async def scan() -> Detection:
        async with WorkerPool(workers=1, factory=NAMES, preload=False) as pool:
            await require_models(pool, [policy(ENGLISH)])
            with pytest.raises(ConfigurationError, match="can't load"):
                await require_models(pool, [unusable])
            profile = ScanProfile.of(policy(ENGLISH), at_ms=None)
            return await pool.detect([Field("f", "Then Tim Cook left.")], profile, timeout_ms=10_000)

    detection = asyncio.run(scan())
    assert [(item.detector, item.type, item.start, item.end) for item in detection.findings] == [
        ("names", "PERSON", 5, 13)
    ]
