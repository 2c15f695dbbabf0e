"""A policy that asks for names, through the real gate: found by the pinned model, masked; another model finds none."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pratique.errors import UnavailableError
from streams.domain.policy.documents import NARRATIVE_FIELD_ROOTS
from tests.fakes.language_model import ENGLISH, asking
from tests.integration.asking import KEEPS
from tests.integration.raw import WAIT_S

if TYPE_CHECKING:
    from pratique.client import Compaction
    from streams.domain.policy.language_models import LanguageModel
    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers

MESSAGES = ({"message_id": "m1", "role": "user", "content": "Skip tabs, please.", "provenance": "TRUSTED"},)
NAMED = "The reader skips tabs now. Jonathan Whitfield wrote the first one in Berlin."
MASKED = "The reader skips tabs now. [redacted] wrote the first one in [redacted]."
SCAN: dict[str, Any] = {
    "field_roots": list(NARRATIVE_FIELD_ROOTS),
    "language_profiles": ["de", "en"],
    "entity_types": ["EMAIL_ADDRESS"],
}


@contextmanager
def published(platform: Platform, model: LanguageModel) -> Iterator[str]:
    """Publish a policy that asks for names, and at the end one that does not: no scanner starts without the model."""
    policy_id = f"names-{uuid.uuid4().hex[:8]}"
    try:
        platform.publish(policy_id, scan=asking(SCAN, model), assurance="BOUNDED_WITH_UNTRUSTED_NARRATIVE")
        yield policy_id
    finally:
        platform.publish(policy_id, scan=SCAN, assurance="BOUNDED_WITH_UNTRUSTED_NARRATIVE")


def ask(platform: Platform, policy_id: str, *, redact: bool = False) -> Compaction:
    task = f"names-{uuid.uuid4().hex}"
    with platform.gate(policy_id=policy_id) as gate:
        candidate = gate.draft(MESSAGES, KEEPS, task_id=task, narrative_text=NAMED)
        return gate.compact(MESSAGES, candidate, task_id=task, wait_s=WAIT_S, redact=redact)


def test_names_are_found_where_they_stand_and_can_be_masked(platform: Platform) -> None:
    with published(platform, replace(ENGLISH, entity_types=("PERSON", "LOCATION"))) as policy_id:
        refused = ask(platform, policy_id)
        masked = ask(platform, policy_id, redact=True)
    assert {(reason.code, reason.detector, reason.path) for reason in refused.reasons} == {
        ("PII", "names:PERSON", "candidate.narrative_text[27:45]"),
        ("PII", "names:LOCATION", "candidate.narrative_text[69:75]"),
    }
    assert (masked.accepted, masked.redacted) == (True, True), masked.reasons
    assert f"\n{MASKED}\n" in masked.context[2]["content"]


def test_a_model_that_is_not_the_pinned_one_lets_nothing_pass_and_no_scanner_start(platform: Platform) -> None:
    with published(platform, replace(ENGLISH, sha256="0" * 64)) as policy_id:
        refused = ask(platform, policy_id)
        with pytest.raises(UnavailableError, match="is not the one that policy pins"):
            platform.relaunch("scan")
        platform.discard("scan")
    assert {(reason.code, reason.detector) for reason in refused.reasons} == {("DETECTOR_ERROR", "names")}
    platform.restore()
