"""Masking what a verdict names in a summary, a narrative or memories, so that the rest may be asked about again.

The contract: only where masking is all that is needed: every reason is a secret or personal data, and names its stretch
of the text (``candidate.summary_text[3:9]``, in characters). Anything else that was found, or is not named, is no
business of a mask. Masked stretches are replaced whole; nothing else changes. Of memories each stands for itself: one
with another reason stays as it is. A masked memory is another content, and says so: its version is one of its own.

It decides nothing: what was masked is a candidate or a memory like any other, and the gate judges it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_json, parse_json, text_sha256
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.contract.reason_codes import ReasonCode
from pratique.contract.records import MemoryEntry, MemoryRecalled, StatedReason
from pratique.errors import MalformedError

MASK: Final = "[redacted]"
"""What stands where something was masked."""

MASKABLE: Final = frozenset({ReasonCode.SECRET.value, ReasonCode.PII.value})
"""Codes of what a mask can mend."""

_STRETCH: Final = re.compile(rf"candidate\.(summary_text|{NARRATIVE_FIELD})\[([0-9]{{1,9}}):([0-9]{{1,9}})\]")
_OF_MEMORY: Final = re.compile(r"entries\[([0-9]{1,4})\]\.content(?:\[([0-9]{1,9}):([0-9]{1,9})\])?")

LONGEST_VERSION: Final = 256
"""Characters of an identity that the gate takes."""


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


def redacted_recall(
    request: MemoryRecalled, reasons: Iterable[StatedReason], *, request_id: str, requested_at: int
) -> MemoryRecalled | None:
    """Return a recall to make after the answer to another: the memories that masking can mend are masked.

    Args:
        request: The recall that was quarantined.
        reasons: Why it was.
        request_id: The new request's id.
        requested_at: When it is made, in milliseconds.

    Returns:
        The new recall; null where masking mends no memory, or where something is wrong that is not one memory's.
    """
    named: dict[int, list[tuple[int, int] | None]] = {}
    for reason in reasons:
        place = _OF_MEMORY.fullmatch(reason.path)
        if place is None:
            return None
        stretch = (int(place[2]), int(place[3])) if place[2] and reason.code in MASKABLE else None
        named.setdefault(int(place[1]), []).append(stretch)
    entries, versions = list(request.entries), dict[tuple[str, str], str]()
    for at, stretches in named.items():
        masked = _masked_memory(entries[at], stretches) if at < len(entries) else None
        if masked is not None:
            versions[entries[at].entry_id, entries[at].memory_version] = masked.memory_version
            entries[at] = masked
    if not versions:
        return None
    old = request.recall_request_id
    return replace(
        request,
        recall_request_id=request_id,
        requested_at=requested_at,
        entries=tuple(
            replace(item, recall_request_id=request_id) if item.recall_request_id == old else item for item in entries
        ),
        expected_entries=tuple(
            replace(item, memory_version=versions.get((item.entry_id, item.memory_version), item.memory_version))
            for item in request.expected_entries
        ),
    )


def _masked_memory(entry: MemoryEntry, stretches: Iterable[tuple[int, int] | None]) -> MemoryEntry | None:
    named = list[tuple[int, int]]()
    for stretch in stretches:
        if stretch is None or not stretch[0] < stretch[1] <= len(entry.content):
            return None
        named.append(stretch)
    content = _masked(entry.content, named)
    version = f"{entry.memory_version}+masked.{text_sha256(content)[:16]}"
    return None if len(version) > LONGEST_VERSION else replace(entry, memory_version=version, content=content)


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
