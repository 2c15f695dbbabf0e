"""Invariants and commitments as one list of canonical constraints, and the policy block rendered from them.

The contract: ``constraint_set`` makes every check of AID-I-004.008 G002 on manifest and snapshot, in its order, and
raises where one fails: constraints that did not verify can't be judged with. What it returns depends on nothing but
its arguments, compared by value, so it is remembered.

It verifies no signature: the policy store and the commitment envelope did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256, text_sha256
from pratique.contract.rendering import constraint_entry, policy_block, rendered_policy_sha256, trusted_instruction
from streams.domain.compaction.candidate import ConstraintType
from streams.domain.policy.documents import commitment_body, invariant_body, manifest_body, snapshot_body
from streams.domain.policy.model import CommitmentSnapshot, CompactionPolicy, InvariantManifest
from streams.errors import CommitmentsStaleError, PolicyError

_MANIFEST: Final = "invariant manifest"
_SNAPSHOT: Final = "commitment snapshot"
_KEPT: Final = 128
"""How many constraint sets are kept; each holds at most twice the register's bound of records."""


@dataclass(frozen=True, slots=True)
class CanonicalConstraint:
    """One invariant or commitment, as the verifier judges it."""

    constraint_type: ConstraintType
    constraint_id: str
    canonical_text: str
    canonical_predicate: str
    canonical_record_sha256: str
    canonical_predicate_sha256: str

    @property
    def key(self) -> tuple[ConstraintType, str]:
        """What identifies it."""
        return (self.constraint_type, self.constraint_id)


@dataclass(frozen=True, slots=True)
class ConstraintSet:
    """Everything a summary must preserve, in order.

    Attributes:
        policy_sha256: Digest of the compaction policy document.
        manifest_sha256: Digest of the invariant manifest.
        snapshot_sha256: Digest of the commitment snapshot.
        constraints: Invariants in manifest order, then commitments in snapshot order.
        policy_block: The rehydrated policy block v3, canonical JSON.
        rendered_policy_sha256: Its digest.
    """

    policy_sha256: str
    manifest_sha256: str
    snapshot_sha256: str
    constraints: tuple[CanonicalConstraint, ...]
    policy_block: str
    rendered_policy_sha256: str

    def ids(self, constraint_type: ConstraintType) -> tuple[str, ...]:
        """Return the ids of one type, in order."""
        return tuple(item.constraint_id for item in self.constraints if item.constraint_type is constraint_type)


@lru_cache(maxsize=_KEPT)
def constraint_set(policy_sha256: str, manifest: InvariantManifest, snapshot: CommitmentSnapshot) -> ConstraintSet:
    """Check manifest and snapshot and put their constraints together.

    What it returned for equal arguments it returns again: most requests of a tenant are judged under the same.

    Args:
        policy_sha256: Digest of the compaction policy document that both must be for.
        manifest: The registered invariants.
        snapshot: The task's commitments.

    Raises:
        PolicyError: Manifest or snapshot is empty, not for this policy (manifest), names an id twice, has a revision
            below 1, an empty field, or a digest that is not its content's.
        CommitmentsStaleError: The snapshot is for another policy.
    """
    _check_manifest(policy_sha256, manifest)
    _check_snapshot(policy_sha256, snapshot)
    constraints = (
        *(
            CanonicalConstraint(
                ConstraintType.INVARIANT,
                record.invariant_id,
                record.canonical_text,
                record.canonical_predicate,
                record.record_sha256,
                text_sha256(record.canonical_predicate),
            )
            for record in manifest.invariant_records
        ),
        *(
            CanonicalConstraint(
                ConstraintType.COMMITMENT,
                record.commitment_id,
                record.canonical_text,
                record.canonical_predicate,
                record.record_sha256,
                text_sha256(record.canonical_predicate),
            )
            for record in snapshot.commitment_records
        ),
    )
    block = policy_block(
        policy_sha256=policy_sha256,
        invariant_manifest_sha256=manifest.manifest_sha256,
        commitment_snapshot_sha256=snapshot.snapshot_sha256,
        constraints=(
            constraint_entry(
                constraint_type=item.constraint_type.value,
                constraint_id=item.constraint_id,
                canonical_text=item.canonical_text,
                canonical_predicate=item.canonical_predicate,
                record_sha256=item.canonical_record_sha256,
            )
            for item in constraints
        ),
    )
    return ConstraintSet(
        policy_sha256,
        manifest.manifest_sha256,
        snapshot.snapshot_sha256,
        constraints,
        block,
        rendered_policy_sha256(block),
    )


def render_trusted_instruction(
    policy: CompactionPolicy, manifest: InvariantManifest, snapshot: CommitmentSnapshot
) -> str:
    """Return the text of the system turn, rendered from policy alone (AID-I-004.008 G001).

    Raises:
        PolicyError: As ``constraint_set``.
        CommitmentsStaleError: As ``constraint_set``.
    """
    constraints = constraint_set(policy.policy_sha256, manifest, snapshot)
    return trusted_instruction(policy.trusted_instruction, constraints.policy_block)


def _check_manifest(policy_sha256: str, manifest: InvariantManifest) -> None:
    if manifest.policy_sha256 != policy_sha256:
        raise PolicyError(f"{_MANIFEST}: is for another compaction policy")
    _check_register(
        _MANIFEST, manifest.registry_revision, [record.invariant_id for record in manifest.invariant_records]
    )
    for index, record in enumerate(manifest.invariant_records):
        complete = bool(record.invariant_id and record.canonical_text and record.canonical_predicate)
        _check_record(
            f"{_MANIFEST}: records[{index}]",
            invariant_body(record),
            record.record_sha256,
            complete=complete and record.record_revision >= 1,
        )
    if manifest.manifest_sha256 != canonical_sha256(manifest_body(manifest)):
        raise PolicyError(f"{_MANIFEST}: digest is not its content's")


def _check_snapshot(policy_sha256: str, snapshot: CommitmentSnapshot) -> None:
    if snapshot.policy_sha256 != policy_sha256:
        raise CommitmentsStaleError(f"{_SNAPSHOT}: is for another compaction policy; sign the commitments again")
    _check_register(
        _SNAPSHOT, snapshot.commitment_revision, [record.commitment_id for record in snapshot.commitment_records]
    )
    for index, record in enumerate(snapshot.commitment_records):
        complete = bool(record.commitment_id and record.canonical_text and record.canonical_predicate)
        _check_record(
            f"{_SNAPSHOT}: records[{index}]",
            commitment_body(record),
            record.record_sha256,
            complete=complete and record.record_revision >= 1,
        )
    if snapshot.snapshot_sha256 != canonical_sha256(snapshot_body(snapshot)):
        raise PolicyError(f"{_SNAPSHOT}: digest is not its content's")


def _check_register(name: str, revision: int, ids: list[str]) -> None:
    if not ids:
        raise PolicyError(f"{name}: is empty; nothing would be preserved")
    if revision < 1:
        raise PolicyError(f"{name}: revision is below 1")
    if len(set(ids)) != len(ids):
        raise PolicyError(f"{name}: names an id twice")


def _check_record(name: str, body: JsonValue, digest: str, *, complete: bool) -> None:
    if not complete:
        raise PolicyError(f"{name}: lacks an id, text or predicate, or its revision is below 1")
    if digest != canonical_sha256(body):
        raise PolicyError(f"{name}: digest is not its content's")
