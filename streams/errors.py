"""The service's part of the one error tree (root: ``pratique.errors``).

The contract: *invalid* (``RefusedError`` and below) and *could not check* (``UnavailableError`` and below) never mix.
Every error that can become a verdict names its reason code. Messages hold no content.
"""

from __future__ import annotations

from pratique.contract.reasons import ReasonCode
from pratique.errors import ConfigurationError, PratiqueError, RefusedError, UnavailableError

__all__ = [
    "CommitmentsMissingError",
    "CommitmentsStaleError",
    "ConfigurationError",
    "DetectorError",
    "DetectorTimeoutError",
    "LanguageUnsupportedError",
    "PolicyError",
    "PolicyExpiredError",
    "PolicyUnavailableError",
    "PratiqueError",
    "RefusedError",
    "UnavailableError",
]


class PolicyError(RefusedError):
    """A policy document verifies but says something it may not."""

    code = ReasonCode.POLICY_INVALID


class PolicyExpiredError(RefusedError):
    """The policy repository's metadata is past its expiry."""

    code = ReasonCode.POLICY_EXPIRED


class PolicyUnavailableError(UnavailableError):
    """A policy document could not be obtained as its metadata describes it."""

    code = ReasonCode.POLICY_UNAVAILABLE


class CommitmentsMissingError(RefusedError):
    """A request brings no commitments where policy wants them."""

    code = ReasonCode.COMMITMENTS_MISSING


class CommitmentsStaleError(RefusedError):
    """Commitments are for another policy, tenant or task, or not valid now."""

    code = ReasonCode.COMMITMENTS_STALE


class LanguageUnsupportedError(RefusedError):
    """Text or policy names a language that no detector here covers."""

    code = ReasonCode.LANGUAGE_UNSUPPORTED


class DetectorError(UnavailableError):
    """A detector failed, or is not the one that policy pins."""

    code = ReasonCode.DETECTOR_ERROR


class DetectorTimeoutError(DetectorError):
    """A detector did not finish in the policy's time."""

    code = ReasonCode.DETECTOR_TIMEOUT
