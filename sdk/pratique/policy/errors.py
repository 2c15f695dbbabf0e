"""What can go wrong between a policy repository and whoever relies on it.

*Invalid* (``RefusedError``) and *could not check* (``UnavailableError``) stay apart. Those that can become a verdict
name its reason code; ``PolicyNotLoadedError`` has none, since before the first load the answer is to wait.
"""

from __future__ import annotations

from pratique.contract.reasons import ReasonCode
from pratique.errors import RefusedError, UnavailableError


class PolicyError(RefusedError):
    """A policy document verifies but says something it may not."""

    code = ReasonCode.POLICY_INVALID


class PolicyExpiredError(RefusedError):
    """The policy repository's metadata is past its expiry."""

    code = ReasonCode.POLICY_EXPIRED


class PolicyUnavailableError(UnavailableError):
    """A policy document could not be obtained as its metadata describes it."""

    code = ReasonCode.POLICY_UNAVAILABLE


class TargetUnknownError(PolicyUnavailableError):
    """The repository's metadata is valid, and names no such target."""


class PolicyNotLoadedError(UnavailableError):
    """No policy was ever loaded here and the repository is out of reach: wait, and decide nothing."""
