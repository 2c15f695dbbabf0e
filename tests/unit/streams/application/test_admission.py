"""What intake says of an authentic request: the seed's order, bounded reasons, the tail where there is a context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from pratique.context import MARKER
from pratique.contract import avro, digests
from pratique.contract.canonical import canonical_sha256
from pratique.contract.reasons import REASONS, ReasonCode
from pratique.contract.records import (
    CompactionRequested,
    Evidence,
    EvidenceKind,
    Opened,
    Origin,
    Provenance,
    Role,
    SourceMessage,
)
from pratique.contract.topics import COMPACTION_REQUESTED
from pratique.contract.trust import KeyRole
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError
from streams.application.admission import (
    MAX_REASONS,
    Admission,
    CommitmentFailure,
    Pinned,
    PolicyFailure,
    admit_compaction,
    authenticate,
    check_request_id,
)
from streams.domain.compaction.lineage import Ancestor
from streams.domain.policy.model import UnfollowedLineage
from streams.errors import (
    CommitmentsMissingError,
    CommitmentsStaleError,
    PolicyError,
    PolicyExpiredError,
    PolicyUnavailableError,
)
from streams.wire.evidence import MAX_STATEMENT_BYTES
from tests.fakes.evidence import NOW_MS, OTHER_PUBLISHER, OTHER_TENANT, PUBLISHER, TENANT, TRUST
from tests.unit.streams.application.compactions import STANDING, message, pinned_set, request

RENDERED = "9" * 64
UNTRUSTED = Provenance.UNTRUSTED
PINNED = Pinned(pinned_set(), STANDING, RENDERED)


def never() -> Pinned:
    raise AssertionError("policy is not asked about what is malformed")


def admit(
    asked: CompactionRequested,
    *,
    pin: Callable[[], Pinned | PolicyFailure] = lambda: PINNED,
    within_quota: bool = True,
    known: Mapping[str, Ancestor] | None = None,
    accepted: frozenset[str] | None = frozenset(),
) -> Admission:
    return admit_compaction(
        asked,
        avro.encode(asked),
        pin=pin,
        within_quota=within_quota,
        now_ms=NOW_MS + 5,
        look_up=lambda: known or {},
        recognise=lambda digests: None if accepted is None else accepted.intersection(digests),
    )


def head(admission: Admission) -> Opened:
    assert admission.opened.opened is not None
    return admission.opened.opened


def refusal(admission: Admission) -> list[tuple[str, str]]:
    assert admission.work is None
    assert head(admission).required == ()
    return [(reason.code, reason.path) for reason in head(admission).refusal]


def test_request_in_order_is_opened_with_its_pin_and_its_work() -> None:
    asked = request()
    admission = admit(asked)
    opened, policy_set = head(admission), PINNED.policy_set
    assert admission.opened.kind is EvidenceKind.OPENED
    assert admission.opened.policy_set_sha256 == policy_set.policy_set_sha256
    assert opened.required == (EvidenceKind.CONSISTENCY, EvidenceKind.SCAN)
    assert opened.refusal == ()
    assert (opened.policy_version, opened.policy_sha256) == (policy_set.version, policy_set.compaction.policy_sha256)
    assert opened.rendered_policy_sha256 == RENDERED
    assert opened.invariant_manifest_sha256 == policy_set.invariants.manifest_sha256
    assert opened.commitment_snapshot_sha256 == STANDING.snapshot_sha256
    assert opened.scanner_sha256 == policy_set.scan.scanner_sha256
    assert opened.keep_message_ids == ("m3", "m4")
    assert (opened.deadline_ms, opened.valid_ms) == (30_000, 60_000)
    assert (opened.task_id, opened.policy_id, opened.requested_at) == ("task-1", "default", NOW_MS)
    work = admission.work
    assert work is not None
    assert (work.origin, work.policy_set_sha256) == (Origin.COMPACTION, policy_set.policy_set_sha256)
    assert (work.policy_set_map, work.opened_at) == (policy_set.set_map, NOW_MS + 5)
    assert avro.decode(work.request, CompactionRequested) == asked


def test_join_key_is_the_requests_own() -> None:
    asked = request()
    key = admit(asked).opened.join_key
    value = avro.encode(asked)
    assert (key.tenant_id, key.request_id, key.origin) == (TENANT, "request-1", Origin.COMPACTION)
    assert key.request_sha256 == digests.request_sha256(value)
    assert key.subject_sha256 == digests.compaction_subject_sha256(asked.candidate_json)
    assert key.source_population_sha256 == digests.source_population_sha256(
        [digests.message_sha256(item) for item in asked.source_messages]
    )


# ------------------------------------------------------------------------------------------- identity and messages


@pytest.mark.parametrize("field", ["task_id", "compaction_request_id", "policy_id"])
@pytest.mark.parametrize("value", ["", " ", "\t", "a\nb", "\u202eabc", "x" * 257, "\ud7ff\ue000"])
def test_malformed_identity_is_refused_before_policy(field: str, value: str) -> None:
    found = refusal(admit(request(**{field: value}), pin=never))
    assert found == [("MESSAGE_INVALID", field)]


@pytest.mark.parametrize("value", ["a", "x" * 256, "with blank", "ümläut", "日本", "a/b?c=d#e", "'; drop table"])
def test_odd_but_visible_identity_is_fine(value: str) -> None:
    admission = admit(request(task_id=value, compaction_request_id=value))
    assert head(admission).refusal == ()
    assert avro.decode(avro.encode(admission.opened), Evidence) == admission.opened


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), [("MESSAGE_INVALID", "source_messages")]),
        ((message(1), message(2, "")), [("MESSAGE_INVALID", "source_messages[1]")]),
        ((SourceMessage("", Role.USER, "x"),), [("MESSAGE_INVALID", "source_messages[0]")]),
        ((SourceMessage("m" * 257, Role.USER, "x"),), [("MESSAGE_INVALID", "source_messages[0]")]),
        ((message(1), message(2), message(1)), [("DUPLICATE_MESSAGE_ID", "source_messages[2]")]),
        (
            (message(1), message(1, ""), message(1)),
            [
                ("MESSAGE_INVALID", "source_messages[1]"),
                ("DUPLICATE_MESSAGE_ID", "source_messages[1]"),
                ("DUPLICATE_MESSAGE_ID", "source_messages[2]"),
            ],
        ),
    ],
)
def test_malformed_messages_are_refused_before_policy_and_keep_nothing(
    messages: tuple[SourceMessage, ...], expected: list[tuple[str, str]]
) -> None:
    admission = admit(request(source_messages=messages), pin=never)
    assert refusal(admission) == expected
    opened = head(admission)
    assert opened.keep_message_ids is None
    assert opened.policy_sha256 is opened.scanner_sha256 is opened.commitment_snapshot_sha256 is None
    assert admission.opened.policy_set_sha256 is None
    assert opened.policy_version == 0
    key = admission.opened.join_key
    assert key.source_population_sha256 is None
    assert key.message_key == key.request_sha256.encode()


def test_reasons_are_bounded_distinct_and_sorted() -> None:
    messages = tuple(SourceMessage("", Role.USER, "") for _ in range(5_000))
    found = head(admit(request(source_messages=messages), pin=never)).refusal
    assert len(found) == MAX_REASONS
    assert len(set(found)) == MAX_REASONS
    over = head(admit(request(source_messages=messages), pin=never, within_quota=False)).refusal
    assert len(over) == MAX_REASONS
    assert over[0].code == "QUOTA_EXCEEDED"


@given(
    st.lists(
        st.builds(
            SourceMessage,
            st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=3),
            st.sampled_from(Role),
            st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=3),
            st.sampled_from(Provenance),
        ),
        max_size=12,
    ).map(tuple)
)
@settings(deadline=None)
def test_any_messages_come_to_an_opened_that_says_what_the_seed_says(messages: tuple[SourceMessage, ...]) -> None:
    admission = admit(request(source_messages=messages))
    codes = [code for code, _ in refusal(admission)] if admission.work is None else []
    ranks = [REASONS[ReasonCode(code)].rank for code in codes]
    assert ranks == sorted(ranks)
    ids = [item.message_id for item in messages]
    sound = bool(messages) and len(set(ids)) == len(ids)
    sound = sound and all(
        item.content and item.message_id.strip() and item.message_id.isprintable() for item in messages
    )
    if sound and len(messages) <= 10:
        assert codes == []
        assert head(admission).keep_message_ids == tuple(ids[-2:])
    elif sound:
        assert codes == ["TOO_LARGE"]
    else:
        assert set(codes) <= {"MESSAGE_INVALID", "DUPLICATE_MESSAGE_ID"}
        assert codes


def test_request_id_that_evidence_could_not_repeat_names_no_request() -> None:
    check_request_id(request(compaction_request_id="x" * 256))
    with pytest.raises(MalformedError) as caught:
        check_request_id(request(compaction_request_id="x" * 257))
    assert caught.value.code == "MESSAGE_INVALID"


# ----------------------------------------------------------------------------------------- quota, policy, commitments


def test_request_beyond_the_quota_is_refused_before_policy() -> None:
    assert refusal(admit(request(), pin=never, within_quota=False)) == [("QUOTA_EXCEEDED", "")]


@pytest.mark.parametrize("failure", [PolicyError, PolicyExpiredError, PolicyUnavailableError])
def test_policy_that_is_not_to_be_had_refuses_and_keeps_nothing(failure: type[PolicyFailure]) -> None:
    admission = admit(request(), pin=lambda: failure("why"))
    assert refusal(admission) == [(failure.code.value, "policy")]
    assert head(admission).keep_message_ids is None
    assert admission.opened.join_key.source_population_sha256 is not None


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (CommitmentsMissingError("why"), "COMMITMENTS_MISSING"),
        (CommitmentsStaleError("why"), "COMMITMENTS_STALE"),
        (SignatureInvalidError("why"), "SIGNATURE_INVALID"),
        (SignerNotAuthorisedError("why"), "SIGNER_NOT_AUTHORISED"),
        (PolicyError("why"), "POLICY_INVALID"),
    ],
)
def test_commitments_that_do_not_hold_refuse_and_keep_nothing(failure: CommitmentFailure, code: str) -> None:
    admission = admit(request(), pin=lambda: Pinned(PINNED.policy_set, failure, None))
    assert refusal(admission) == [(code, "commitments")]
    opened = head(admission)
    assert (opened.keep_message_ids, opened.commitment_snapshot_sha256) == (None, None)
    assert admission.opened.policy_set_sha256 == PINNED.policy_set.policy_set_sha256
    assert opened.policy_sha256 == PINNED.policy_set.compaction.policy_sha256


# ------------------------------------------------------------------------------------------------------------ sizes


def test_request_at_the_policys_size_is_served_and_one_byte_more_is_too_large() -> None:
    asked = request()
    size = len(avro.encode(asked))
    fits = Pinned(pinned_set(max_request_bytes=size), STANDING, RENDERED)
    assert head(admit(asked, pin=lambda: fits)).refusal == ()
    small = Pinned(pinned_set(max_request_bytes=size - 1), STANDING, RENDERED)
    admission = admit(asked, pin=lambda: small)
    assert refusal(admission) == [("TOO_LARGE", "")]
    assert head(admission).keep_message_ids == ("m3", "m4")


def test_request_of_too_many_messages_is_too_large_and_keeps_the_tail() -> None:
    admission = admit(request(source_messages=tuple(map(message, range(11)))))
    assert refusal(admission) == [("TOO_LARGE", "source_messages")]
    assert head(admission).keep_message_ids == ("m9", "m10")


def test_commitments_are_looked_at_before_sizes() -> None:
    broken = Pinned(pinned_set(max_request_bytes=1), CommitmentsMissingError("why"), None)
    assert refusal(admit(request(), pin=lambda: broken)) == [("COMMITMENTS_MISSING", "commitments")]


def test_tail_that_evidence_could_not_hold_is_too_large_and_keeps_nothing() -> None:
    messages = tuple(SourceMessage(f"{number:\U0001f600>256}", Role.USER, "x") for number in range(300))
    wide = Pinned(
        pinned_set(fallback_message_count=1_000, max_messages=1_000, max_request_bytes=4_000_000), STANDING, RENDERED
    )
    admission = admit(request(source_messages=messages), pin=lambda: wide)
    assert refusal(admission) == [("TOO_LARGE", "source_messages")]
    assert head(admission).keep_message_ids is None
    few = Pinned(pinned_set(fallback_message_count=100, max_messages=1_000, max_request_bytes=4_000_000), STANDING, "9")
    assert len(head(admit(request(source_messages=messages), pin=lambda: few)).keep_message_ids or ()) == 100


@pytest.mark.parametrize("asked", ["worst identities", "worst messages", "worst tail"])
def test_whatever_is_asked_evidence_stays_small(asked: str) -> None:
    wide = Pinned(
        pinned_set(fallback_message_count=100_000, max_messages=100_000, max_request_bytes=4_194_304),
        STANDING,
        RENDERED,
    )
    worst = {
        "worst identities": request(task_id="\U0001f600" * 500_000, policy_id="\U0001f600" * 500_000),
        "worst messages": request(source_messages=tuple(SourceMessage("", Role.USER, "") for _ in range(100_000))),
        "worst tail": request(
            source_messages=tuple(SourceMessage(f"{number:0>37}", Role.USER, "x") for number in range(3_500))
        ),
    }[asked]
    worst = replace(worst, compaction_request_id="\U0001f600" * 256)
    assert len(avro.encode(admit(worst, pin=lambda: wide).opened)) < MAX_STATEMENT_BYTES


# ------------------------------------------------------------------------------------------------------------- trust


@pytest.mark.parametrize(
    ("provenances", "lineage", "expected"),
    [
        ([Provenance.TRUSTED, Provenance.TRUSTED], (), Provenance.TRUSTED),
        ([Provenance.TRUSTED, Provenance.UNTRUSTED], (), Provenance.UNTRUSTED),
        ([Provenance.UNTRUSTED], (), Provenance.UNTRUSTED),
        ([Provenance.TRUSTED], ("a verdict",), Provenance.UNTRUSTED),
    ],
)
def test_trust_is_the_least_of_the_sources(
    provenances: list[Provenance], lineage: tuple[str, ...], expected: Provenance
) -> None:
    messages = tuple(message(number, provenance=item) for number, item in enumerate(provenances))
    assert head(admit(request(source_messages=messages, lineage=lineage))).trust is expected


def test_trust_is_carried_by_a_lineage_that_is_known() -> None:
    asked = request(source_messages=(message(1),), lineage=("v1",))
    for trust in Provenance:
        assert head(admit(asked, known={"v1": Ancestor(accepted=True, trust=trust)})).trust is trust
    assert head(admit(asked, known={"v1": Ancestor(accepted=False, trust=Provenance.TRUSTED)})).trust is UNTRUSTED


@pytest.mark.parametrize(
    ("asked", "known", "expected"),
    [
        (request(lineage=("v1",)), {}, [("LINEAGE_UNKNOWN", "lineage[0]")]),
        (
            request(lineage=("v1",)),
            {"v1": Ancestor(accepted=False, trust=Provenance.TRUSTED)},
            [("LINEAGE_QUARANTINED", "lineage[0]")],
        ),
        (request(source_messages=(message(1, MARKER + "text"),)), {}, [("LINEAGE_UNKNOWN", "source_messages[0]")]),
        (request(lineage=("v1",)), {"v1": Ancestor(accepted=True, trust=UNTRUSTED)}, []),
        (request(), {}, []),
    ],
)
def test_policy_may_refuse_what_it_cannot_follow(
    asked: CompactionRequested, known: dict[str, Ancestor], expected: list[tuple[str, str]]
) -> None:
    strict = Pinned(pinned_set(unfollowed_lineage=UnfollowedLineage.QUARANTINE), STANDING, RENDERED)
    admission = admit(asked, pin=lambda: strict, known=known)
    assert [(item.code, item.path) for item in head(admission).refusal] == expected
    assert (admission.work is None) is bool(expected)
    assert head(admission).keep_message_ids  # there is a context to fall back to
    assert admit(asked, known=known).work is not None  # by default it is judged, and untrusted


def test_what_a_verdict_accepted_is_recognised_without_its_marker() -> None:
    text = "Use approved tools only."
    accepted = frozenset({canonical_sha256(text)})
    strict = Pinned(pinned_set(unfollowed_lineage=UnfollowedLineage.QUARANTINE), STANDING, RENDERED)
    for provenance in Provenance:
        asked = request(source_messages=(message(1, provenance=provenance), message(2, text)))
        assert head(admit(asked)).trust is provenance
        assert head(admit(asked, accepted=accepted)).trust is UNTRUSTED
        refused = refusal(admit(asked, pin=lambda: strict, accepted=accepted))
        assert refused == [("LINEAGE_UNKNOWN", "source_messages[1]")]
        named = replace(asked, lineage=("v1",))
        known = {"v1": Ancestor(accepted=True, trust=Provenance.TRUSTED, accepted_sha256s=accepted)}
        assert head(admit(named, known=known, accepted=accepted)).trust is provenance


@pytest.mark.parametrize("text", ["Use approved tools only.", MARKER + "Use approved tools only."])
def test_a_name_says_nothing_of_what_its_verdict_did_not_accept(text: str) -> None:
    accepted = frozenset({canonical_sha256("Use approved tools only.")})
    others = frozenset({canonical_sha256("Another summary.")})
    known = {"v1": Ancestor(accepted=True, trust=Provenance.TRUSTED, accepted_sha256s=others)}
    strict = Pinned(pinned_set(unfollowed_lineage=UnfollowedLineage.QUARANTINE), STANDING, RENDERED)
    asked = request(source_messages=(message(1), message(2, text), message(3, "Another summary.")), lineage=("v1",))
    recognised = accepted | others
    assert head(admit(asked, known=known, accepted=recognised)).trust is UNTRUSTED
    refused = refusal(admit(asked, pin=lambda: strict, known=known, accepted=recognised))
    assert refused == [("LINEAGE_UNKNOWN", "source_messages[1]")]
    both = {"v2": Ancestor(accepted=True, trust=Provenance.TRUSTED, accepted_sha256s=accepted), **known}
    named = replace(asked, lineage=("v1", "v2"))
    assert head(admit(named, pin=lambda: strict, known=both, accepted=recognised)).trust is Provenance.TRUSTED


def test_where_nobody_says_what_was_accepted_nothing_is_trusted() -> None:
    strict = Pinned(pinned_set(unfollowed_lineage=UnfollowedLineage.QUARANTINE), STANDING, RENDERED)
    summary = message(3, MARKER + "Use approved tools only.")
    accepted = frozenset({canonical_sha256("Use approved tools only.")})
    known = {"v1": Ancestor(accepted=True, trust=Provenance.TRUSTED, accepted_sha256s=accepted)}
    asked = request(source_messages=(message(1), message(2)))
    assert head(admit(asked)).trust is Provenance.TRUSTED
    assert head(admit(asked, accepted=None)).trust is UNTRUSTED
    assert admit(asked, accepted=None).work is not None
    refused = admit(asked, pin=lambda: strict, accepted=None)
    assert refusal(refused) == [("LINEAGE_UNKNOWN", "source_messages")]
    # Redis went away after it said what the named verdict accepted: of that alone nothing is left to ask.
    named = replace(asked, lineage=("v1",), source_messages=(message(1), summary))
    assert head(admit(named, known=known, accepted=None)).trust is UNTRUSTED
    refused = admit(named, pin=lambda: strict, known=known, accepted=None)
    assert refusal(refused) == [("LINEAGE_UNKNOWN", "source_messages")]
    alone = replace(named, source_messages=(summary,))
    assert head(admit(alone, pin=lambda: strict, known=known, accepted=None)).trust is Provenance.TRUSTED


@pytest.mark.parametrize(
    ("lineage", "known", "provenance"),
    [
        ((), {}, UNTRUSTED),
        (("v1",), {}, Provenance.TRUSTED),
        (("v1",), {"v1": Ancestor(accepted=True, trust=UNTRUSTED)}, Provenance.TRUSTED),
        (("v1",), {"v1": Ancestor(accepted=True, trust=Provenance.TRUSTED)}, UNTRUSTED),
    ],
)
def test_texts_are_looked_up_only_where_it_could_change_something(
    lineage: tuple[str, ...], known: Mapping[str, Ancestor], provenance: Provenance
) -> None:
    def never(_: Sequence[str]) -> frozenset[str]:
        raise AssertionError("texts are looked up")

    asked = request(source_messages=(message(1), message(2, provenance=provenance)), lineage=lineage)
    opened = admit_compaction(
        asked,
        avro.encode(asked),
        pin=lambda: PINNED,
        within_quota=True,
        now_ms=NOW_MS,
        look_up=lambda: known,
        recognise=never,
    )
    assert head(opened).trust is UNTRUSTED


# --------------------------------------------------------------------------------------------------- authentication


def test_publisher_of_the_tenant_is_believed() -> None:
    value = b"value"
    authenticate(
        PUBLISHER.sign(COMPACTION_REQUESTED, value),
        COMPACTION_REQUESTED,
        value,
        KeyRole.PUBLISHER,
        TRUST,
        NOW_MS,
    ).check_tenant(TENANT)


@pytest.mark.parametrize("change", ["tenant", "role", "value", "topic", "moment", "stranger"])
def test_anybody_else_is_not(change: str) -> None:
    value = b"value"
    signature = PUBLISHER.sign(COMPACTION_REQUESTED, value)
    expected: type[Exception] = SignerNotAuthorisedError
    tenant, role, topic, now_ms = TENANT, KeyRole.PUBLISHER, COMPACTION_REQUESTED, NOW_MS
    if change == "tenant":
        tenant = OTHER_TENANT
    elif change == "role":
        role = KeyRole.LOADER
    elif change == "moment":
        now_ms = 2**52
    elif change == "stranger":
        signature = replace(OTHER_PUBLISHER.sign(COMPACTION_REQUESTED, value), key_id=PUBLISHER.key_id)
        expected = SignatureInvalidError
    else:
        expected = SignatureInvalidError
        value, topic = (b"other", topic) if change == "value" else (value, "gate.work")
    with pytest.raises(expected):
        authenticate(signature, topic, value, role, TRUST, now_ms).check_tenant(tenant)
