"""What strangers and thieves of one key state is believed by nobody, and the right outcome follows.

While the consistency app is away, forgeries are appended for requests that are open and scanned; then it comes back.
A forgery that were believed would be there first, and decide. The controls show that each would: under the key of the
one role that may state it, it does.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Final

import pytest

from pratique.client import Gate, Pending
from pratique.contract.records import Evidence, EvidenceKind, VerdictOutcome
from pratique.contract.signing import MacSigner
from pratique.contract.topics import COMPACTION_ACCEPTED, EVIDENCE
from pratique.contract.trust import KeyRole, MacRole
from tests.integration.asking import (
    VERDICT_TOPICS,
    Question,
    assert_one_verdict,
    clean,
    conflicting,
    unknown_policy,
    verdicts_since,
)
from tests.integration.forging import (
    STRANGER,
    Case,
    Forged,
    decision,
    evidence_of,
    join_key,
    moved_decision,
    moved_receipt,
    passing_receipt,
    publication,
    refusal,
    under_another_key,
)
from tests.integration.platform import TENANT, Platform
from tests.integration.raw import WAIT_S, Ends, Raw, until

pytestmark = pytest.mark.containers


@dataclass(frozen=True, slots=True)
class Scene:
    """Where a forgery is made: everything that its forger may know or hold.

    Attributes:
        victim: A request that is open and scanned, and must be quarantined.
        scanned: What scan truly stated about it.
        donor: A request that was rightly accepted.
    """

    platform: Platform
    victim: Question
    scanned: Evidence
    donor: Case

    def mac(self, role: MacRole) -> MacSigner:
        """Return a role's key: stolen, or one's own."""
        return self.platform.mac(role)


Forgery = Callable[[Scene], Forged]

UNKNOWN_MAC: Final = MacSigner("mac-of-a-stranger", b"stranger" * 4)


def wrong_secret(scene: Scene) -> MacSigner:
    """Return a key that claims the verdict app's key id."""
    return MacSigner(scene.mac(MacRole.VERDICT).key_id, b"stranger" * 4)


def unsigned(forged: Forged) -> Forged:
    """Return a record without its headers."""
    return Forged(forged.topic, forged.key, forged.value, ())


FORGERIES: Final[Mapping[str, Forgery]] = {
    "OPENED under scan's key": lambda scene: refusal(scene.victim, scene.donor, scene.mac(MacRole.SCAN)),
    "OPENED under the verdict app's key": lambda scene: refusal(scene.victim, scene.donor, scene.mac(MacRole.VERDICT)),
    "consistency receipt under scan's key": lambda scene: passing_receipt(
        scene.victim, scene.scanned, scene.donor, scene.mac(MacRole.SCAN)
    ),
    "consistency receipt under intake's key": lambda scene: passing_receipt(
        scene.victim, scene.scanned, scene.donor, scene.mac(MacRole.INTAKE)
    ),
    "consistency receipt under no key": lambda scene: unsigned(
        passing_receipt(scene.victim, scene.scanned, scene.donor, UNKNOWN_MAC)
    ),
    "consistency receipt with another join's key in it": lambda scene: moved_receipt(scene.victim, scene.donor),
    "consistency receipt of another join, moved as it is": lambda scene: under_another_key(
        scene.victim, scene.donor.evidence[EvidenceKind.CONSISTENCY]
    ),
    "DECIDED under an unknown key": lambda scene: decision(scene.victim, scene.donor, STRANGER, UNKNOWN_MAC),
    "DECIDED under the verdict app's key id": lambda scene: decision(
        scene.victim, scene.donor, STRANGER, wrong_secret(scene)
    ),
    "DECIDED under scan's key": lambda scene: decision(scene.victim, scene.donor, STRANGER, scene.mac(MacRole.SCAN)),
    "DECIDED with another join's key in it": lambda scene: moved_decision(scene.victim, scene.donor),
    "DECIDED of another join, moved as it is": lambda scene: under_another_key(
        scene.victim, scene.donor.evidence[EvidenceKind.DECIDED]
    ),
    "verdict under an unknown key": lambda scene: publication(scene.victim, scene.donor, STRANGER),
    "verdict under the gate's key id": lambda scene: publication(
        scene.victim, scene.donor, STRANGER, key_id=scene.platform.key(KeyRole.GATE).key_id
    ),
    "verdict under the tenant's own key": lambda scene: publication(
        scene.victim, scene.donor, scene.platform.key(KeyRole.PUBLISHER, TENANT)
    ),
}

CONTROLS: Final[Mapping[str, Forgery]] = {
    "consistency receipt under consistency's key": lambda scene: passing_receipt(
        scene.victim, scene.scanned, scene.donor, scene.mac(MacRole.CONSISTENCY)
    ),
    "DECIDED under the verdict app's and the gate's key": lambda scene: decision(
        scene.victim, scene.donor, scene.platform.key(KeyRole.GATE), scene.mac(MacRole.VERDICT)
    ),
    "verdict under the gate's key": lambda scene: publication(
        scene.victim, scene.donor, scene.platform.key(KeyRole.GATE)
    ),
}

FORGED_VERDICTS: Final = tuple(name for name in FORGERIES if name.startswith("verdict"))

SEEN_BY_THE_CLIENT: Final = {"signer": 2, "signature": 1}
"""What the client counts: the forged verdicts, by the check that they fail."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of everything.

    Attributes:
        asked: The request that each forgery was made for.
        donor: The request that they were made of.
        ignored: How much evidence the verdict app counted as ignored.
        seen: What the client counted.
        published: Every verdict record, by request.
    """

    asked: Mapping[str, tuple[Question, Pending]]
    donor: Case
    ignored: float
    seen: Mapping[str, int]
    published: Mapping[str, list[Raw]]


@pytest.fixture(scope="module")
def ending(one_platform: Platform) -> Iterator[Ending]:
    """Make every forgery and every control, each for a request of its own, then let everything take its course."""
    platform = one_platform
    platform.restore()
    with platform.gate() as gate:
        since = platform.log.ends(EVIDENCE, *VERDICT_TOPICS)
        question = clean(gate, uuid.uuid4().hex)
        question.check(gate.ask(question.request, wait_s=WAIT_S))
        donor = Case.of(platform, question, since)
        assert platform.terminate("consistency") == 0
        ignored = platform.metric("verdict", "evidence_ignored_total")
        asked = {name: ask(platform, gate, donor) for name in (*FORGERIES, *CONTROLS)}
        for name, forge in {**FORGERIES, **CONTROLS}.items():
            victim, _ = asked[name]
            scanned = await_scan(platform, victim, since)
            forge(Scene(platform, victim, scanned, donor)).append_to(platform)
        for victim, _ in asked.values():
            read_past(platform, gate, victim)
        forged = [asked[name][1].waiter.future for name in FORGED_VERDICTS]
        until(
            lambda: sum(gate.ignored.values()) + sum(future.done() for future in forged) >= len(forged),
            "the client has ignored, or believed, every forged verdict",
        )
        ignored = platform.metric("verdict", "evidence_ignored_total") - ignored
        platform.launch("consistency")
        wait([pending.waiter.future for _, pending in asked.values()], WAIT_S)
        yield Ending(asked, donor, ignored, dict(gate.ignored), verdicts_since(platform, since))


def ask(platform: Platform, gate: Gate, donor: Case) -> tuple[Question, Pending]:
    """Send a request that must be quarantined, of another partition than the donor's: there, a move is a move."""
    while True:
        question = conflicting(gate, uuid.uuid4().hex)
        if place_of(platform, question) != place_of(platform, donor.question):
            return question, gate.publish(question.request)


def place_of(platform: Platform, question: Question) -> int:
    """Return the evidence partition of a request."""
    return platform.log.partition_of(EVIDENCE, join_key(question).message_key)


def await_scan(platform: Platform, question: Question, since: Ends) -> Evidence:
    """Return scan's evidence about a request, once it is there."""
    found: list[Evidence] = []

    def scanned() -> bool:
        found.extend(
            evidence
            for _, evidence in evidence_of(platform, question.sha256, since)
            if evidence.kind is EvidenceKind.SCAN and evidence.receipt is not None
        )
        return bool(found)

    until(scanned, "the request is open and scanned")
    return found[0]


@pytest.mark.parametrize("name", FORGERIES)
def test_forgery_is_believed_by_nobody(ending: Ending, name: str) -> None:
    question, pending = ending.asked[name]
    assert pending.waiter.future.done()
    question.check(pending.waiter.future.result(0))
    published = ending.published[question.sha256]
    if name in FORGED_VERDICTS:  # it lies among the acceptances; nothing else may
        published = [record for record in published if record.topic != COMPACTION_ACCEPTED]
    assert_one_verdict(published)


@pytest.mark.parametrize("name", CONTROLS)
def test_the_same_under_the_right_key_is_believed(ending: Ending, name: str) -> None:
    assert ending.asked[name][1].waiter.future.result(0).outcome is VerdictOutcome.ACCEPTED


def test_forgeries_are_counted(ending: Ending) -> None:
    assert ending.ignored == len(FORGERIES) - len(FORGED_VERDICTS)
    assert ending.seen == SEEN_BY_THE_CLIENT


def test_donor_keeps_its_one_verdict(ending: Ending) -> None:
    records = ending.published[ending.donor.question.sha256]
    assert_one_verdict(records)
    assert records[0].value == ending.donor.verdict.value


def test_request_that_was_never_sent_is_not_opened_by_a_stranger(platform: Platform, gate: Gate) -> None:
    """A thief of scan's key opens a request in a tenant's name; a thief of intake's key could."""
    since = platform.log.ends(EVIDENCE, *VERDICT_TOPICS)
    sent = clean(gate, uuid.uuid4().hex)
    sent.check(gate.ask(sent.request, wait_s=WAIT_S))
    donor = Case.of(platform, sent, since)
    forged = {role: conflicting(gate, uuid.uuid4().hex) for role in (MacRole.SCAN, MacRole.INTAKE)}
    for role, question in forged.items():
        refusal(question, donor, platform.mac(role)).append_to(platform)
    until(lambda: forged[MacRole.INTAKE].sha256 in verdicts_since(platform, since), "the control is decided")
    read_past(platform, gate, forged[MacRole.SCAN])
    assert forged[MacRole.SCAN].sha256 not in verdicts_since(platform, since)
    kinds = [evidence.kind for _, evidence in evidence_of(platform, forged[MacRole.SCAN].sha256, since)]
    assert kinds == [EvidenceKind.OPENED]


def read_past(platform: Platform, gate: Gate, question: Question) -> None:
    """Return when the verdict app has read past everything about a request that is in the log now.

    What says so is a request of the same partition that intake refuses: it needs no worker.
    """
    while True:
        probe = unknown_policy(gate, uuid.uuid4().hex)
        if place_of(platform, probe) == place_of(platform, question):
            probe.check(gate.ask(probe.request, wait_s=WAIT_S))
            return
