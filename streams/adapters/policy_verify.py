"""Checks a whole policy repository as a stranger would: from the trusted root, with nothing cached.

The contract: everything that could be pinned is: the trust target, every published set whether current or not (its
grammar compiled, as a worker would), and every policy for every tenant that the trust target names. The first thing
that fails raises what a worker would raise.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pratique.policy.client import PolicyReader
from streams.adapters.tuf_store import TufPolicyStore
from streams.application.ports.policy import Freshness
from streams.domain.compaction.compiler import compile_grammar
from streams.domain.policy.documents import MIN_DEADLINE_MS
from streams.domain.policy.expiries import Expiry
from streams.domain.policy.model import PolicySet
from streams.domain.policy.sets import policy_ids
from streams.errors import PolicyUnavailableError


@dataclass(frozen=True, slots=True)
class Verified:
    """What a repository holds, all of it checked.

    Attributes:
        version: TUF snapshot version.
        expires_at_ms: When the top-level metadata expires, in milliseconds since the epoch.
        trust_revision: The trust target's revision.
        keys: How many Ed25519 and MAC keys it names.
        policies: The newest base set of each policy, by policy id.
        sets: Digests of all published base sets.
        expiries: What ends when: every role of the repository, and the trust target's keys; the first first.
        pinned: (tenant, policy, digest of the effective set) of all that can be pinned now.
    """

    version: int
    expires_at_ms: int
    trust_revision: int
    keys: int
    policies: dict[str, PolicySet]
    sets: tuple[str, ...]
    pinned: tuple[tuple[str, str, str], ...]
    expiries: tuple[Expiry, ...]


def verify_repository(
    repository: str,
    root: bytes,
    clock: Callable[[], int],
    *,
    min_deadline_ms: int = MIN_DEADLINE_MS,
) -> Verified:
    """Check all of a repository.

    Args:
        repository: A directory, or an http(s) URL.
        root: The trusted root metadata's bytes.
        clock: Now, in milliseconds since the epoch.
        min_deadline_ms: Shortest accepted deadline.

    Raises:
        PolicyExpiredError: The metadata is past its expiry.
        PolicyUnavailableError: Metadata does not verify, or a target's bytes are not those of its metadata.
        PolicyError: A document says something it may not.
        PolicyNotLoadedError: The repository is out of reach.
        ConfigurationError: The root is no root metadata.
    """
    with tempfile.TemporaryDirectory(prefix="pratique-verify-") as cache:
        reader = PolicyReader(repository, root, Path(cache), clock)
        reader.refresh()  # raises where the store would only say so
        store = TufPolicyStore(reader, clock, min_deadline_ms=min_deadline_ms)
        status = store.refresh()
        if status.freshness is not Freshness.CURRENT:
            raise PolicyUnavailableError(status.detail)
        trust = store.trust()
        names = list(reader.names())
        sets = tuple(name.removeprefix("sets/").removesuffix(".json") for name in names if name.startswith("sets/"))
        for digest in sets:
            policy_set = store.exactly(digest, reader.load(f"sets/{digest}.json").content.decode("utf-8"))
            compile_grammar(policy_set.grammar)
        tenants = sorted({tenant for key in trust.keys.values() for tenant in key.tenants or ()})
        pinned: list[tuple[str, str, str]] = []
        policies: dict[str, PolicySet] = {}
        for policy_id in policy_ids(names):
            for tenant_id in tenants:
                policy_set = store.pin(tenant_id, policy_id)
                pinned.append((tenant_id, policy_id, policy_set.policy_set_sha256))
            policies[policy_id] = store.newest(policy_id)
        return Verified(
            version=status.version,
            expires_at_ms=status.expires_at_ms,
            trust_revision=trust.revision,
            keys=len(trust.keys) + len(trust.mac_keys),
            policies=policies,
            sets=sets,
            pinned=tuple(pinned),
            expiries=store.expiries(),
        )
