"""Masking what a verdict names in a summary or narrative, so that the rest of it may be asked about again.

The contract: only where masking is all that is needed: every reason is a secret or personal data, and names its stretch
of the text (``candidate.summary_text[3:9]``, in characters). Anything else that was found, or is not named, is no
business of a mask. Masked stretches are replaced whole; nothing else of the candidate changes.

It decides nothing: the masked candidate is a candidate like any other, and the gate judges it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_json, parse_json
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.contract.reason_codes import ReasonCode
from pratique.contract.records import StatedReason
from pratique.errors import MalformedError

MASK: Final = "[redacted]"
"""What stands where something was masked."""

MASKABLE: Final = frozenset({ReasonCode.SECRET.value, ReasonCode.PII.value})
"""Codes of what a mask can mend."""

_STRETCH: Final = re.compile(rf"candidate\.(summary_text|{NARRATIVE_FIELD})\[([0-9]{{1,9}}):([0-9]{{1,9}})\]")


def redacted(candidate_json: str, reasons: Iterable[StatedReason]) -> str | None:
    """Return a candidate with everything masked that reasons name in its summary and narrative.

    Args:
        candidate_json: The candidate that was quarantined.
        reasons: Why it was.

    Returns:
        The masked candidate; null where masking alone can't mend it, or there is nothing to mask.
    """
    named: dict[str, list[tuple[int, int]]] = {}
    for reason in reasons:
        place = _STRETCH.fullmatch(reason.path)
        if reason.code not in MASKABLE or place is None:
            return None
        named.setdefault(place[1], []).append((int(place[2]), int(place[3])))
    try:
        candidate = parse_json(candidate_json)
    except MalformedError:
        return None
    if not isinstance(candidate, Mapping) or not named:
        return None
    masked: dict[str, JsonValue] = {}
    for field, stretches in named.items():
        text = candidate.get(field)
        if not isinstance(text, str) or not all(start < end <= len(text) for start, end in stretches):
            return None
        masked[field] = _masked(text, stretches)
    return canonical_json({**candidate, **masked})


def _masked(text: str, stretches: Iterable[tuple[int, int]]) -> str:
    pieces, done = list[str](), 0
    for start, end in _joined(stretches):
        pieces += [text[done:start], MASK]
        done = end
    return "".join([*pieces, text[done:]])


def _joined(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches in order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
