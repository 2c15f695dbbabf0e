"""Recalled memories from what loaders hold, and what of them a verdict admits.

The contract: an entry keeps the identity it was stored under; what a mapping leaves out is the request's own. Nothing
is reconciled here: an entry of another tenant is sent as such, and the gate says what it is. ``admitted`` hashes every
content again and returns exactly the entries that the verdict admits, in the request's order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pratique.contract.canonical import text_sha256
from pratique.contract.records import (
    Disposition,
    ExpectedEntry,
    MemoryEntry,
    MemoryRecalled,
    Provenance,
    Verdict,
)
from pratique.errors import MalformedError, VerdictRefusedError

Entries = Sequence[MemoryEntry | Mapping[str, object]]
Expectations = Sequence[ExpectedEntry | Mapping[str, object] | tuple[str, str]]

_ENTRY_TEXTS = ("tenant_id", "recall_request_id", "entry_id", "memory_version", "content")


def memory_entries(entries: Entries, *, tenant_id: str, recall_request_id: str) -> tuple[MemoryEntry, ...]:
    """Return entries as records.

    Args:
        entries: Records, or mappings with ``entry_id``, ``memory_version`` and ``content`` (and ``provenance``,
            ``tenant_id``, ``recall_request_id``).
        tenant_id: Whose an entry is that does not say.
        recall_request_id: Which request an entry was recalled for that does not say.

    Raises:
        MalformedError: One lacks a field, has an unknown one, or holds what is no text.
    """
    defaults = {"tenant_id": tenant_id, "recall_request_id": recall_request_id}
    return tuple(
        item if isinstance(item, MemoryEntry) else _entry(place, {**defaults, **item})
        for place, item in enumerate(entries)
    )


def expected_entries(expected: Expectations) -> tuple[ExpectedEntry, ...]:
    """Return the loader's manifest as records.

    Args:
        expected: Records, pairs of id and version, or mappings with ``entry_id`` and ``memory_version``.

    Raises:
        MalformedError: One lacks a field, has an unknown one, or holds what is no text.
    """
    return tuple(_expected(place, item) for place, item in enumerate(expected))


def admitted(request: MemoryRecalled, verdict: Verdict) -> list[MemoryEntry]:
    """Return the entries that a believed verdict admits.

    Raises:
        VerdictRefusedError: What it admits is not what was asked about.
    """
    rows = verdict.entries or ()
    if not any(row.disposition is Disposition.ADMITTED for row in rows):
        return []
    if len(rows) != len(request.entries):
        raise VerdictRefusedError("verdict is of other entries", check="binding")
    memories = []
    for entry, row in zip(request.entries, rows, strict=True):
        stated = (row.entry_id, row.memory_version, row.content_sha256)
        if stated != (entry.entry_id, entry.memory_version, text_sha256(entry.content)):
            raise VerdictRefusedError("memory is not the one that was judged", check="binding")
        if row.disposition is Disposition.ADMITTED:
            memories.append(entry)
    return memories


def _entry(place: int, value: Mapping[str, object]) -> MemoryEntry:
    fields = dict(value)
    try:
        provenance = Provenance(fields.pop("provenance", Provenance.UNTRUSTED.value))
    except ValueError:
        raise MalformedError(f"memory {place} has a provenance that is none", code="MESSAGE_INVALID") from None
    if fields.keys() != set(_ENTRY_TEXTS):
        raise MalformedError(f"memory {place} needs entry_id, memory_version and content", code="MESSAGE_INVALID")
    texts = [fields[name] for name in _ENTRY_TEXTS]
    tenant_id, request_id, entry_id, version, content = (_text(text, f"memory {place}") for text in texts)
    return MemoryEntry(tenant_id, request_id, entry_id, version, content, provenance)


def _expected(place: int, item: ExpectedEntry | Mapping[str, object] | tuple[str, str]) -> ExpectedEntry:
    if isinstance(item, ExpectedEntry):
        return item
    where = f"expected memory {place}"
    if isinstance(item, Mapping):
        if item.keys() != {"entry_id", "memory_version"}:
            raise MalformedError(f"{where} needs entry_id and memory_version", code="MESSAGE_INVALID")
        return ExpectedEntry(_text(item["entry_id"], where), _text(item["memory_version"], where))
    entry_id, version = item
    return ExpectedEntry(_text(entry_id, where), _text(version, where))


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise MalformedError(f"{where} holds what is no text, or an empty one", code="MESSAGE_INVALID")
    return value
