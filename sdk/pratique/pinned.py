"""The policy a request is judged under, as far as the client needs it.

The contract: ``PolicySource`` gives verified documents and the trust target; ``PinnedPolicy`` is a set's compaction
policy, invariant manifest and standing commitments, and renders the trusted instruction from them. Everything in it
came from TUF or from an envelope that a commitment signer signed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from pratique.contract.canonical import JsonValue
from pratique.contract.rendering import policy_block_of, rendered_policy_sha256, trusted_instruction
from pratique.contract.trust import TrustTarget
from pratique.errors import NoContextError

Document = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Instruction:
    """The trusted instruction and the digest of the policy block in it."""

    text: str
    rendered_policy_sha256: str


@dataclass(frozen=True, slots=True)
class PinnedPolicy:
    """One policy set.

    Attributes:
        policy_set_sha256: Digest of the set.
        policy_sha256: Digest of the compaction policy document alone.
        instruction: The compaction policy's trusted instruction.
        fallback_message_count: How many of the last messages a fallback keeps, at least 1.
        summary_min_length: Shortest summary, in characters.
        deadline_ms: How long the gate waits for evidence, in milliseconds.
        manifest: The invariant manifest v3.
        standing: The tenant's standing commitment snapshot v3; null where policy applies none.
        standing_applies: Whether policy lets a request go without commitments of its own.
    """

    policy_set_sha256: str
    policy_sha256: str
    instruction: str
    fallback_message_count: int
    summary_min_length: int
    deadline_ms: int
    manifest: Document
    standing: Document | None
    standing_applies: bool = False

    def with_standing(self, policy_set_sha256: str, standing: Document) -> PinnedPolicy:
        """Return the tenant's effective set: this base and its standing commitments."""
        return replace(self, policy_set_sha256=policy_set_sha256, standing=standing)

    def render(self, snapshot: Document | None) -> Instruction:
        """Return the trusted instruction under a commitment snapshot; null means the standing one.

        Raises:
            NoContextError: There is no snapshot to render.
            MalformedError: A document lacks what the policy block is made of.
        """
        commitments = snapshot if snapshot is not None else self.standing
        if commitments is None:
            raise NoContextError("the request brings no commitments, and policy applies no standing ones")
        block = policy_block_of(policy_sha256=self.policy_sha256, manifest=self.manifest, snapshot=commitments)
        return Instruction(trusted_instruction(self.instruction, block), rendered_policy_sha256(block))


class PolicySource(Protocol):
    """Verified policy. Safe for many threads."""

    def trust(self) -> TrustTarget:
        """Return the trust target at its newest known.

        Raises:
            UnavailableError: None was ever loaded.
            RefusedError: The repository's metadata has expired or does not verify.
        """
        ...

    def pinned(self, tenant_id: str, policy_id: str, policy_set_sha256: str | None = None) -> PinnedPolicy:
        """Return a policy set: the one named, or the newest.

        Raises:
            UnavailableError: It can't be obtained now.
            RefusedError: A document may not be used.
        """
        ...

    def refresh(self) -> None:
        """Ask the repository for news, unless that was done a moment ago. Being out of reach is no error."""
        ...
