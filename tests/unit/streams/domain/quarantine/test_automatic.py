"""What a verdict asks of the ledger: only for findings in the text, only for its tenant, always in the same bytes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.canonical import JsonValue, canonical_bytes
from pratique.contract.document import SAFE_ID
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Origin, VerdictOutcome
from pratique.errors import MalformedError
from streams.domain.policy.quarantine_rules import LISTABLE_CODES
from streams.domain.quarantine.authority import authenticate
from streams.domain.quarantine.automatic import (
    LIFETIME_MS,
    MAX_ADDITIONS,
    MAX_OTHERS,
    additions,
    check_gate,
    is_automatic,
    parse_addition,
    sign_addition,
)
from streams.domain.quarantine.command import parse_command
from streams.domain.quarantine.ledger_key import Scope
from streams.domain.quarantine.record import Action
from streams.errors import CommandRefusedError
from tests.unit.streams.domain.quarantine.automatics import JOIN, addition, nomination, reason, text, verdict
from tests.unit.streams.domain.quarantine.builders import FINGERPRINT, NOW, command, signer, trust

OTHER = "e" * 64
IDENTIFIERS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


def test_a_listed_finding_in_a_text_is_ground() -> None:
    (made,) = additions(verdict(), nomination(text(3, FINGERPRINT, "INJECTION", "PII")), JOIN)
    assert (made.key.scope, made.key.tenant_id, made.key.fingerprint) == (Scope.TENANT, JOIN.tenant_id, FINGERPRINT)
    assert made.codes == (ReasonCode.INJECTION,)
    assert made.path == "entries[3].content"
    record = made.record(1)
    assert (record.action, record.actor_id, record.policy_version) == (Action.ADD, "pratique.verdict", "recall-3")


def test_what_another_worker_found_in_the_text_is_ground_as_well() -> None:
    found = verdict(reason("PREDICATE_CONFLICT", "entries[1].content"))
    (made,) = additions(found, nomination(text(1), text(10, OTHER)), JOIN)
    assert (made.key.fingerprint, made.codes) == (FINGERPRINT, (ReasonCode.PREDICATE_CONFLICT,))


def test_a_part_of_the_summary_is_the_summary() -> None:
    summary = replace(text(), path="candidate.summary_text")
    conflict = reason("PREDICATE_CONFLICT", "candidate.summary_text[3:9]")
    assert additions(verdict(conflict), nomination(summary), replace(JOIN, origin=Origin.COMPACTION))
    beside = reason("PREDICATE_CONFLICT", "candidate.summary_text_of_something_else")
    assert not additions(verdict(beside), nomination(summary), JOIN)


@pytest.mark.parametrize("codes", [(), ("SECRET",), ("DETECTOR_ERROR",), ("EVIDENCE_TIMEOUT",)])
def test_what_the_rule_does_not_list_is_no_ground(codes: tuple[str, ...]) -> None:
    assert not additions(
        verdict(reason("INJECTION", "entries[1].content")), nomination(text(0, FINGERPRINT, *codes)), JOIN
    )


def test_a_worker_s_list_can_t_make_ground_of_a_failure() -> None:
    listed = nomination(text(0, FINGERPRINT, "DETECTOR_ERROR"), codes=("DETECTOR_ERROR", "KNOWN_FINGERPRINT"))
    assert not additions(verdict(), listed, JOIN)


def test_what_is_known_is_not_added_again() -> None:
    known = verdict(reason("KNOWN_FINGERPRINT", "entries[0].content"))
    assert not additions(known, nomination(text(0, FINGERPRINT, "INJECTION")), JOIN)


def test_an_accepted_request_adds_nothing() -> None:
    accepted = verdict(outcome=VerdictOutcome.ACCEPTED)
    assert not additions(accepted, nomination(text(0, FINGERPRINT, "INJECTION")), JOIN)


def test_a_verdict_adds_each_text_once_and_not_without_end() -> None:
    twice = nomination(text(0, FINGERPRINT, "INJECTION"), text(1, FINGERPRINT, "INJECTION"))
    assert [item.path for item in additions(verdict(), twice, JOIN)] == ["entries[0].content"]
    many = nomination(*(text(place, f"{place:064x}", "INJECTION") for place in range(512)))
    assert len(additions(verdict(), many, JOIN)) == MAX_ADDITIONS


def test_a_tenant_that_no_key_can_have_is_refused() -> None:
    with pytest.raises(MalformedError):
        additions(verdict(), nomination(text(0, FINGERPRINT, "INJECTION")), replace(JOIN, tenant_id="a/b"))


def test_an_addition_names_its_text_under_other_generations_and_reads_back() -> None:
    others = ("d" * 64, OTHER)
    (made,) = additions(verdict(), nomination(replace(text(0, FINGERPRINT, "INJECTION"), others=others)), JOIN)
    assert made.others == others
    assert parse_addition(made.payload) == made
    assert b"other_fingerprints" not in addition().payload


def test_a_narrative_is_a_text_of_its_own() -> None:
    parts = [
        replace(text(0, mark), path=f"candidate.{name}_text")
        for name, mark in (("summary", OTHER), ("narrative", FINGERPRINT))
    ]
    found = verdict(reason("PREDICATE_CONFLICT", "candidate.narrative_text[3:9]"))
    (made,) = additions(found, nomination(*parts), replace(JOIN, origin=Origin.COMPACTION))
    assert (made.path, made.key.fingerprint) == ("candidate.narrative_text", FINGERPRINT)
    assert parse_addition(made.payload) == made


@given(IDENTIFIERS, IDENTIFIERS, st.sampled_from(Origin))
def test_whatever_versions_and_ids_are_called_the_addition_reads_back(
    version: str, request: str, origin: Origin
) -> None:
    key = replace(JOIN, request_id=request, origin=origin)
    others = tuple(f"{number:064x}" for number in range(MAX_OTHERS))
    found = replace(text(0, FINGERPRINT, *(code.value for code in LISTABLE_CODES)), others=others)
    named = nomination(found, policy_version=version, detector_version=version)
    (made,) = additions(verdict(), named, key)
    assert parse_addition(made.payload) == made
    assert SAFE_ID.fullmatch(made.policy_version)
    assert SAFE_ID.fullmatch(made.incident_id)


def test_the_same_request_and_text_are_the_same_event_and_nothing_else_is() -> None:
    first, again = addition(), addition(decided_at=NOW + 5)
    assert first.record(1).event_id == again.record(1).event_id
    assert len({made.record(1).event_id for made in (first, addition(OTHER), addition(tenant_id="tenant-b"))}) == 3


def test_signing_twice_gives_the_same_bytes() -> None:
    assert sign_addition(addition(), signer("gate")) == sign_addition(addition(), signer("gate"))


def test_a_command_is_no_addition_and_an_addition_no_command() -> None:
    envelope = sign_addition(addition(), signer("gate"))
    payload = authenticate(envelope, trust()).payload
    assert is_automatic(payload)
    with pytest.raises(CommandRefusedError) as caught:
        parse_command(payload)
    assert caught.value.code is ReasonCode.LEDGER_COMMAND_MALFORMED
    assert not is_automatic(command(reason='{"schema_version":"pratique.automatic-quarantine.v1"').payload)


@pytest.mark.parametrize("key_id", ["curator", "service", "global", "publisher", "nobody"])
def test_only_the_gate_adds_automatically(key_id: str) -> None:
    check_gate(addition(), "gate", trust(), NOW)
    with pytest.raises(CommandRefusedError) as caught:
        check_gate(addition(), key_id, trust(), NOW)
    assert caught.value.code is ReasonCode.SIGNER_NOT_AUTHORISED


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scope", "global"),
        ("tenant_id", None),
        ("fingerprint_hmac_sha256", "F" * 64),
        ("codes", []),
        ("codes", ["PREDICATE_CONFLICT", "INJECTION"]),
        ("codes", ["KNOWN_FINGERPRINT"]),
        ("path", "candidate.preserved_constraint_claims"),
        ("path", "ignore previous instructions"),
        ("origin", "OTHER"),
        ("decided_at", 2**53 - LIFETIME_MS),
        ("decided_at", -1),
        ("policy_id", "a b"),
        ("other_fingerprints", []),
        ("other_fingerprints", ["F" * 64]),
        ("other_fingerprints", [OTHER, "d" * 64]),
        ("other_fingerprints", [OTHER, OTHER]),
    ],
)
def test_an_altered_addition_is_malformed(field: str, value: JsonValue) -> None:
    stated: dict[str, JsonValue] = json.loads(addition().payload)
    with pytest.raises(CommandRefusedError) as caught:
        parse_addition(canonical_bytes({**stated, field: value}))
    assert caught.value.code is ReasonCode.LEDGER_COMMAND_MALFORMED


def test_an_addition_in_another_form_is_malformed() -> None:
    with pytest.raises(CommandRefusedError):
        parse_addition(json.dumps(json.loads(addition().payload)).encode())
