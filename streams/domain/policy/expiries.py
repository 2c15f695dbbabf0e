"""What of policy ends when, and what of it soon: so that somebody renews it before the gate stops.

The contract: an ``Expiry`` is one thing that ends and how long before that is time to say so. ``key_expiries`` says of
each role in the trust target, and of each tenant that it is for, until when there is a key without a gap from now on;
one key that ends beside a newer one is a rotation and no news. When a role of the repository ends, the store says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pratique.contract.trust import TrustedKey, TrustedMacKey, TrustTarget

KEY_WARNING_MS: Final = 14 * 24 * 60 * 60 * 1000
"""How long before a role's last key ends it is time for a new one, in milliseconds: it has to reach every holder."""


@dataclass(frozen=True, slots=True)
class Expiry:
    """Something that ends.

    Attributes:
        what: In words for the operator.
        at_ms: First moment at which it has ended, in milliseconds since the epoch.
        warning_ms: How long before that is soon, in milliseconds.
    """

    what: str
    at_ms: int
    warning_ms: int

    def is_soon(self, now_ms: int) -> bool:
        """Say whether it ends soon, or has ended."""
        return self.at_ms - now_ms < self.warning_ms


def key_expiries(trust: TrustTarget, now_ms: int) -> tuple[Expiry, ...]:
    """Return until when each role of the trust target has a key, for each of its tenants, in the order of that moment.

    Args:
        trust: The trust target.
        now_ms: Now, in milliseconds since the epoch.
    """
    held: defaultdict[str, list[TrustedKey | TrustedMacKey]] = defaultdict(list)
    for key in trust.keys.values():
        for role in key.roles:
            for tenant in [None] if key.tenants is None else key.tenants:
                held[f"keys of {role.value}" + (f" of {tenant}" if tenant else "")].append(key)
    for mac_key in trust.mac_keys.values():
        held[f"MAC keys of {mac_key.role.value}"].append(mac_key)
    found = [Expiry(what, _covered_until(keys, now_ms), KEY_WARNING_MS) for what, keys in held.items()]
    return tuple(sorted(found, key=lambda expiry: (expiry.at_ms, expiry.what)))


def _covered_until(keys: Iterable[TrustedKey | TrustedMacKey], now_ms: int) -> int:
    """Return the first moment from now on at which none of the keys may be used; where that is now, since when."""
    until, last = now_ms, 0
    for key in sorted(keys, key=lambda key: key.not_before_ms):
        if key.not_before_ms <= until:
            until = max(until, key.expires_ms)
        if key.expires_ms <= now_ms:
            last = max(last, key.expires_ms)
    return until if until > now_ms else last or now_ms
