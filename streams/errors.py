"""The service's part of the one error tree (root: ``pratique.errors``).

The contract: *invalid* (``RefusedError`` and below) and *could not check* (``UnavailableError`` and below) never mix.
Every error that can become a verdict names its reason code. Messages hold no content.
"""

from __future__ import annotations

from pratique.contract.reasons import ReasonCode
from pratique.errors import ConfigurationError, PratiqueError, RefusedError, UnavailableError
from pratique.policy.errors import PolicyError, PolicyExpiredError, PolicyNotLoadedError, PolicyUnavailableError

__all__ = [
    "CommandRefusedError",
    "CommitmentsMissingError",
    "CommitmentsStaleError",
    "ConfigurationError",
    "DetectorError",
    "DetectorTimeoutError",
    "LanguageUnsupportedError",
    "LedgerBrokenError",
    "LedgerViewIncompleteError",
    "PolicyError",
    "PolicyExpiredError",
    "PolicyNotLoadedError",
    "PolicyUnavailableError",
    "PratiqueError",
    "RefusedError",
    "UnavailableError",
]


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


class LedgerViewIncompleteError(UnavailableError):
    """The quarantine ledger's view can't answer for everything it was asked: never "not quarantined"."""

    code = ReasonCode.LEDGER_VIEW_INCOMPLETE


class CommandRefusedError(RefusedError):
    """A command to the quarantine ledger is not acceptable.

    Attributes:
        code: Why.
    """

    def __init__(self, message: str, *, code: ReasonCode) -> None:
        super().__init__(message)
        self.code = code


class LedgerBrokenError(RefusedError):
    """The ledger's topics hold less than was written, or something else: nothing may be built on them."""
