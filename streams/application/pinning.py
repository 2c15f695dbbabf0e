"""Pinning: which policy set and which commitments a request is judged under.

The contract: ``Pinning.pin`` returns the set that is current for the request's tenant and policy id, with the task's
verified commitments, or the failure that a refusal states. A policy that was never loaded is neither: that raises
``PolicyNotLoadedError``, and whoever asked waits.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from pratique.contract.records import CompactionRequested
from pratique.errors import SignatureInvalidError, SignerNotAuthorisedError
from streams.application.admission import CommitmentFailure, Pinned, PolicyFailure
from streams.application.ports.policy import PolicyStore
from streams.application.trusting import LastKnownTrust
from streams.domain.compaction.constraints import constraint_set
from streams.domain.policy.commitments import verify_commitments
from streams.domain.policy.model import CommitmentSnapshot, PolicySet
from streams.errors import (
    CommitmentsMissingError,
    CommitmentsStaleError,
    PolicyError,
    PolicyExpiredError,
    PolicyUnavailableError,
)

MAX_RENDERED: Final = 1024
"""How many rendered policy blocks' digests are remembered."""

MAX_BLOCK_BYTES: Final = 256 * 1024
"""Largest rendered policy block: a consistency receipt holds it, at most twice as long, and has to fit its topic."""


class Pinning:
    """Pins requests against a policy store."""

    def __init__(self, store: PolicyStore, trust: LastKnownTrust) -> None:
        self._store = store
        self.trust = trust
        self._rendered: OrderedDict[tuple[str, str], str] = OrderedDict()

    def pin(self, request: CompactionRequested, now_ms: int) -> Pinned | PolicyFailure:
        """Pin a request.

        Args:
            request: An authentic request.
            now_ms: Now, milliseconds since the epoch.

        Raises:
            PolicyNotLoadedError: No policy was ever loaded; wait.
        """
        policy_set = self.policy_set(request.tenant_id, request.policy_id)
        if not isinstance(policy_set, PolicySet):
            return policy_set
        snapshot = self.commitments(request, policy_set, now_ms)
        if not isinstance(snapshot, CommitmentSnapshot):
            return Pinned(policy_set, snapshot, None)
        try:
            return Pinned(policy_set, snapshot, self._rendered_sha256(policy_set, snapshot))
        except PolicyError as error:
            return Pinned(policy_set, error, None)

    def policy_set(self, tenant_id: str, policy_id: str) -> PolicySet | PolicyFailure:
        """Return a tenant's current set of a policy, or why there is none.

        Raises:
            PolicyNotLoadedError: No policy was ever loaded; wait.
        """
        try:
            return self._store.pin(tenant_id, policy_id)
        except (PolicyError, PolicyExpiredError, PolicyUnavailableError) as error:
            return error

    def commitments(
        self, request: CompactionRequested, policy_set: PolicySet, now_ms: int
    ) -> CommitmentSnapshot | CommitmentFailure:
        """Return a request's verified commitments: its own, or the standing ones where policy applies them."""
        try:
            if request.commitments is None:
                return policy_set.standing_for(request.tenant_id)
            return verify_commitments(
                request.commitments,
                self.trust(),
                tenant_id=request.tenant_id,
                task_id=request.task_id,
                policy_sha256=policy_set.compaction.policy_sha256,
                now_ms=now_ms,
            )
        except (
            CommitmentsMissingError,
            CommitmentsStaleError,
            SignatureInvalidError,
            SignerNotAuthorisedError,
            PolicyError,
        ) as error:
            return error

    def _rendered_sha256(self, policy_set: PolicySet, snapshot: CommitmentSnapshot) -> str:
        key = (policy_set.invariants.manifest_sha256, snapshot.snapshot_sha256)
        digest = self._rendered.get(key)
        if digest is None:
            constraints = constraint_set(policy_set.compaction.policy_sha256, policy_set.invariants, snapshot)
            size = len(constraints.policy_block.encode("utf-8"))
            if size > MAX_BLOCK_BYTES:
                raise PolicyError(f"the rendered policy block has {size} bytes, {MAX_BLOCK_BYTES} are allowed")
            digest = constraints.rendered_policy_sha256
            self._rendered[key] = digest
            if len(self._rendered) > MAX_RENDERED:
                self._rendered.popitem(last=False)
        return digest
