"""Which records are the verdict that is waited for; every case differs from a genuine one in one thing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.avro import encode
from pratique.contract.canonical import canonical_json, parse_json, text_sha256
from pratique.contract.records import CompactionRequested, Fallback, Origin, StatedReason, Verdict, VerdictOutcome
from pratique.contract.signing import Ed25519Signer
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, COMPACTION_REQUESTED
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import (
    MalformedError,
    SignatureInvalidError,
    SignerNotAuthorisedError,
    VerdictRefusedError,
)
from pratique.transport import Received
from pratique.verification import CLOCK_TOLERANCE_MS, Expectation, believe, read_verdict
from tests.unit.sdk.builders import (
    GATE,
    NOW_MS,
    PUBLISHER,
    STRANGER,
    TRUST,
    received,
    request,
    topic_of,
    trust,
    trusted,
    verdict,
)

REQUEST = request()
VALUE = encode(REQUEST)
EXPECTED = Expectation.of(REQUEST, VALUE)
ACCEPTED = verdict(VALUE)
QUARANTINED = verdict(VALUE, VerdictOutcome.QUARANTINED)


def judge(
    answer: Verdict,
    key: Ed25519Signer = GATE,
    *,
    record: Received | None = None,
    against: TrustTarget = TRUST,
    now_ms: int = NOW_MS + 20,
    expected: Expectation = EXPECTED,
) -> None:
    believe(record or received(answer, key), answer, expected, against, now_ms)


def refused(answer: Verdict, check: str, *, now_ms: int = NOW_MS + 20) -> None:
    with pytest.raises(VerdictRefusedError) as raised:
        judge(answer, now_ms=now_ms)
    assert raised.value.check == check


def test_genuine_verdicts_are_believed() -> None:
    judge(ACCEPTED)
    judge(QUARANTINED)


def test_quarantine_before_there_was_a_population_is_believed() -> None:
    nothing: dict[str, Any] = {
        "fallback": None,
        "event_json": None,
        "event_sha256": None,
        "source_population_sha256": None,
    }
    judge(verdict(VALUE, VerdictOutcome.QUARANTINED, policy_set_sha256=None, rendered_policy_sha256=None, **nothing))


@pytest.mark.parametrize("key", [STRANGER, PUBLISHER])
def test_key_without_the_gates_role_is_not_authorised(key: Ed25519Signer) -> None:
    with pytest.raises(SignerNotAuthorisedError):
        judge(ACCEPTED, key)


def test_key_that_had_expired_when_it_was_decided_is_not_authorised() -> None:
    with pytest.raises(SignerNotAuthorisedError, match="expired"):
        judge(ACCEPTED, against=trust(trusted(GATE, KeyRole.GATE, expires_ms=ACCEPTED.decided_at)))
    judge(ACCEPTED, against=trust(trusted(GATE, KeyRole.GATE, expires_ms=ACCEPTED.decided_at + 1)))


def test_key_of_another_tenants_gate_is_not_authorised() -> None:
    with pytest.raises(SignerNotAuthorisedError, match="tenant"):
        judge(ACCEPTED, against=trust(trusted(GATE, KeyRole.GATE, tenants=frozenset({"other"}))))


def test_strangers_signature_under_the_gates_key_id_does_not_verify() -> None:
    with pytest.raises(SignatureInvalidError):
        judge(ACCEPTED, Ed25519Signer(GATE.key_id, STRANGER.private_key))


def test_value_whose_signature_is_for_another_topic_does_not_verify() -> None:
    genuine = received(ACCEPTED)
    moved = replace(genuine, topic=COMPACTION_QUARANTINED)
    with pytest.raises(SignatureInvalidError):
        judge(ACCEPTED, record=moved)


def test_outcome_that_the_gate_signed_for_the_other_topic_is_refused() -> None:
    for answer, topic in ((ACCEPTED, COMPACTION_QUARANTINED), (QUARANTINED, COMPACTION_ACCEPTED)):
        with pytest.raises(VerdictRefusedError) as raised:
            judge(answer, record=received(answer, topic=topic))
        assert raised.value.check == "topic"


def test_unsigned_record_is_refused() -> None:
    with pytest.raises(SignatureInvalidError):
        judge(ACCEPTED, record=replace(received(ACCEPTED), headers=()))
    with pytest.raises(SignatureInvalidError):
        judge(ACCEPTED, record=replace(received(ACCEPTED), headers=[*received(ACCEPTED).headers] * 2))


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": Origin.RECALL},
        {"tenant_id": "other"},
        {"task_id": "task-2"},
        {"request_id": "r2"},
        {"policy_id": "lenient"},
        {"request_sha256": "0" * 64},
        {"subject_sha256": "0" * 64},
        {"source_population_sha256": "0" * 64},
        {"compacted_output_sha256": "0" * 64},
        {"accepted_text_sha256s": ("0" * 64,)},
    ],
)
@pytest.mark.parametrize("outcome", VerdictOutcome)
def test_verdict_that_speaks_of_something_else_is_refused(outcome: VerdictOutcome, changes: dict[str, Any]) -> None:
    refused(verdict(VALUE, outcome, **changes), "binding")


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"source_population_sha256": None}, "binding"),
        ({"compacted_output_sha256": None}, "acceptance"),
        ({"rendered_policy_sha256": None}, "acceptance"),
        ({"reasons": (StatedReason("PII", "", "presidio", "HIGH"),)}, "acceptance"),
        ({"fallback": Fallback(("m3",))}, "acceptance"),
        ({"event_json": None, "event_sha256": None}, "event"),
    ],
)
def test_acceptance_that_lacks_what_makes_it_one_is_refused(changes: dict[str, Any], check: str) -> None:
    refused(verdict(VALUE, **changes), check)


def test_fallback_without_an_event_is_refused() -> None:
    refused(verdict(VALUE, VerdictOutcome.QUARANTINED, event_json=None, event_sha256=None), "event")


@pytest.mark.parametrize("outcome", VerdictOutcome)
@pytest.mark.parametrize(
    "changes",
    [
        {"schema_version": "aidefend.context-compaction-acceptance.v2"},
        {"tenant_id": "other"},
        {"task_id": "task-2"},
        {"policy_sha256": "0" * 64},
        {"source_population_sha256": "0" * 64},
        {"outcome": "OTHER"},
    ],
)
def test_event_that_speaks_of_something_else_is_refused(outcome: VerdictOutcome, changes: dict[str, str]) -> None:
    genuine = verdict(VALUE, outcome)
    assert genuine.event_json is not None
    event = parse_json(genuine.event_json)
    assert isinstance(event, dict)
    text = canonical_json(event | changes)
    refused(replace(genuine, event_json=text, event_sha256=text_sha256(text)), "event")


def test_acceptance_event_of_another_output_is_refused() -> None:
    assert ACCEPTED.event_json is not None
    event = parse_json(ACCEPTED.event_json)
    assert isinstance(event, dict)
    text = canonical_json(event | {"compacted_output_sha256": "0" * 64})
    refused(replace(ACCEPTED, event_json=text, event_sha256=text_sha256(text)), "event")


@pytest.mark.parametrize("text", ["[]", "{", '{ "a": 1}', '"x"'])
def test_event_that_is_no_canonical_object_is_refused(text: str) -> None:
    refused(replace(QUARANTINED, event_json=text, event_sha256=text_sha256(text)), "event")


def test_event_digest_that_is_not_the_events_is_refused() -> None:
    refused(replace(ACCEPTED, event_sha256="0" * 64), "event")
    refused(replace(ACCEPTED, event_sha256=None), "event")


def test_verdict_is_believed_until_its_validity_ends() -> None:
    judge(ACCEPTED, now_ms=ACCEPTED.valid_until - 1)
    refused(ACCEPTED, "moment", now_ms=ACCEPTED.valid_until)


def test_verdict_that_is_older_than_its_request_is_refused() -> None:
    oldest = NOW_MS - CLOCK_TOLERANCE_MS
    judge(verdict(VALUE, decided_at=oldest))
    refused(verdict(VALUE, decided_at=oldest - 1), "moment")


def test_verdict_from_the_future_is_refused() -> None:
    latest = NOW_MS + 20 + CLOCK_TOLERANCE_MS
    judge(verdict(VALUE, decided_at=latest, valid_until=latest + 1))
    refused(verdict(VALUE, decided_at=latest + 1, valid_until=latest + 2), "moment")


def test_candidate_that_does_not_parse_can_only_be_quarantined() -> None:
    broken = request(candidate_json="no JSON")
    value = encode(broken)
    expected = Expectation.of(broken, value)
    assert expected.compacted_output_sha256 is None
    genuine = replace(
        QUARANTINED,
        request_sha256=expected.request_sha256,
        subject_sha256=expected.subject_sha256,
        compacted_output_sha256=None,
    )
    judge(genuine, expected=expected)
    with pytest.raises(VerdictRefusedError):
        judge(replace(genuine, compacted_output_sha256="0" * 64), expected=expected)


def test_expectation_covers_the_exact_bytes() -> None:
    other = encode(request(requested_at=NOW_MS + 1))
    refused(verdict(other), "binding")
    assert EXPECTED.message_keys == {
        EXPECTED.source_population_sha256.encode(),
        EXPECTED.request_sha256.encode(),
    }


def test_only_verdict_topics_hold_verdicts() -> None:
    genuine = received(ACCEPTED)
    assert read_verdict(genuine) == ACCEPTED
    assert topic_of(ACCEPTED) == COMPACTION_ACCEPTED
    with pytest.raises(VerdictRefusedError):
        read_verdict(replace(genuine, topic=COMPACTION_REQUESTED))
    with pytest.raises(MalformedError):
        read_verdict(replace(genuine, value=VALUE))
    with pytest.raises(MalformedError):
        read_verdict(replace(genuine, value=None))


def test_request_of_another_class_is_no_verdict() -> None:
    assert isinstance(REQUEST, CompactionRequested)
    with pytest.raises(MalformedError):
        read_verdict(Received(COMPACTION_ACCEPTED, b"k", VALUE, ()))
