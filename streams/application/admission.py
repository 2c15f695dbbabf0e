"""Admission: what intake says about an authentic request.

The contract: ``authenticate`` raises for what nobody may believe (a dead letter, no verdict). ``admit_compaction``
always returns an OPENED: either one that asks for evidence, with the work that produces it, or a refusal that carries
its reasons and is decided at once. Checks run in the seed's order (AID-I-004.008 G001): identity and messages, then
policy, then commitments; up to there a refusal has no fallback, after it the bounded tail.

It reads no policy itself: the shell pins the set and hands it in, or the error that pinning came to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from pratique.contract import digests
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import (
    CompactionRequested,
    Evidence,
    EvidenceKind,
    JoinKey,
    Opened,
    Origin,
    Provenance,
    SourceMessage,
    StatedReason,
    Work,
)
from pratique.contract.signing import Signature, verify_ed25519
from pratique.contract.topics import MAX_REQUEST_BYTES
from pratique.contract.trust import KeyRole, TrustedKey, TrustTarget
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError
from streams.domain.compaction.lineage import Ancestor, follow, unaccepted
from streams.domain.policy.model import CommitmentSnapshot, CompactionPolicy, PolicySet, UnfollowedLineage
from streams.errors import (
    CommitmentsMissingError,
    CommitmentsStaleError,
    PolicyError,
    PolicyExpiredError,
    PolicyUnavailableError,
)

MAX_IDENTIFIER_CHARACTERS: Final = 256
"""Longest identifier a request may carry; evidence repeats identifiers and must stay small."""

UNPINNED_VALID_MS: Final = 60 * 60 * 1000
"""How long a refusal without a policy may be acted on."""

UNPINNED_DEADLINE_MS: Final = 30_000
"""A refusal waits for nothing; the field has to hold something."""

MAX_REASONS: Final = 64
"""Most reasons a refusal states: enough to mend it, few enough to keep evidence small."""

MAX_KEPT_ID_BYTES: Final = 128 * 1024
"""Most UTF-8 bytes of message ids that a fallback names; a policy whose tail is longer makes a request TOO_LARGE."""

REQUIRED_EVIDENCE: Final = (EvidenceKind.CONSISTENCY, EvidenceKind.SCAN)

PolicyFailure: TypeAlias = PolicyError | PolicyExpiredError | PolicyUnavailableError
CommitmentFailure: TypeAlias = (
    CommitmentsMissingError | CommitmentsStaleError | SignatureInvalidError | SignerNotAuthorisedError | PolicyError
)


@dataclass(frozen=True, slots=True)
class Pinned:
    """A policy set pinned for one request.

    Attributes:
        policy_set: The set.
        snapshot: The task's verified commitments, or why there are none.
        rendered_policy_sha256: Digest of the rendered policy block; null without commitments.
    """

    policy_set: PolicySet
    snapshot: CommitmentSnapshot | CommitmentFailure
    rendered_policy_sha256: str | None


@dataclass(frozen=True, slots=True)
class Admission:
    """What intake states, and the work it hands out; no work for a refusal."""

    opened: Evidence
    work: Work | None


def authenticate(
    signature: Signature, topic: str, value: bytes, role: KeyRole, trust: TrustTarget, now_ms: int
) -> TrustedKey:
    """Return the key that signed a request and holds a role now.

    Nothing of the request has to be decoded for it, so that nobody's bytes are decoded but a signer's. Whose tenant's
    request it is comes out only then: the caller asks the key (``TrustedKey.check_tenant``).

    Raises:
        SignerNotAuthorisedError: The key is unknown, or not for this role or moment.
        SignatureInvalidError: The signature does not verify over the value as published.
    """
    key = trust.key_in_role(signature.key_id, role, now_ms)
    verify_ed25519(key.public_key, signature, topic, value)
    return key


def check_request_id(request: CompactionRequested) -> None:
    """Refuse a request whose id is longer than evidence can repeat: it names no request that could be answered.

    Raises:
        MalformedError: It is (MESSAGE_INVALID).
    """
    if len(request.compaction_request_id) > MAX_IDENTIFIER_CHARACTERS:
        raise MalformedError(
            f"compaction_request_id is longer than {MAX_IDENTIFIER_CHARACTERS} characters",
            code=ReasonCode.MESSAGE_INVALID.value,
        )


def message_reasons(request: CompactionRequested) -> list[Reason]:
    """Return what is wrong with a request's identity and source messages (seed G001, before policy is read)."""
    return list(islice(_message_reasons(request), MAX_REASONS))


def oversize_reasons(request: CompactionRequested, request_bytes: int, policy: CompactionPolicy) -> list[Reason]:
    """Return which of a policy's bounds a request exceeds.

    Args:
        request: The request.
        request_bytes: Its size in bytes, as published.
        policy: The policy.
    """
    return [
        Reason.of(ReasonCode.TOO_LARGE, path, "intake")
        for path, size, bound in (
            ("", request_bytes, min(policy.max_request_bytes, MAX_REQUEST_BYTES)),
            ("source_messages", len(request.source_messages), policy.max_messages),
            ("source_messages", _id_bytes(_tail(request, policy)), MAX_KEPT_ID_BYTES),
        )
        if size > bound
    ]


def _message_reasons(request: CompactionRequested) -> Iterator[Reason]:
    for name, value in (
        ("task_id", request.task_id),
        ("compaction_request_id", request.compaction_request_id),
        ("policy_id", request.policy_id),
    ):
        if not is_identifier(value):
            yield Reason.of(ReasonCode.MESSAGE_INVALID, name, "intake")
    if not request.source_messages:
        yield Reason.of(ReasonCode.MESSAGE_INVALID, "source_messages", "intake")
    seen: set[str] = set()
    for index, message in enumerate(request.source_messages):
        if not is_identifier(message.message_id) or not message.content:
            yield Reason.of(ReasonCode.MESSAGE_INVALID, f"source_messages[{index}]", "intake")
        if message.message_id in seen:
            yield Reason.of(ReasonCode.DUPLICATE_MESSAGE_ID, f"source_messages[{index}]", "intake")
        seen.add(message.message_id)


def admit_compaction(
    request: CompactionRequested,
    value: bytes,
    *,
    pin: Callable[[], Pinned | PolicyFailure],
    within_quota: bool,
    now_ms: int,
    look_up: Callable[[], Mapping[str, Ancestor]] = dict,
    recognise: Callable[[Sequence[str]], AbstractSet[str] | None] = lambda _: frozenset(),
) -> Admission:
    """Open an authentic compaction request.

    Args:
        request: The decoded request.
        value: The request as published.
        pin: Pins the policy set and verifies the commitments; called only if the messages are well formed.
        within_quota: Whether the tenant's quota had room.
        now_ms: When intake looked at it, milliseconds since the epoch.
        look_up: Returns the verdicts of its lineage that are known; called only if it is not refused before.
        recognise: Returns those of some digests whose texts verdicts accepted; called only where it could change
            something.
    """
    reasons = message_reasons(request)
    population = None if reasons else _population(request.source_messages)
    key = digests.compaction_join_key(request, value, population)
    if not within_quota:
        reasons = [Reason.of(ReasonCode.QUOTA_EXCEEDED, "", "intake"), *reasons[: MAX_REASONS - 1]]
    if reasons:
        return _refused(request, key, reasons, None, now_ms)
    pinned = pin()
    if not isinstance(pinned, Pinned):
        return _refused(request, key, [Reason.of(pinned.code, "policy", "intake")], None, now_ms)
    if not isinstance(pinned.snapshot, CommitmentSnapshot):
        reasons = [Reason.of(_commitment_code(pinned.snapshot), "commitments", "intake")]
        return _refused(request, key, reasons, pinned, now_ms)
    oversize = oversize_reasons(request, len(value), pinned.policy_set.compaction)
    if oversize:
        return _refused(request, key, oversize, pinned, now_ms)
    refuses = pinned.policy_set.compaction.unfollowed_lineage is UnfollowedLineage.QUARANTINE
    known = look_up()
    recognised = _recognised(request, known, recognise, refuses=refuses)
    followed = follow(request.source_messages, request.lineage, known, recognised)
    if followed.reasons and refuses:
        return _refused(request, key, followed.reasons, pinned, now_ms)
    work = Work(Origin.COMPACTION, pinned.policy_set.policy_set_sha256, pinned.policy_set.set_map, now_ms, value)
    return Admission(_opened(request, key, (), pinned, now_ms, followed.trust), work)


def _recognised(
    request: CompactionRequested,
    known: Mapping[str, Ancestor],
    recognise: Callable[[Sequence[str]], AbstractSet[str] | None],
    *,
    refuses: bool,
) -> frozenset[int] | None:
    """Return the places of messages that are what a verdict accepted that isn't named.

    None where that would change nothing. Null where nobody answers: then any of them may be.
    """
    messages, lineage = request.source_messages, request.lineage
    if not refuses and follow(messages, lineage, known).trust is not Provenance.TRUSTED:
        return frozenset()
    places = unaccepted(messages, lineage, known)
    accepted = recognise([digest for one in places.values() for digest in one]) if places else frozenset()
    if accepted is None:
        return None
    return frozenset(place for place, one in places.items() if not accepted.isdisjoint(one))


def _population(messages: Sequence[SourceMessage]) -> str:
    return digests.source_population_sha256([digests.message_sha256(message) for message in messages])


def is_identifier(value: str) -> bool:
    """Say whether a text can be an identity: something a person can see, and not too long."""
    return 0 < len(value) <= MAX_IDENTIFIER_CHARACTERS and value.isprintable() and bool(value.strip())


def _commitment_code(failure: CommitmentFailure) -> ReasonCode:
    if isinstance(failure, SignatureInvalidError):
        return ReasonCode.SIGNATURE_INVALID
    if isinstance(failure, SignerNotAuthorisedError):
        return ReasonCode.SIGNER_NOT_AUTHORISED
    return failure.code


def _refused(
    request: CompactionRequested, key: JoinKey, reasons: Sequence[Reason], pinned: Pinned | None, now_ms: int
) -> Admission:
    stated = tuple(StatedReason.of(reason) for reason in sorted(set(reasons)))
    return Admission(_opened(request, key, stated, pinned, now_ms), None)


def _opened(
    request: CompactionRequested,
    key: JoinKey,
    refusal: tuple[StatedReason, ...],
    pinned: Pinned | None,
    now_ms: int,
    trust: Provenance | None = None,
) -> Evidence:
    snapshot = pinned.snapshot if pinned and isinstance(pinned.snapshot, CommitmentSnapshot) else None
    policy_set = pinned.policy_set if pinned else None
    keep: tuple[str, ...] | None = None
    if policy_set is not None and snapshot is not None:
        tail = _tail(request, policy_set.compaction)
        keep = tail if _id_bytes(tail) <= MAX_KEPT_ID_BYTES else None
    opened = Opened(
        task_id=request.task_id[:MAX_IDENTIFIER_CHARACTERS],
        policy_id=request.policy_id[:MAX_IDENTIFIER_CHARACTERS],
        requested_at=request.requested_at,
        policy_version=policy_set.version if policy_set else 0,
        policy_sha256=policy_set.compaction.policy_sha256 if policy_set else None,
        rendered_policy_sha256=pinned.rendered_policy_sha256 if pinned else None,
        invariant_manifest_sha256=policy_set.invariants.manifest_sha256 if policy_set else None,
        commitment_snapshot_sha256=snapshot.snapshot_sha256 if snapshot else None,
        scanner_sha256=policy_set.scan.scanner_sha256 if policy_set else None,
        required=() if refusal else REQUIRED_EVIDENCE,
        keep_message_ids=keep,
        trust=follow(request.source_messages, request.lineage, {}).trust if trust is None else trust,
        deadline_ms=policy_set.compaction.deadline_ms if policy_set else UNPINNED_DEADLINE_MS,
        valid_ms=policy_set.compaction.verdict_valid_ms if policy_set else UNPINNED_VALID_MS,
        refusal=refusal,
    )
    pin = policy_set.policy_set_sha256 if policy_set else None
    return Evidence(EvidenceKind.OPENED, key, pin, opened=opened, opened_at=now_ms)


def _tail(request: CompactionRequested, policy: CompactionPolicy) -> tuple[str, ...]:
    return tuple(message.message_id for message in request.source_messages[-policy.fallback_message_count :])


def _id_bytes(message_ids: Sequence[str]) -> int:
    return sum(len(message_id.encode("utf-8")) for message_id in message_ids)
