"""What intake says of a recall."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.avro import decode, encode
from pratique.contract.canonical import text_sha256
from pratique.contract.digests import recall_join_key
from pratique.contract.records import (
    Evidence,
    EvidenceKind,
    ExpectedEntry,
    MemoryRecalled,
    Opened,
    Origin,
    PinnedEntry,
    Provenance,
)
from pratique.errors import MalformedError
from streams.application.admission import Admission, PolicyFailure
from streams.application.recall_admission import MAX_IDENTITY_BYTES, admit_recall, check_recall
from streams.domain.policy.model import PolicySet
from streams.domain.recall.statements import MAX_ENTRIES
from streams.errors import PolicyError, PolicyExpiredError, PolicyUnavailableError
from tests.unit.streams.application.recalls import recall_set
from tests.unit.streams.application.test_consistency import policy_set
from tests.unit.streams.domain.recall.samples import AT_MS, entry, request

SET = recall_set()


def admit(
    asked: MemoryRecalled,
    pinned: PolicySet | PolicyFailure = SET,
    *,
    within_quota: bool = True,
) -> Admission:
    return admit_recall(asked, encode(asked), pin=lambda: pinned, within_quota=within_quota, now_ms=AT_MS)


def head(admission: Admission) -> Opened:
    assert admission.opened.opened is not None
    return admission.opened.opened


def refusal(admission: Admission) -> list[tuple[str, str]]:
    assert admission.work is None
    assert head(admission).required == ()
    return [(reason.code, reason.path) for reason in head(admission).refusal]


def test_a_recall_is_opened_with_its_manifest_pinned() -> None:
    asked = request(
        entry("e1", "one", provenance=Provenance.TRUSTED),
        entry("e9", "nobody expects it"),
        entry("e2", "of another", tenant_id="tenant-b"),
        expected=(ExpectedEntry("e2", "v1"), ExpectedEntry("e1", "v1"), ExpectedEntry("e1", "v2")),
    )
    admission = admit(asked)
    assert admission.opened.kind is EvidenceKind.OPENED
    assert admission.opened.join_key == recall_join_key(asked, encode(asked))
    assert admission.opened.policy_set_sha256 == SET.policy_set_sha256
    assert head(admission).expected_entries == (
        PinnedEntry("e2", "v1", None),
        PinnedEntry("e1", "v1", text_sha256("one")),
        PinnedEntry("e1", "v2", None),
    )
    assert head(admission).required == (EvidenceKind.CONSISTENCY, EvidenceKind.SCAN)
    assert head(admission).policy_sha256 == SET.recall.policy_sha256
    assert head(admission).invariant_manifest_sha256 == SET.invariants.manifest_sha256
    assert head(admission).scanner_sha256 == SET.scan.scanner_sha256
    assert head(admission).deadline_ms == SET.compaction.deadline_ms
    assert head(admission).trust is Provenance.UNTRUSTED
    assert (head(admission).keep_message_ids, head(admission).rendered_policy_sha256) == (None, None)
    assert admission.work is not None
    assert (admission.work.origin, admission.work.request) == (Origin.RECALL, encode(asked))
    assert admission.work.policy_set_map == SET.set_map
    assert decode(encode(admission.opened), Evidence) == admission.opened


def test_trust_is_the_least_of_the_entries() -> None:
    trusted = entry("e1", provenance=Provenance.TRUSTED)
    assert head(admit(request(trusted))).trust is Provenance.TRUSTED
    assert head(admit(request(trusted, entry("e2")))).trust is Provenance.UNTRUSTED
    nothing_given = request(expected=(ExpectedEntry("e1", "v1"),))
    assert head(admit(nothing_given)).trust is Provenance.UNTRUSTED


@pytest.mark.parametrize(
    "asked",
    [
        request(entry(), entry()),
        request(entry(), entry("e1", "other content")),
        request(entry(), expected=()),
        request(expected=(ExpectedEntry("e1", "v1"),)),
        request(entry(tenant_id="tenant-b")),
        request(entry(content="")),
        request(entry(content="x" * 50_000)),
    ],
)
def test_what_the_findings_decide_is_not_refused(asked: MemoryRecalled) -> None:
    assert admit(asked).work is not None


@pytest.mark.parametrize(
    ("asked", "paths"),
    [
        (request(entry(), task_id=""), ["task_id"]),
        (request(entry(), recall_request_id=" "), ["recall_request_id"]),
        (request(entry(), policy_id="x" * 257), ["policy_id"]),
        (request(entry(), entry("e2", memory_version="")), ["entries[1]", "expected_entries[1]"]),
        (request(entry(tenant_id="")), ["entries[0]"]),
        (request(entry(recall_request_id="a\nb")), ["entries[0]"]),
        (request(entry(), expected=(ExpectedEntry("", "v1"),)), ["expected_entries[0]"]),
    ],
)
def test_malformed_identities_are_refused_by_place(asked: MemoryRecalled, paths: list[str]) -> None:
    admission = admit(asked)
    assert refusal(admission) == [("MESSAGE_INVALID", path) for path in paths]
    assert admission.opened.join_key.source_population_sha256 is None
    assert head(admission).expected_entries == ()


def test_reasons_are_bounded() -> None:
    admission = admit(request(*(entry("") for _ in range(MAX_ENTRIES))), within_quota=False)
    assert len(refusal(admission)) == 64
    assert refusal(admission)[0] == ("QUOTA_EXCEEDED", "")


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        (request(*(entry(f"e{number}") for number in range(MAX_ENTRIES + 1))), "entries"),
        (
            request(entry(), expected=tuple(ExpectedEntry(f"e{number}", "v") for number in range(MAX_ENTRIES + 1))),
            "expected_entries",
        ),
        (request(*(entry(f"{number:0250}") for number in range(MAX_IDENTITY_BYTES // 500))), "entries"),
    ],
)
def test_more_than_evidence_can_repeat_is_too_large(asked: MemoryRecalled, path: str) -> None:
    assert refusal(admit(asked)) == [("TOO_LARGE", path)]


def test_the_most_entries_fit() -> None:
    admission = admit(request(*(entry(f"e{number}") for number in range(MAX_ENTRIES))), recall_set_of(4_194_304))
    assert admission.work is not None
    assert len(encode(admission.opened)) < 512 * 1024


def recall_set_of(max_request_bytes: int) -> PolicySet:
    return replace(SET, compaction=policy_set(max_request_bytes=max_request_bytes).compaction)


def test_a_request_over_policy_s_bound_is_too_large() -> None:
    asked = request(entry())
    size = len(encode(asked))
    assert admit(asked, recall_set_of(size)).work is not None
    assert refusal(admit(asked, recall_set_of(size - 1))) == [("TOO_LARGE", "")]


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (PolicyError("wrong"), "POLICY_INVALID"),
        (PolicyUnavailableError("gone"), "POLICY_UNAVAILABLE"),
        (PolicyExpiredError("old"), "POLICY_EXPIRED"),
    ],
)
def test_without_a_policy_it_is_refused_and_still_names_its_entries(failure: PolicyFailure, code: str) -> None:
    admission = admit(request(entry()), failure)
    assert refusal(admission) == [(code, "policy")]
    assert admission.opened.policy_set_sha256 is None
    assert head(admission).policy_sha256 is None
    assert len(head(admission).expected_entries) == 1


def test_over_quota_asks_for_no_policy() -> None:
    def pin() -> PolicySet:
        raise AssertionError("policy is not asked for")

    asked = request(entry())
    admission = admit_recall(asked, encode(asked), pin=pin, within_quota=False, now_ms=AT_MS)
    assert refusal(admission) == [("QUOTA_EXCEEDED", "")]


@pytest.mark.parametrize("asked", [request(), request(entry(), recall_request_id="x" * 257)])
def test_what_has_no_verdict(asked: Any) -> None:  # noqa: ANN401 - a record
    with pytest.raises(MalformedError) as refused:
        check_recall(asked)
    assert refused.value.code == "MESSAGE_INVALID"


def test_anything_to_decide_has_one() -> None:
    check_recall(request(entry()))
    check_recall(request(expected=(ExpectedEntry("e1", "v1"),)))
