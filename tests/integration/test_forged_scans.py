"""A scan that never was, stated under another role's key, lets no secret through.

``test_forgeries`` has what thieves state for consistency, while that is away. Here scan is away, and consistency passes
the summaries, rightly: they quote a user to the letter. What keeps the secret out is that scan alone is believed about
it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Final

import pytest

from pratique.client import Pending
from pratique.contract.records import Evidence, EvidenceKind, VerdictOutcome
from pratique.contract.topics import EVIDENCE
from pratique.contract.trust import MacRole
from tests.integration.asking import VERDICT_TOPICS, Question, assert_one_verdict, clean, leaking, verdicts_since
from tests.integration.forging import Case, evidence_of, finding_nothing
from tests.integration.platform import Platform
from tests.integration.raw import WAIT_S, Ends, Raw, until
from tests.integration.test_forgeries import read_past

pytestmark = pytest.mark.containers

THIEVES: Final = (MacRole.CONSISTENCY, MacRole.INTAKE, MacRole.VERDICT)
"""Whose key the forgery is made with."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of everything.

    Attributes:
        asked: The request that each role's forgery was made for.
        ignored: How much evidence the verdict app counted as ignored.
        published: Every verdict record, by request.
    """

    asked: Mapping[MacRole, tuple[Question, Pending]]
    ignored: float
    published: Mapping[str, list[Raw]]


@pytest.fixture(scope="module")
def ending(one_platform: Platform) -> Iterator[Ending]:
    """State a clean scan of a secret, under every role's key, while nobody scans; then let scan come back."""
    platform = one_platform
    platform.restore()
    with platform.gate() as gate:
        since = platform.log.ends(EVIDENCE, *VERDICT_TOPICS)
        question = clean(gate, uuid.uuid4().hex)
        question.check(gate.ask(question.request, wait_s=WAIT_S))
        donor = Case.of(platform, question, since)
        assert platform.terminate("scan") == 0
        ignored = platform.metric("verdict", "evidence_ignored_total")
        questions = {role: leaking(gate, uuid.uuid4().hex) for role in MacRole}
        asked = {role: (question, gate.publish(question.request)) for role, question in questions.items()}
        for role, (question, _) in asked.items():
            opened = await_opened(platform, question, since)
            finding_nothing(question, opened, donor, platform.mac(role)).append_to(platform)
        for question, _ in asked.values():
            read_past(platform, gate, question)
        ignored = platform.metric("verdict", "evidence_ignored_total") - ignored
        platform.launch("scan")
        wait([pending.waiter.future for _, pending in asked.values()], WAIT_S)
        yield Ending(asked, ignored, verdicts_since(platform, since))


def await_opened(platform: Platform, question: Question, since: Ends) -> Evidence:
    """Return what intake stated about a request, once it did."""
    found: list[Evidence] = []

    def is_open() -> bool:
        stated = (evidence for _, evidence in evidence_of(platform, question.sha256, since))
        found.extend(evidence for evidence in stated if evidence.kind is EvidenceKind.OPENED)
        return bool(found)

    until(is_open, "the request is open")
    return found[0]


@pytest.mark.parametrize("role", THIEVES)
def test_a_scan_that_another_role_states_is_believed_by_nobody(ending: Ending, role: MacRole) -> None:
    question, pending = ending.asked[role]
    assert pending.waiter.future.done()
    question.check(pending.waiter.future.result(0))
    assert_one_verdict(ending.published[question.sha256])


def test_the_same_under_scans_key_is_believed(ending: Ending) -> None:
    assert ending.asked[MacRole.SCAN][1].waiter.future.result(0).outcome is VerdictOutcome.ACCEPTED


def test_each_is_counted(ending: Ending) -> None:
    assert ending.ignored == len(THIEVES)
