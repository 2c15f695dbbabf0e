"""Reason codes: why a request was quarantined, in words that someone can act on.

The contract: an append-only enumeration. Each code maps to the seeds' (outcome, finding status) and says what to do.
``Reason`` values sort in the seed's order of checks, so the first of a sorted list is the primary one. Nothing in a
reason is content: ``path`` names a field of our own schema, never a key or value that a stranger chose.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import total_ordering

from pratique.contract.reason_codes import FindingStatus, Outcome, ReasonCode, ReasonMeaning, Severity
from pratique.contract.reason_table import REASONS

__all__ = [
    "REASONS",
    "FindingStatus",
    "Outcome",
    "Reason",
    "ReasonCode",
    "ReasonMeaning",
    "Severity",
    "sorted_reasons",
]


@total_ordering
@dataclass(frozen=True, slots=True)
class Reason:
    """Why one thing was not accepted.

    Attributes:
        code: What was found.
        path: The field it was found in, in our schema's words (``candidate.summary_text``); empty for the whole.
        detector: Who found it (``kingfisher``, ``presidio``, ``grammar``, ``gate`` …).
        severity: How much it matters.
    """

    code: ReasonCode
    path: str
    detector: str
    severity: Severity

    @classmethod
    def of(cls, code: ReasonCode, path: str = "", detector: str = "gate") -> Reason:
        """Return a reason with the table's severity."""
        return cls(code, path, detector, REASONS[code].severity)

    @property
    def meaning(self) -> ReasonMeaning:
        """The code's row in the table."""
        return REASONS[self.code]

    def __lt__(self, other: Reason) -> bool:
        return self._order() < other._order()

    def _order(self) -> tuple[int, str, str, str]:
        return (REASONS[self.code].rank, self.path, self.detector, self.severity.value)


def sorted_reasons(
    reasons: frozenset[Reason] | set[Reason] | tuple[Reason, ...] | list[Reason],
) -> tuple[Reason, ...]:
    """Return the distinct reasons in the seed's order; the first is the primary one."""
    return tuple(sorted(set(reasons)))
