"""How a step of the consistency check says that it failed.

The contract: ``StepFailed`` carries reasons, never content, and never leaves ``check_consistency``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pratique.contract.canonical import PlainJson
from pratique.contract.reasons import Reason, ReasonCode, sorted_reasons

DETECTOR: Final = "consistency"
"""Who names the reasons of the checker."""

GRAMMAR_DETECTOR: Final = "grammar"
"""Who names the reasons of the verifier."""

MAX_PLACES: Final = 8
"""Most places named for one finding: evidence must stay small."""


class StepFailed(Exception):  # noqa: N818 - it carries an answer, and is none of the errors that anyone handles
    """A step of the check failed; the check ends here.

    Attributes:
        reasons: Why, sorted; the first is the primary one.
        verification_body: What the verifier stated, where it was asked and its statement holds.
    """

    def __init__(self, reasons: Iterable[Reason], verification_body: Mapping[str, PlainJson] | None = None) -> None:
        super().__init__()
        self.reasons = sorted_reasons(list(reasons))
        self.verification_body = verification_body


def reason(code: ReasonCode, path: str = "") -> Reason:
    """Return a reason of the checker."""
    return Reason.of(code, path, DETECTOR)


def grammar_reason(code: ReasonCode, path: str) -> Reason:
    """Return a reason of the verifier."""
    return Reason.of(code, path, GRAMMAR_DETECTOR)
