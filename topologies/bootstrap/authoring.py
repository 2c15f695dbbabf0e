"""Policy in hand, for those who write it: a source that nobody signed yet, or a set that was published.

The contract: a source is read, and every document of it checked, as publication does; it pins no scanner, since
nothing here scans. Published sets are verified from the trusted root, with nothing cached. Errors are those of what is
read.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pratique.contract.canonical import JsonValue
from streams.adapters.policy_source import read_json, read_source
from streams.domain.compaction.compiler import compile_grammar
from streams.domain.compaction.grammar import Grammar
from streams.domain.policy.model import CommitmentSnapshot, PolicySet
from streams.domain.policy.publication import PolicySource, ScannerIdentity, author_snapshot, prepare
from streams.domain.policy.recorded import under_policy
from streams.domain.policy.sets import set_path
from streams.errors import CommitmentsMissingError, ConfigurationError
from topologies.bootstrap.policy import policy_reader, policy_store

__all__ = ["CURRENT", "PolicyInHand", "Repository", "read_json", "read_source", "source_policy"]

CURRENT: Final = "current"
"""Names the newest published set, where a set's digest or a source could stand."""

NO_SCANNER: Final = ScannerIdentity("unpublished", "0" * 64)
"""Stands for the scanner that publication would pin."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class PolicyInHand:
    """A policy set, its compiled grammar, and the tenants' standing commitments.

    Attributes:
        name: How its reader called it.
        signed: Whether it was published.
        standing: Returns a tenant's standing commitments; raises ``CommitmentsMissingError`` or
            ``CommitmentsStaleError`` where the gate would find none.
    """

    name: str
    signed: bool
    policy_set: PolicySet
    grammar: Grammar
    standing: Callable[[str], CommitmentSnapshot]


@dataclass(frozen=True, slots=True)
class Repository:
    """Where published sets are.

    Attributes:
        place: A directory, or an http(s) URL.
        root: File with the trusted root metadata.
        policy_id: The policy.
    """

    place: str
    root: Path
    policy_id: str

    def policy(self, name: str = CURRENT) -> PolicyInHand:
        """Return a published set: the newest, or the one with this digest.

        A set of before is judged with the tenants' standing commitments of now: older ones are published, but not
        which of them held when.

        Raises:
            ConfigurationError: The root can't be read, or the name is neither.
            PolicyError: There is no such policy, or a document says something it may not.
            PolicyUnavailableError: There is no such set, or a document is not as its metadata says.
            PolicyExpiredError: The metadata is past its expiry.
            PolicyNotLoadedError: The repository is out of reach.
        """
        with tempfile.TemporaryDirectory(prefix="pratique-authoring-") as state:
            # It was published; which deadline it may set is not asked again.
            store = policy_store(self.place, self.root, Path(state, "store"), refresh_ms=60_000, min_deadline_ms=1)
            newest = store.newest(self.policy_id)
            chosen = newest
            if name != CURRENT:
                chosen = store.exactly(name, self._set_map(name, Path(state, "reader")))
            tenants = sorted({tenant for key in store.trust().keys.values() for tenant in key.tenants or ()})
            pinned = {tenant: store.pin(tenant, self.policy_id) for tenant in tenants}
        policy_sha256 = chosen.compaction.policy_sha256

        def standing(tenant_id: str) -> CommitmentSnapshot:
            if tenant_id not in pinned:
                raise CommitmentsMissingError("request brings no commitments and its tenant has no standing ones")
            return under_policy(pinned[tenant_id].standing_for(tenant_id), policy_sha256)

        return PolicyInHand(name, True, chosen, compile_grammar(chosen.grammar), standing)  # noqa: FBT003 - a field

    def _set_map(self, digest: str, state: Path) -> str:
        if _DIGEST.fullmatch(digest) is None:
            raise ConfigurationError(f"{digest} is neither a policy source's directory, nor {CURRENT}, nor a digest")
        state.mkdir()
        reader = policy_reader(self.place, self.root, state)
        reader.refresh()
        return reader.load(set_path(digest)).content.decode("utf-8")


def source_policy(directory: Path) -> PolicyInHand:
    """Return the policy that publishing a source would make.

    Raises:
        ConfigurationError: A file that is needed is missing, or can't be read.
        PolicyError: A document says something it may not.
    """
    return policy_of(str(directory), read_source(directory))


def policy_of(name: str, source: PolicySource) -> PolicyInHand:
    """Return the policy that publishing a source would make.

    Raises:
        PolicyError: A document says something it may not.
    """
    policy_set = prepare(source, NO_SCANNER, min_deadline_ms=1).policy_set
    stated: dict[str, JsonValue] = dict(source.commitments)

    def standing(tenant_id: str) -> CommitmentSnapshot:
        if not policy_set.compaction.standing_commitments or tenant_id not in stated:
            raise CommitmentsMissingError("request brings no commitments and its tenant has no standing ones")
        return author_snapshot(stated[tenant_id], policy_set.compaction.policy_sha256)

    return PolicyInHand(name, False, policy_set, compile_grammar(policy_set.grammar), standing)  # noqa: FBT003 - a field
