"""Requests and verdicts as plain JSON, for scripts in any language (``pratique submit``).

The contract: a request is ``{"kind": "compaction", …}`` with the record's fields; ``candidate_json`` is a text,
``commitments`` the DSSE envelope as a JSON object or null. A field that is unknown or of another type is refused with
its name; an empty or repeated id is not, since judging it is the gate's. A verdict is the record's fields, times as
milliseconds, enumerations as their names.

A recall is ``{"kind": "recall", …}`` with the record's fields; an entry that does not say whose it is, or which request
it was recalled for, is the request's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Final, TypeVar

from pratique.contract.canonical import JsonValue, canonical_bytes
from pratique.contract.records import (
    CompactionRequested,
    ExpectedEntry,
    MemoryEntry,
    MemoryRecalled,
    Provenance,
    Role,
    SourceMessage,
    Verdict,
)
from pratique.errors import MalformedError

_FIELDS: Final = frozenset(
    {
        "kind",
        "tenant_id",
        "task_id",
        "compaction_request_id",
        "requested_at",
        "policy_id",
        "source_messages",
        "candidate_json",
        "expected_invariant_ids",
        "expected_commitment_ids",
        "commitments",
        "lineage",
        "trace_context",
    }
)
_MESSAGE_FIELDS: Final = frozenset({"message_id", "role", "content", "provenance"})

_RECALL_FIELDS: Final = frozenset(
    {
        "kind",
        "tenant_id",
        "task_id",
        "recall_request_id",
        "requested_at",
        "policy_id",
        "entries",
        "expected_entries",
        "trace_context",
    }
)
_ENTRY_FIELDS: Final = frozenset(
    {"tenant_id", "recall_request_id", "entry_id", "memory_version", "content", "provenance"}
)

EnumT = TypeVar("EnumT", bound=Enum)


def is_recall(value: JsonValue) -> bool:
    """Say whether a line asks about a recall."""
    return isinstance(value, Mapping) and value.get("kind") == "recall"


def request_from_json(value: JsonValue, *, defaults: Mapping[str, JsonValue]) -> CompactionRequested:
    """Read a compaction request.

    Args:
        value: The parsed line.
        defaults: What stands for a field that the line leaves out (``requested_at``, a request id, policy's ids).

    Raises:
        MalformedError: It is no request; the message names the field.
    """
    if not isinstance(value, Mapping):
        raise MalformedError("line is no JSON object")
    if value.get("kind") == "recall":
        raise MalformedError("field kind is recall, a compaction was expected")
    if value.get("kind") != "compaction":
        raise MalformedError("field kind is not compaction or recall")
    if not value.keys() <= _FIELDS:
        raise MalformedError("line has a field that CompactionRequested does not have")
    line = {"commitments": None, "lineage": [], "trace_context": {}, **defaults, **value}
    return CompactionRequested(
        tenant_id=_text(line, "tenant_id"),
        task_id=_text(line, "task_id"),
        compaction_request_id=_text(line, "compaction_request_id"),
        requested_at=_integer(line, "requested_at"),
        policy_id=_text(line, "policy_id"),
        source_messages=tuple(map(_message, _items(line, "source_messages"))),
        candidate_json=_text(line, "candidate_json"),
        expected_invariant_ids=_texts(line, "expected_invariant_ids"),
        expected_commitment_ids=_texts(line, "expected_commitment_ids"),
        commitments=_commitments(line["commitments"]),
        lineage=_texts(line, "lineage"),
        trace_context=_text_map(line, "trace_context"),
    )


def recall_from_json(value: JsonValue, *, defaults: Mapping[str, JsonValue]) -> MemoryRecalled:
    """Read a recall.

    Args:
        value: The parsed line.
        defaults: What stands for a field that the line leaves out (``requested_at``, a request id).

    Raises:
        MalformedError: It is no recall; the message names the field.
    """
    if not isinstance(value, Mapping) or value.get("kind") != "recall":
        raise MalformedError("line is no JSON object of kind recall")
    if not value.keys() <= _RECALL_FIELDS:
        raise MalformedError("line has a field that MemoryRecalled does not have")
    line = {"trace_context": {}, **defaults, **value}
    tenant_id, request_id = _text(line, "tenant_id"), _text(line, "recall_request_id")
    own: dict[str, JsonValue] = {"tenant_id": tenant_id, "recall_request_id": request_id}
    return MemoryRecalled(
        tenant_id=tenant_id,
        task_id=_text(line, "task_id"),
        recall_request_id=request_id,
        requested_at=_integer(line, "requested_at"),
        policy_id=_text(line, "policy_id"),
        entries=tuple(_memory(item, own) for item in _items(line, "entries")),
        expected_entries=tuple(map(_expected, _items(line, "expected_entries"))),
        trace_context=_text_map(line, "trace_context"),
    )


def verdict_to_json(verdict: Verdict) -> dict[str, JsonValue]:
    """Return a verdict as JSON."""
    return {item.name: _plain(getattr(verdict, item.name)) for item in fields(verdict)}


def _plain(value: object) -> JsonValue:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    raise TypeError(f"no JSON form for {type(value).__name__}")


def _message(value: JsonValue) -> SourceMessage:
    if not isinstance(value, Mapping) or not value.keys() <= _MESSAGE_FIELDS:
        raise MalformedError("a source message is no object of message_id, role, content and provenance")
    line: Mapping[str, JsonValue] = {"provenance": Provenance.UNTRUSTED.value, **value}
    return SourceMessage(
        _text(line, "message_id"),
        _member(line, "role", Role),
        _text(line, "content"),
        _member(line, "provenance", Provenance),
    )


def _memory(value: JsonValue, own: Mapping[str, JsonValue]) -> MemoryEntry:
    if not isinstance(value, Mapping) or not value.keys() <= _ENTRY_FIELDS:
        raise MalformedError("an entry is no object of entry_id, memory_version, content, provenance and whose it is")
    line: Mapping[str, JsonValue] = {"provenance": Provenance.UNTRUSTED.value, **own, **value}
    return MemoryEntry(
        _text(line, "tenant_id"),
        _text(line, "recall_request_id"),
        _text(line, "entry_id"),
        _text(line, "memory_version"),
        _text(line, "content"),
        _member(line, "provenance", Provenance),
    )


def _expected(value: JsonValue) -> ExpectedEntry:
    if not isinstance(value, Mapping) or value.keys() != {"entry_id", "memory_version"}:
        raise MalformedError("an expected entry is no object of entry_id and memory_version")
    return ExpectedEntry(_text(value, "entry_id"), _text(value, "memory_version"))


def _member(line: Mapping[str, JsonValue], name: str, members: Callable[[str], EnumT]) -> EnumT:
    try:
        return members(_text(line, name))
    except ValueError:
        raise MalformedError(f"field {name} of a source message or entry is none of its names") from None


def _text(line: Mapping[str, JsonValue], name: str) -> str:
    value = line.get(name)
    if not isinstance(value, str):
        raise MalformedError(f"field {name} is no text")
    return value


def _integer(line: Mapping[str, JsonValue], name: str) -> int:
    value = line.get(name)
    if type(value) is not int:
        raise MalformedError(f"field {name} is no integer")
    return value


def _items(line: Mapping[str, JsonValue], name: str) -> Sequence[JsonValue]:
    value = line.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise MalformedError(f"field {name} is no list")
    return value


def _texts(line: Mapping[str, JsonValue], name: str) -> tuple[str, ...]:
    values = _items(line, name)
    if not all(isinstance(item, str) for item in values):
        raise MalformedError(f"field {name} is no list of texts")
    return tuple(str(item) for item in values)


def _text_map(line: Mapping[str, JsonValue], name: str) -> dict[str, str]:
    value = line.get(name)
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value.values()):
        raise MalformedError(f"field {name} is no object of texts")
    return {key: str(item) for key, item in value.items()}


def _commitments(value: JsonValue) -> bytes | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise MalformedError("field commitments is no DSSE envelope as a JSON object")
    return canonical_bytes(value)
