"""Admission of recalls: what intake says about an authentic ``MemoryRecalled``.

The contract: ``check_recall`` raises for what gets a dead letter and no verdict. ``admit_recall`` always returns an
OPENED: one that asks for evidence, with its work, or a refusal. What the loader's manifest and the entries have to do
with one another is not judged here: missing, extra and repeated entries are decided where the findings are joined. The
OPENED pins the manifest, each expected entry with the content that was given for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from pratique.contract import digests
from pratique.contract.canonical import text_sha256
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import (
    Evidence,
    EvidenceKind,
    JoinKey,
    MemoryRecalled,
    Opened,
    Origin,
    PinnedEntry,
    Provenance,
    StatedReason,
    Work,
)
from pratique.contract.topics import MAX_REQUEST_BYTES
from pratique.errors import MalformedError
from streams.application.admission import (
    MAX_IDENTIFIER_CHARACTERS,
    MAX_REASONS,
    REQUIRED_EVIDENCE,
    UNPINNED_DEADLINE_MS,
    UNPINNED_VALID_MS,
    Admission,
    PolicyFailure,
    is_identifier,
)
from streams.domain.policy.model import PolicySet
from streams.domain.recall.finding import key_of
from streams.domain.recall.population import MemoryKey
from streams.domain.recall.statements import MAX_ENTRIES

MAX_IDENTITY_BYTES: Final = 128 * 1024
"""Most bytes of identities in one recall: statements and verdict repeat every one of them."""

_INTAKE: Final = "intake"


def check_recall(request: MemoryRecalled) -> None:
    """Refuse a recall that has no verdict: there is nothing to decide, or no id to answer under.

    Raises:
        MalformedError: It expects and gives nothing, or its id is longer than evidence can repeat (MESSAGE_INVALID).
    """
    if not request.entries and not request.expected_entries:
        raise MalformedError("recall expects no entry and gives none", code=ReasonCode.MESSAGE_INVALID.value)
    if len(request.recall_request_id) > MAX_IDENTIFIER_CHARACTERS:
        raise MalformedError(
            f"recall_request_id is longer than {MAX_IDENTIFIER_CHARACTERS} characters",
            code=ReasonCode.MESSAGE_INVALID.value,
        )


def expected_keys(request: MemoryRecalled) -> tuple[MemoryKey, ...]:
    """Return the loader's manifest as whole keys, in its order."""
    return tuple(
        MemoryKey(request.tenant_id, request.recall_request_id, item.entry_id, item.memory_version)
        for item in request.expected_entries
    )


def admit_recall(
    request: MemoryRecalled,
    value: bytes,
    *,
    pin: Callable[[], PolicySet | PolicyFailure],
    within_quota: bool,
    now_ms: int,
) -> Admission:
    """Open an authentic recall that passed ``check_recall``.

    Args:
        request: The decoded request.
        value: The request as published.
        pin: Pins the policy set; called only if the request is well formed and within bounds.
        within_quota: Whether the tenant's quota had room.
        now_ms: When intake looked at it, milliseconds since the epoch.
    """
    key = digests.recall_join_key(request, value)
    reasons = [*_too_many(request)] or [*islice(_malformed(request), MAX_REASONS)]
    if reasons:  # such a manifest has no population (AID-D-001.005 G001), and none that evidence could repeat
        key = replace(key, source_population_sha256=None)
    if not within_quota:
        reasons = [Reason.of(ReasonCode.QUOTA_EXCEEDED, "", _INTAKE), *reasons[: MAX_REASONS - 1]]
    if reasons:
        return _refused(request, key, reasons, None, now_ms)
    policy_set = pin()
    if not isinstance(policy_set, PolicySet):
        return _refused(request, key, [Reason.of(policy_set.code, "policy", _INTAKE)], None, now_ms)
    if len(value) > min(policy_set.compaction.max_request_bytes, MAX_REQUEST_BYTES):
        return _refused(request, key, [Reason.of(ReasonCode.TOO_LARGE, "", _INTAKE)], policy_set, now_ms)
    work = Work(Origin.RECALL, policy_set.policy_set_sha256, policy_set.set_map, now_ms, value)
    return Admission(_opened(request, key, (), policy_set, now_ms), work)


def _too_many(request: MemoryRecalled) -> Iterator[Reason]:
    for name, count in (("entries", len(request.entries)), ("expected_entries", len(request.expected_entries))):
        if count > MAX_ENTRIES:
            yield Reason.of(ReasonCode.TOO_LARGE, name, _INTAKE)
            return
    identities = [part for item in request.entries for part in key_of(item)]
    identities += [part for key in expected_keys(request) for part in key]
    if sum(len(part.encode("utf-8")) for part in identities) > MAX_IDENTITY_BYTES:
        yield Reason.of(ReasonCode.TOO_LARGE, "entries", _INTAKE)


def _malformed(request: MemoryRecalled) -> Iterator[Reason]:
    parts = {
        "task_id": (request.task_id,),
        "recall_request_id": (request.recall_request_id,),
        "policy_id": (request.policy_id,),
        **{
            f"expected_entries[{place}]": (item.entry_id, item.memory_version)
            for place, item in enumerate(request.expected_entries)
        },
        **{f"entries[{place}]": key_of(item) for place, item in enumerate(request.entries)},
    }
    for path, identity in parts.items():
        if not all(map(is_identifier, identity)):
            yield Reason.of(ReasonCode.MESSAGE_INVALID, path, _INTAKE)


def _refused(
    request: MemoryRecalled, key: JoinKey, reasons: list[Reason], policy_set: PolicySet | None, now_ms: int
) -> Admission:
    stated = tuple(StatedReason.of(reason) for reason in sorted(set(reasons)))
    return Admission(_opened(request, key, stated, policy_set, now_ms), None)


def _opened(
    request: MemoryRecalled, key: JoinKey, refusal: tuple[StatedReason, ...], policy_set: PolicySet | None, now_ms: int
) -> Evidence:
    opened = Opened(
        task_id=request.task_id[:MAX_IDENTIFIER_CHARACTERS],
        policy_id=request.policy_id[:MAX_IDENTIFIER_CHARACTERS],
        requested_at=request.requested_at,
        policy_version=policy_set.version if policy_set else 0,
        policy_sha256=policy_set.recall.policy_sha256 if policy_set else None,
        rendered_policy_sha256=None,
        invariant_manifest_sha256=policy_set.invariants.manifest_sha256 if policy_set else None,
        commitment_snapshot_sha256=None,
        scanner_sha256=policy_set.scan.scanner_sha256 if policy_set else None,
        required=() if refusal else REQUIRED_EVIDENCE,
        keep_message_ids=None,
        trust=_least_trust(request),
        deadline_ms=policy_set.compaction.deadline_ms if policy_set else UNPINNED_DEADLINE_MS,
        valid_ms=policy_set.compaction.verdict_valid_ms if policy_set else UNPINNED_VALID_MS,
        refusal=refusal,
        expected_entries=() if key.source_population_sha256 is None else _pinned(request),
    )
    pin = policy_set.policy_set_sha256 if policy_set else None
    return Evidence(EvidenceKind.OPENED, key, pin, opened=opened, opened_at=now_ms)


def _pinned(request: MemoryRecalled) -> tuple[PinnedEntry, ...]:
    given: dict[MemoryKey, str] = {}
    for entry in request.entries:
        given.setdefault(key_of(entry), text_sha256(entry.content))
    return tuple(PinnedEntry(key.entry_id, key.memory_version, given.get(key)) for key in expected_keys(request))


def _least_trust(request: MemoryRecalled) -> Provenance:
    trusted = all(entry.provenance is Provenance.TRUSTED for entry in request.entries)
    return Provenance.TRUSTED if request.entries and trusted else Provenance.UNTRUSTED
