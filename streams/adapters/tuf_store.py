"""The policy store over a TUF repository.

The contract is ``streams.application.ports.policy.PolicyStore``. A set is immutable, so it is kept in memory by its
digest for as long as it is among the newest ``MAX_SETS``; pins are kept until the repository publishes something
newer. From memory, ``pin``, ``exactly`` and ``trust`` are dictionary look-ups. Where nobody calls ``refresh``, the
first look-up after the interval does.

A set is believed only if the repository publishes its base map, so that no mixture of published documents that nobody
published together is ever judged under.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from pratique.contract.trust import TrustTarget
from pratique.errors import ConfigurationError, PratiqueError
from pratique.policy.client import PolicyReader, Refreshed
from pratique.policy.errors import TargetUnknownError
from streams.adapters.tuf_layout import Lifetimes
from streams.application.ports.policy import Freshness, PolicyStatus
from streams.domain.policy.documents import MIN_DEADLINE_MS
from streams.domain.policy.expiries import Expiry, key_expiries
from streams.domain.policy.model import PolicySet
from streams.domain.policy.sets import (
    MAX_MAP_BYTES,
    SetMap,
    StandingPointer,
    build_policy_set,
    current_path,
    policy_ids,
    read_canonical,
    read_current_pointer,
    read_set_map,
    read_standing_pointer,
    set_path,
    standing_path,
)
from streams.errors import PolicyError, PolicyExpiredError, PolicyNotLoadedError, PolicyUnavailableError

DEFAULT_REFRESH_MS: Final = 10_000
MAX_SETS: Final = 1024
MAX_PINS: Final = 65_536
FAILURE_KEPT_MS: Final = 1_000
"""How long a failed pin is answered from memory, so that a broken set costs no more than a whole one."""


@dataclass(slots=True)
class _Pinned:
    policy_set: PolicySet
    role_expires_at_ms: int | None


@dataclass(slots=True)
class _Failed:
    error: PratiqueError
    until_ms: int


@dataclass(slots=True)
class _Generation:
    """What was learned under one edition of the repository; replaced as a whole by the next."""

    version: int
    edition: str
    expires_at_ms: int
    trust: TrustTarget | None = None
    pins: dict[tuple[str, str], _Pinned | _Failed] = field(default_factory=dict)

    def known(self, tenant_id: str, policy_id: str, now: int) -> _Pinned | _Failed | None:
        """Return what pinning came to before; null where it is to be tried, or tried again."""
        pin = self.pins.get((tenant_id, policy_id))
        if isinstance(pin, _Failed) and not now < pin.until_ms <= now + FAILURE_KEPT_MS:
            return None
        return pin


class TufPolicyStore:
    """A ``PolicyStore`` that reads a TUF repository.

    Args:
        reader: The repository's reader, used by this store alone.
        clock: Now, in milliseconds since the epoch.
        refresh_ms: How long a look-up relies on the last refresh.
        min_deadline_ms: Shortest deadline a compaction policy may set: three times the consumer session time-out.
    """

    def __init__(
        self,
        reader: PolicyReader,
        clock: Callable[[], int],
        *,
        refresh_ms: int = DEFAULT_REFRESH_MS,
        min_deadline_ms: int = MIN_DEADLINE_MS,
    ) -> None:
        self._reader = reader
        self._clock = clock
        self._refresh_ms = refresh_ms
        self._min_deadline_ms = min_deadline_ms
        self._lock = threading.RLock()
        self._sets: OrderedDict[str, PolicySet] = OrderedDict()
        self._generation: _Generation | None = None
        self._status = PolicyStatus(Freshness.NEVER, 0, 0, 0, "")
        self._failure: PratiqueError | None = None

    def status(self) -> PolicyStatus:
        """Return how the store stands; see ``PolicyStore``."""
        return self._status

    def refresh(self) -> PolicyStatus:
        """Ask the repository for news now; see ``PolicyStore``."""
        with self._lock:
            now = self._clock()
            try:
                refreshed = self._reader.refresh()
            except PolicyExpiredError as error:
                self._failed(Freshness.EXPIRED, error, now)
            except PolicyUnavailableError as error:
                self._failed(Freshness.NEVER if self._generation is None else Freshness.REFUSED, error, now)
            except (PolicyNotLoadedError, ConfigurationError) as error:
                self._failed(Freshness.NEVER if self._generation is None else Freshness.CACHED, error, now)
            else:
                self._renewed(refreshed, now)
            return self._status

    def pin(self, tenant_id: str, policy_id: str) -> PolicySet:
        """Return the newest set of a policy for a tenant; see ``PolicyStore``.

        Raises:
            PolicyNotLoadedError: Nothing was ever loaded and the repository is out of reach: wait.
            PolicyExpiredError: The metadata is past its expiry.
            PolicyUnavailableError: A document could not be obtained as the metadata describes it.
            PolicyError: There is no such policy, or a document says something it may not.
        """
        now = self._clock()
        generation = self._fresh(now)
        known = generation.known(tenant_id, policy_id, now)
        if known is None:
            with self._lock:  # of those who come at once, one reads, and the others find what it read
                known = generation.known(tenant_id, policy_id, now) or self._pin(generation, tenant_id, policy_id, now)
        if isinstance(known, _Failed):
            raise type(known.error)(str(known.error))  # an instance of its own: several threads may be told
        if known.role_expires_at_ms is not None and now >= known.role_expires_at_ms:
            raise PolicyExpiredError("a delegated role's policy metadata has expired")
        return known.policy_set

    def exactly(self, policy_set_sha256: str, set_map: str) -> PolicySet:
        """Return exactly the set that was pinned; see ``PolicyStore``.

        Raises:
            PolicyNotLoadedError: Nothing was ever loaded and the repository is out of reach: wait.
            PolicyExpiredError: The metadata is past its expiry, and the set is not in memory.
            PolicyUnavailableError: A document could not be obtained, or no such set was ever published.
            PolicyError: The map is not that of the digest, or a document says something it may not.
        """
        known = self._sets.get(policy_set_sha256)
        if known is not None:
            return known
        pinned = read_set_map(set_map, policy_set_sha256)
        self._fresh(self._clock())
        with self._lock:
            try:
                return self._build(pinned)[0]
            except TargetUnknownError:
                self.refresh()  # published since this process looked
                self._fresh(self._clock())
                return self._build(pinned)[0]

    def trust(self) -> TrustTarget:
        """Return the trust target at its newest; see ``PolicyStore``.

        Raises:
            PolicyNotLoadedError: Nothing was ever loaded and the repository is out of reach: wait.
            PolicyExpiredError: The metadata is past its expiry.
            PolicyUnavailableError: It could not be obtained as the metadata describes it.
            PolicyError: It says something it may not.
        """
        generation = self._fresh(self._clock())
        if generation.trust is None:
            with self._lock:
                generation.trust = self._reader.trust()
        return generation.trust

    def _fresh(self, now: int) -> _Generation:
        """Return what is known of the repository, after a refresh where one is due.

        Raises:
            PolicyNotLoadedError: Nothing is known.
            PolicyExpiredError: What is known has expired.
            PolicyUnavailableError: What the repository says does not verify.
        """
        # Where something is known, nobody waits for a refresh that is under way: a repository that answers byte by byte
        # would hold up every look-up, and what is known is held against its expiry below.
        if self._due(now) and self._lock.acquire(blocking=self._generation is None):
            try:
                if self._due(now):
                    self.refresh()
            finally:
                self._lock.release()
        generation = self._generation
        if generation is None:
            failure = self._failure or PolicyNotLoadedError("no policy was ever loaded here")
            raise type(failure)(str(failure))
        if now >= generation.expires_at_ms:
            raise PolicyExpiredError("policy metadata has expired")
        return generation

    def _due(self, now: int) -> bool:
        return not 0 <= now - self._status.checked_at_ms < self._refresh_ms

    def _renewed(self, refreshed: Refreshed, now: int) -> None:
        version, expires_at_ms = self._reader.version, self._reader.expires_at_ms
        old = self._generation
        if old is not None and old.edition == self._reader.edition:
            old.expires_at_ms = expires_at_ms  # at most the timestamp was renewed; every target is the one it was
        else:
            self._generation = _Generation(version, self._reader.edition, expires_at_ms)
        self._failure = None
        self._status = PolicyStatus(
            Freshness(refreshed.value), version, now, expires_at_ms, self._reader.detail, *self._later(now)
        )

    def _later(self, now: int) -> tuple[int | None, int | None]:
        """Return when the first delegated role in use expires, and when the first role is without a key."""
        generation = self._generation
        if generation is None:
            return None, None
        pins = [pin.role_expires_at_ms for pin in generation.pins.values() if isinstance(pin, _Pinned)]
        keys = key_expiries(generation.trust, now) if generation.trust is not None else ()
        return min((at for at in pins if at is not None), default=None), keys[0].at_ms if keys else None

    def _failed(self, freshness: Freshness, error: PratiqueError, now: int) -> None:
        self._failure = error
        generation = self._generation
        version = generation.version if generation else 0
        expires_at_ms = generation.expires_at_ms if generation else 0
        self._status = PolicyStatus(freshness, version, now, expires_at_ms, str(error), *self._later(now))
        if freshness is Freshness.EXPIRED:
            self._generation = None

    def _pin(self, generation: _Generation, tenant_id: str, policy_id: str, now: int) -> _Pinned | _Failed:
        """Pin from the repository, and remember what it came to."""
        known: _Pinned | _Failed
        try:
            known = self._newest(tenant_id, policy_id)
        except (PolicyError, PolicyUnavailableError) as error:
            known = _Failed(error, now + FAILURE_KEPT_MS)
        if len(generation.pins) >= MAX_PINS:
            generation.pins.clear()
        generation.pins[tenant_id, policy_id] = known
        return known

    def expiries(self) -> tuple[Expiry, ...]:
        """Return what ends when, the first first: every role of the repository, and the trust target's keys.

        A role is soon to end in the last quarter of its lifetime: it is signed again from the half on.

        Raises:
            PolicyNotLoadedError: As ``pin``.
            PolicyExpiredError: As ``pin``.
            PolicyUnavailableError: As ``pin``.
            PolicyError: The trust target says something it may not.
        """
        trust, lifetimes = self.trust(), Lifetimes()
        with self._lock:
            roles = self._reader.expiries()
        found = [
            Expiry(f"role {role}", at_ms, int(lifetimes.of(role).total_seconds() * 250))
            for role, at_ms in roles.items()
        ]
        return tuple(sorted([*found, *key_expiries(trust, self._clock())], key=lambda expiry: expiry.at_ms))

    def newest(self, policy_id: str) -> PolicySet:
        """Return the newest base set of a policy, which is any tenant's before its standing commitments.

        Raises:
            PolicyNotLoadedError: As ``pin``.
            PolicyExpiredError: As ``pin``.
            PolicyUnavailableError: As ``pin``.
            PolicyError: As ``pin``.
        """
        self._fresh(self._clock())
        with self._lock:
            return self._newest_base(policy_id)[1]

    def policy_ids(self) -> tuple[str, ...]:
        """Return the ids of the repository's policies, in order.

        Raises:
            PolicyNotLoadedError: As ``pin``.
            PolicyExpiredError: As ``pin``.
            PolicyUnavailableError: As ``pin``.
        """
        self._fresh(self._clock())
        with self._lock:
            return policy_ids(self._reader.names())

    def _newest_base(self, policy_id: str) -> tuple[SetMap, PolicySet, list[int | None]]:
        try:
            current = self._reader.load(current_path(policy_id)).content
        except TargetUnknownError:
            raise PolicyError("the policy repository has no policy of this policy_id") from None
        base_sha256 = read_current_pointer(read_canonical(current, "current policy"), policy_id)
        base = read_set_map(self._reader.load(set_path(base_sha256)).content, base_sha256)
        policy_set, expiries = self._build(base)
        return base, policy_set, expiries

    def _newest(self, tenant_id: str, policy_id: str) -> _Pinned:
        base, policy_set, expiries = self._newest_base(policy_id)
        stale = False
        if policy_set.compaction.standing_commitments:
            pointer, role_expires_at_ms = self._standing(tenant_id, policy_id)
            expiries.append(role_expires_at_ms)
            stale = pointer is not None and pointer.policy_sha256 != policy_set.compaction.policy_sha256
            if pointer is not None and not stale:
                policy_set, more = self._build(base.with_standing(tenant_id, pointer.snapshot_sha256))
                expiries += more
        pinned = replace(policy_set, version=self._reader.version, standing_stale=stale)
        return _Pinned(pinned, min((expiry for expiry in expiries if expiry is not None), default=None))

    def _standing(self, tenant_id: str, policy_id: str) -> tuple[StandingPointer | None, int | None]:
        try:
            loaded = self._reader.load(standing_path(tenant_id, policy_id))
        except TargetUnknownError:
            return None, None
        value = read_canonical(loaded.content, "standing commitments")
        return read_standing_pointer(value, tenant_id, policy_id), loaded.role_expires_at_ms

    def _build(self, set_map: SetMap) -> tuple[PolicySet, list[int | None]]:
        """Obtain every document of a set, and when the roles that vouch for them expire."""
        base = set_map.base
        published = self._reader.load(set_path(base.sha256)).content
        if len(published) > MAX_MAP_BYTES or published != base.text.encode("utf-8"):
            raise PolicyError("policy set: its published map is another")
        documents = {kind: self._reader.load(set_map.path(kind)) for kind in set_map.documents}
        policy_set = build_policy_set(
            set_map,
            {kind: loaded.content for kind, loaded in documents.items()},
            version=self._reader.version,
            min_deadline_ms=self._min_deadline_ms,
        )
        policy_set = self._sets.setdefault(policy_set.policy_set_sha256, policy_set)
        while len(self._sets) > MAX_SETS:
            self._sets.popitem(last=False)
        return policy_set, [loaded.role_expires_at_ms for loaded in documents.values()]
