"""The rules of automatic quarantine that the ledger goes by: a policy's at its newest, or at the newest there was.

The contract: a rule is what the newest verified set of a policy says for verdicts of an origin. It is read once a
version of the repository. Where that can't be had, what was read before stands; where nothing was, the addition is
refused with the reason why: nothing is put into a ledger under a policy that nobody could read, and no command waits
for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pratique.contract.reasons import ReasonCode
from pratique.contract.records import Origin
from streams.domain.policy.model import PolicySet, QuarantineRule
from streams.errors import (
    CommandRefusedError,
    PolicyError,
    PolicyExpiredError,
    PolicyNotLoadedError,
    PolicyUnavailableError,
)

MAX_POLICIES: Final = 1024
"""Most policies that are remembered; beyond, all are read again."""


class LastKnownRules:
    """Returns rules.

    Args:
        newest: Returns the newest set of a policy.
        version: Returns the version of the repository in use.
    """

    def __init__(self, newest: Callable[[str], PolicySet], version: Callable[[], int]) -> None:
        self._newest = newest
        self._version = version
        self._known: dict[str, tuple[int, Mapping[Origin, QuarantineRule | None]]] = {}

    def __call__(self, policy_id: str, origin: Origin) -> QuarantineRule | None:
        """Return a policy's rule for verdicts of an origin; none where it has none, or there is no such policy.

        Raises:
            CommandRefusedError: The policy can't be had, and never could here; the code says why.
        """
        version = self._version()
        known = self._known.get(policy_id)
        if known is not None and known[0] == version:
            return known[1][origin]
        try:
            policy_set = self._newest(policy_id)
        except PolicyError:
            rules: Mapping[Origin, QuarantineRule | None] = dict.fromkeys(Origin)
        except (PolicyExpiredError, PolicyUnavailableError, PolicyNotLoadedError) as error:
            if known is not None:
                return known[1][origin]
            code = ReasonCode.POLICY_EXPIRED if isinstance(error, PolicyExpiredError) else ReasonCode.POLICY_UNAVAILABLE
            raise CommandRefusedError(f"rules of automatic quarantine: {error}", code=code) from None
        else:
            rules = {
                Origin.COMPACTION: policy_set.compaction.auto_quarantine,
                Origin.RECALL: policy_set.recall.auto_quarantine,
            }
        if len(self._known) >= MAX_POLICIES:
            self._known.clear()
        self._known[policy_id] = (version, rules)
        return rules[origin]
