"""What follows from each record of a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from pratique.contract import avro
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Evidence, EvidenceKind, JoinKey, StatedReason, VerdictOutcome
from streams.domain.verdicts.evidence import Stated, join_id
from streams.domain.verdicts.joins import (
    MAX_MOMENTS,
    Effect,
    JoinLimits,
    PartitionJoins,
    Proposal,
    Publication,
    Repetition,
)
from tests.fakes.evidence import (
    NEWER_PIN,
    NOW_MS,
    OTHER_TENANT,
    PIN,
    RECEIPT_KINDS,
    decided,
    failed,
    join_key,
    opened,
    receipt,
    refused,
    stated,
)
from tests.unit.streams.domain.verdicts.world import HORIZON_MS, LIMITS

KEY = join_key()
CONSISTENCY, SCAN = RECEIPT_KINDS


class Partition:
    """A partition that is read as it is written."""

    def __init__(self, limits: JoinLimits = LIMITS) -> None:
        self.joins = PartitionJoins(limits)
        self.end = 0

    def read(self, *evidence: Evidence, at_ms: int = NOW_MS) -> list[Effect]:
        effects: list[Effect] = []
        for item in evidence:
            effects += self.joins.read(stated(item, self.end, at_ms))
            self.end += 1
        return effects

    def propose(self, *evidence: Evidence, at_ms: int = NOW_MS) -> Proposal:
        (effect,) = self.read(*evidence, at_ms=at_ms)
        assert isinstance(effect, Proposal)
        return effect

    def read_back(self, proposal: Proposal) -> list[Effect]:
        return self.read(decided(proposal.verdict, proposal.join_key))


def codes(reasons: Sequence[StatedReason]) -> list[str]:
    return [reason.code for reason in reasons]


def test_verdict_is_proposed_at_the_record_that_completes_the_evidence() -> None:
    partition = Partition()
    assert partition.read(opened(KEY), receipt(SCAN, KEY)) == []
    proposal = partition.propose(receipt(CONSISTENCY, KEY), at_ms=NOW_MS + 7)
    assert proposal.join_key == KEY
    assert proposal.verdict.outcome is VerdictOutcome.ACCEPTED
    assert proposal.verdict.decided_at == NOW_MS + 7


def test_nothing_is_published_before_the_proposal_was_read_back() -> None:
    partition = Partition()
    proposal = partition.propose(opened(KEY), *(receipt(kind, KEY) for kind in RECEIPT_KINDS))
    assert partition.joins.open_count == 1
    record = decided(proposal.verdict, KEY)
    assert partition.read(record) == [Publication(KEY, record.decided)]  # type: ignore[arg-type] # a DECIDED has one
    assert (partition.joins.open_count, partition.joins.decided_count) == (0, 1)


def test_second_decided_is_not_the_verdict() -> None:
    partition = Partition()
    proposal = partition.propose(opened(KEY), *(receipt(kind, KEY) for kind in RECEIPT_KINDS))
    partition.read_back(proposal)
    assert partition.read(decided(replace(proposal.verdict, outcome=VerdictOutcome.QUARANTINED), KEY)) == []


def test_decided_of_a_request_that_was_never_opened_is_ignored() -> None:
    partition = Partition()
    proposal = partition.propose(opened(KEY), *(receipt(kind, KEY) for kind in RECEIPT_KINDS))
    assert Partition().read_back(proposal) == []


def test_request_that_is_opened_again_gets_its_decision_repeated() -> None:
    partition = Partition()
    proposal = partition.propose(opened(KEY), *(receipt(kind, KEY) for kind in RECEIPT_KINDS))
    partition.read_back(proposal)
    assert partition.read(opened(KEY)) == [Repetition(KEY, 3)]
    assert partition.read(refused(KEY)) == [Repetition(KEY, 3)]
    assert partition.joins.open_count == 0


def test_evidence_without_opened_is_ignored() -> None:
    partition = Partition()
    assert partition.read(receipt(SCAN, KEY), receipt(CONSISTENCY, KEY)) == []
    assert partition.joins.ignored == 2
    assert partition.read(opened(KEY)) == []  # what came before it does not count


def test_first_receipt_of_a_kind_counts() -> None:
    partition = Partition()
    proposal = partition.propose(
        opened(KEY), failed(SCAN, ReasonCode.SECRET, KEY), receipt(SCAN, KEY), receipt(CONSISTENCY, KEY)
    )
    assert codes(proposal.verdict.reasons) == ["SECRET"]


@pytest.mark.parametrize("pin", [NEWER_PIN, None])
def test_receipt_under_another_pin_is_ignored(pin: str | None) -> None:
    partition = Partition()
    assert partition.read(opened(KEY), receipt(SCAN, KEY, pin), receipt(CONSISTENCY, KEY)) == []


def test_receipt_of_a_moment_that_intake_did_not_state_is_ignored() -> None:
    partition = Partition()
    assert partition.read(opened(KEY), receipt(SCAN, KEY, at_ms=NOW_MS - 1), receipt(CONSISTENCY, KEY)) == []
    assert partition.joins.ignored == 1
    proposal = partition.propose(receipt(SCAN, KEY))
    assert proposal.verdict.outcome is VerdictOutcome.ACCEPTED


def test_moments_are_asked_for_where_intake_stated_one() -> None:
    """Intake is upgraded last: what it opened before that is judged as it was."""
    silent = replace(opened(KEY), opened_at=None)
    proposal = Partition().propose(silent, receipt(SCAN, KEY), replace(receipt(CONSISTENCY, KEY), opened_at=None))
    assert proposal.verdict.outcome is VerdictOutcome.ACCEPTED
    partition = Partition()
    assert partition.read(opened(KEY), *(replace(receipt(kind, KEY), opened_at=None) for kind in RECEIPT_KINDS)) == []
    assert partition.joins.ignored == 2


def test_receipts_of_every_moment_that_intake_stated_under_the_pin_count() -> None:
    partition = Partition()
    partition.read(opened(KEY), receipt(SCAN, KEY), opened(KEY, at_ms=NOW_MS + 5))
    proposal = partition.propose(receipt(CONSISTENCY, KEY, at_ms=NOW_MS + 5))
    assert proposal.verdict.outcome is VerdictOutcome.ACCEPTED


def test_moments_of_another_pin_do_not_count() -> None:
    partition = Partition()
    older = opened(KEY, NEWER_PIN, policy_version=0, at_ms=NOW_MS + 5)
    assert partition.read(opened(KEY), older, receipt(SCAN, KEY, at_ms=NOW_MS + 5)) == []
    assert partition.joins.ignored == 1
    newer = opened(KEY, NEWER_PIN, policy_version=2, at_ms=NOW_MS + 9)
    assert partition.read(newer, receipt(SCAN, KEY, NEWER_PIN)) == []
    assert partition.joins.ignored == 2


def test_a_request_opened_without_end_takes_no_room_without_end() -> None:
    partition = Partition()
    partition.read(*(opened(KEY, at_ms=NOW_MS + number) for number in range(MAX_MOMENTS + 1)))
    assert partition.read(receipt(SCAN, KEY, at_ms=NOW_MS + MAX_MOMENTS)) == []
    assert partition.joins.ignored == 1
    partition.read(receipt(SCAN, KEY, at_ms=NOW_MS + MAX_MOMENTS - 1))
    assert partition.joins.ignored == 1


def test_receipt_that_is_not_required_is_ignored() -> None:
    partition = Partition()
    partition.read(opened(KEY, required=(SCAN,)))
    assert partition.read(receipt(CONSISTENCY, KEY)) == []
    assert partition.joins.ignored == 1


@pytest.mark.parametrize(
    "field", ["tenant_id", "request_id", "source_population_sha256", "subject_sha256", "request_sha256"]
)
def test_requests_that_differ_in_any_field_never_meet(field: str) -> None:
    other = join_key(0, **{field: "other"})
    assert join_id(other) != join_id(KEY)
    partition = Partition()
    assert partition.read(opened(KEY), receipt(SCAN, KEY), receipt(CONSISTENCY, other)) == []


def test_newer_policy_replaces_pin_and_receipts_and_keeps_place_and_deadline() -> None:
    partition = Partition()
    partition.read(opened(KEY, deadline_ms=40_000), receipt(SCAN, KEY))
    later = opened(KEY, NEWER_PIN, policy_version=2, deadline_ms=90_000)
    assert partition.read(later, at_ms=NOW_MS + 5_000) == []
    assert partition.joins.safe_offset() == 0
    assert partition.joins.waits() == {(join_id(KEY), 0): 40_000}
    assert partition.read(receipt(CONSISTENCY, KEY), receipt(SCAN, KEY)) == []  # of the pin that was replaced
    (expired,) = partition.joins.expire([(join_id(KEY), 0)])
    assert isinstance(expired, Proposal)
    assert expired.verdict.policy_set_sha256 == NEWER_PIN
    assert expired.verdict.decided_at == NOW_MS + 40_000


@pytest.mark.parametrize(
    "later",
    [
        opened(KEY, NEWER_PIN, policy_version=1),
        opened(KEY, NEWER_PIN, policy_version=0),
        refused(KEY, ReasonCode.QUOTA_EXCEEDED, policy_version=9),
        opened(KEY, NEWER_PIN, policy_version=9, required=()),
    ],
    ids=["same version", "older version", "refusal", "asks for nothing"],
)
def test_later_opened_that_is_no_newer_policy_replaces_nothing(later: Evidence) -> None:
    partition = Partition()
    proposal = partition.propose(opened(KEY), receipt(SCAN, KEY), later, receipt(CONSISTENCY, KEY))
    assert proposal.verdict.outcome is VerdictOutcome.ACCEPTED
    assert proposal.verdict.policy_set_sha256 == PIN


def test_nothing_replaces_what_is_already_proposed() -> None:
    partition = Partition()
    first = partition.propose(refused(KEY, ReasonCode.POLICY_UNAVAILABLE))
    assert partition.read(opened(KEY, policy_version=5), *(receipt(kind, KEY) for kind in RECEIPT_KINDS)) == []
    assert partition.joins.expire([(join_id(KEY), 0)]) == []
    assert codes(first.verdict.reasons) == ["POLICY_UNAVAILABLE"]


def test_refusal_is_decided_at_once() -> None:
    proposal = Partition().propose(refused(KEY, ReasonCode.DUPLICATE_MESSAGE_ID))
    assert proposal.verdict.outcome is VerdictOutcome.QUARANTINED
    assert codes(proposal.verdict.reasons) == ["DUPLICATE_MESSAGE_ID"]


def test_time_out_decides_on_what_there_is() -> None:
    partition = Partition()
    partition.read(opened(KEY), failed(SCAN, ReasonCode.PII, KEY))
    (effect,) = partition.joins.expire([(join_id(KEY), 0), (join_id(join_key(1)), 0)])
    assert isinstance(effect, Proposal)
    assert codes(effect.verdict.reasons) == ["PII", "EVIDENCE_TIMEOUT"]
    assert list(partition.joins.waits()) == [(join_id(KEY), 1)]  # to be read back


def test_proposal_is_made_again_as_it_was_and_only_for_the_wait_that_ran_out() -> None:
    partition = Partition()
    first = partition.propose(opened(KEY), failed(SCAN, ReasonCode.PII, KEY), receipt(CONSISTENCY, KEY))
    assert partition.joins.expire([(join_id(KEY), 0)]) == []  # a wait for evidence, which is over
    assert partition.joins.expire([(join_id(KEY), 1)]) == [first]
    assert partition.joins.expire([(join_id(KEY), 1)]) == []
    assert list(partition.joins.waits()) == [(join_id(KEY), 2)]
    partition.read_back(first)
    assert partition.joins.waits() == {}
    assert partition.joins.expire([(join_id(KEY), 2)]) == []


def test_what_changed_is_told_once_and_what_is_open_no_more_as_well() -> None:
    partition = Partition()
    partition.read(opened(KEY, deadline_ms=40_000), opened(join_key(1), deadline_ms=50_000))
    first, second = join_id(KEY), join_id(join_key(1))
    assert partition.joins.changed_waits() == {first: ((first, 0), 40_000), second: ((second, 0), 50_000)}
    assert partition.joins.changed_waits() == {}
    partition.joins.expire([(first, 0)])
    assert partition.joins.changed_waits() == {first: ((first, 1), 40_000)}
    partition.joins.reopen(0, NOW_MS)
    assert partition.joins.changed_waits() == {first: None, second: None}
    assert partition.joins.changed_waits() == {}


def test_receipt_after_the_time_out_changes_nothing() -> None:
    partition = Partition()
    partition.read(opened(KEY), receipt(SCAN, KEY))
    (timed_out,) = partition.joins.expire([(join_id(KEY), 0)])
    assert partition.read(receipt(CONSISTENCY, KEY)) == []
    assert isinstance(timed_out, Proposal)
    (published,) = partition.read_back(timed_out)
    assert isinstance(published, Publication)
    assert published.decided.outcome is VerdictOutcome.QUARANTINED


@pytest.mark.parametrize(
    ("age_ms", "expected"),
    [
        (HORIZON_MS, []),
        (HORIZON_MS + 1, ["EVIDENCE_TIMEOUT", "EVIDENCE_TIMEOUT"]),
        (2 * HORIZON_MS, ["EVIDENCE_TIMEOUT"] * 2),
    ],
)
def test_opened_older_than_the_horizon_is_timed_out_at_once(age_ms: int, expected: list[str]) -> None:
    effects = Partition().read(opened(KEY, requested_at=NOW_MS - age_ms))
    found = [code for effect in effects if isinstance(effect, Proposal) for code in codes(effect.verdict.reasons)]
    assert found == expected


def test_opened_older_than_two_horizons_is_ignored() -> None:
    partition = Partition()
    assert partition.read(opened(KEY, requested_at=NOW_MS - 2 * HORIZON_MS - 1)) == []
    assert (partition.joins.open_count, partition.joins.ignored) == (0, 1)


@pytest.mark.parametrize("requested_at", [-(2**63), 0, 2**63 - 1])
def test_no_time_of_request_breaks_the_partition(requested_at: int) -> None:
    partition = Partition()
    partition.read(opened(KEY, requested_at=requested_at))
    assert partition.joins.next_offset == 1


def test_tenant_beyond_its_open_joins_is_refused_and_others_are_not() -> None:
    partition = Partition()
    assert partition.read(opened(join_key(0)), opened(join_key(1))) == []
    beyond = partition.propose(opened(join_key(2)))
    assert codes(beyond.verdict.reasons) == ["QUOTA_EXCEEDED"]
    assert beyond.verdict.fallback is not None
    assert partition.read(opened(join_key(3, OTHER_TENANT))) == []
    partition.read_back(beyond)
    (timed_out,) = partition.joins.expire([(join_id(join_key(0)), 0)])
    assert isinstance(timed_out, Proposal)
    partition.read_back(timed_out)
    assert partition.read(opened(join_key(4))) == []  # a place is free again


def test_intakes_own_refusal_keeps_its_reasons_beyond_the_quota() -> None:
    partition = Partition()
    partition.read(opened(join_key(0)), opened(join_key(1)))
    assert codes(partition.propose(refused(join_key(2))).verdict.reasons) == ["MESSAGE_INVALID"]


def test_safe_offset_is_the_oldest_open_join_else_the_next_record() -> None:
    partition = Partition()
    assert partition.joins.safe_offset() is None
    partition.joins.passed(4)
    assert partition.joins.safe_offset() == 5
    partition.end = 5
    first = partition.read(opened(KEY), opened(join_key(1)))
    assert (first, partition.joins.safe_offset()) == ([], 5)
    (timed_out,) = partition.joins.expire([(join_id(KEY), 0)])
    assert isinstance(timed_out, Proposal)
    partition.read_back(timed_out)
    assert partition.joins.safe_offset() == 6
    assert list(partition.joins.waits()) == [(join_id(join_key(1)), 0)]


external = st.lists(
    st.one_of(
        st.builds(
            lambda number, version: opened(
                join_key(number), PIN if version == 1 else NEWER_PIN, policy_version=version
            ),
            st.integers(0, 2),
            st.integers(1, 3),
        ),
        st.builds(lambda number: refused(join_key(number)), st.integers(0, 2)),
        st.builds(
            lambda number, kind, pin, clean: (
                receipt(kind, join_key(number), pin)
                if clean
                else failed(kind, ReasonCode.SECRET, join_key(number), pin)
            ),
            st.integers(0, 2),
            st.sampled_from(RECEIPT_KINDS),
            st.sampled_from([PIN, NEWER_PIN]),
            st.booleans(),
        ),
    ),
    max_size=25,
)


def verdicts(log: Sequence[Evidence], splits: frozenset[int]) -> dict[JoinKey, bytes]:
    """Return every request's published verdict, reading in batches that end at the given places.

    What others append keeps its place relative to each other and its time; what is proposed is appended at the end of
    the batch, wherever that is.
    """
    joins = PartitionJoins(JoinLimits(HORIZON_MS, 0, 10))
    published: dict[JoinKey, bytes] = {}
    proposed: list[Proposal] = []
    offset = 0

    def read(record: Stated) -> None:
        nonlocal offset
        offset += 1
        for effect in joins.read(record):
            if isinstance(effect, Proposal):
                proposed.append(effect)
            elif isinstance(effect, Publication):
                published.setdefault(effect.join_key, effect.decided.verdict)
                assert published[effect.join_key] == effect.decided.verdict

    def append_proposals() -> None:
        while proposed:
            proposal = proposed.pop(0)
            read(stated(decided(proposal.verdict, proposal.join_key), offset, NOW_MS + 1000))

    for index, evidence in enumerate(log):
        read(replace(stated(evidence, offset), at_ms=NOW_MS + index))
        if index in splits:
            append_proposals()
    append_proposals()
    return published


@settings(deadline=None)
@given(log=external, first=st.frozensets(st.integers(0, 24)), second=st.frozensets(st.integers(0, 24)))
def test_any_split_of_a_log_into_batches_gives_equal_verdict_bytes(
    log: list[Evidence], first: frozenset[int], second: frozenset[int]
) -> None:
    assert verdicts(log, first) == verdicts(log, second)


def test_verdicts_of_equal_logs_are_equal_bytes() -> None:
    log = [opened(KEY), *(receipt(kind, KEY) for kind in RECEIPT_KINDS)]
    once, again = Partition().propose(*log), Partition().propose(*log)
    assert avro.encode(once.verdict) == avro.encode(again.verdict)


def test_kinds_are_as_the_joins_know_them() -> None:
    assert set(EvidenceKind) == {EvidenceKind.OPENED, *RECEIPT_KINDS, EvidenceKind.DECIDED}
