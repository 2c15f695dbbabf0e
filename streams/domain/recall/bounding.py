"""Reasons in bounds: a recall has up to hundreds of entries, and evidence is small.

The contract: every code that was stated keeps at least one reason, and the first in the seed's order stays the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pratique.contract.reasons import Reason, sorted_reasons

MAX_REASONS: Final = 64
"""Most reasons of one statement; the statement itself names every entry."""


def bounded(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Return the distinct reasons, sorted, at most ``MAX_REASONS``."""
    found = sorted_reasons(set(reasons))
    if len(found) <= MAX_REASONS:
        return found
    first_of_code = {reason.code: reason for reason in reversed(found)}
    others = [reason for reason in found if first_of_code[reason.code] != reason]
    return sorted_reasons([*first_of_code.values(), *others[: MAX_REASONS - len(first_of_code)]])
