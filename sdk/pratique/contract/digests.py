"""The digests of the published language; ``docs/reference/digests.md`` has the table with a vector for each.

The contract: every function says its exact preimage. Canonical JSON is ``canonical_json``; where a digest is over
ASCII-escaped JSON or plain text instead, that is the seeds' choice and is said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import orjson

from pratique.contract.canonical import JsonValue, bytes_sha256, canonical_sha256, text_sha256
from pratique.contract.records import (
    CompactionRequested,
    CompactionSubject,
    JoinKey,
    MemoryRecalled,
    Origin,
    Role,
    SourceMessage,
)
from pratique.errors import MalformedError


def message_record(message: SourceMessage) -> dict[str, JsonValue]:
    """Return a source message's record (AID-I-004.008 G001): id, role and content, and nothing else."""
    return {"message_id": message.message_id, "role": message.role.value, "content": message.content}


def message_sha256(message: SourceMessage) -> str:
    """Return the canonical digest of a message's record.

    The canonical JSON is put together here, key by key: a request has up to thousands of messages, and each is digested
    by intake and by every worker. A property test holds it to ``canonical_sha256(message_record(message))``.

    Raises:
        MalformedError: A text holds a lone surrogate.
    """
    head = b'{"content":' + _json_bytes(message.content) + b',"message_id":' + _json_bytes(message.message_id)
    return hashlib.sha256(head + _role_end(message.role)).hexdigest()


def source_population_sha256(message_sha256s: Sequence[str]) -> str:
    """Return the canonical digest of the list of message digests, in order."""
    return hashlib.sha256(_json_bytes(list(message_sha256s))).hexdigest()


def recall_population_sha256(keys: Iterable[tuple[str, str, str, str]]) -> str:
    """Return a recall's population digest (AID-D-001.005 G001).

    Preimage: JSON **with** ASCII escaping of the sorted list of [tenant, recall request, entry, version].
    """
    preimage = json.dumps(sorted(keys), separators=(",", ":"))
    return hashlib.sha256(preimage.encode("utf-8")).hexdigest()


def compaction_subject_sha256(candidate_json: str) -> str:
    """Return the digest of the candidate's raw bytes, which need not parse."""
    return text_sha256(candidate_json)


def recall_subject_sha256(contents: Iterable[tuple[str, str, str]]) -> str:
    """Return the canonical digest of the sorted list of [entry, version, content digest]."""
    return canonical_sha256([list(item) for item in sorted(contents)])


def finding_json(finding: Mapping[str, JsonValue]) -> str:
    """Return a recall finding's one JSON text (AID-D-001.005 G001): sorted keys, **with** ASCII escaping.

    Raises:
        ValueError: A number in it is not finite.
    """
    return json.dumps(finding, sort_keys=True, separators=(",", ":"), allow_nan=False)


def finding_id(finding: Mapping[str, JsonValue]) -> str:
    """Return a recall finding's identity: the digest of ``finding_json`` without ``observed_at``.

    What was found does not depend on when, so a finding that is stated again has the same id.
    """
    stated = {name: value for name, value in finding.items() if name != "observed_at"}
    return hashlib.sha256(finding_json(stated).encode("ascii")).hexdigest()


def request_sha256(value: bytes) -> str:
    """Return the digest of a request's value as published."""
    return bytes_sha256(value)


def compaction_join_key(
    request: CompactionRequested | CompactionSubject, value: bytes, population_sha256: str | None
) -> JoinKey:
    """Return the join key of a compaction.

    Args:
        request: The decoded request, or the part of it that says what it is about.
        value: The request as published.
        population_sha256: Digest of the source population; null where the messages are malformed.
    """
    return JoinKey(
        request.tenant_id,
        Origin.COMPACTION,
        request.compaction_request_id,
        population_sha256,
        compaction_subject_sha256(request.candidate_json),
        request_sha256(value),
    )


def recall_join_key(request: MemoryRecalled, value: bytes) -> JoinKey:
    """Return the join key of a recall: population from the loader's manifest, subject from the contents."""
    population = recall_population_sha256(
        (request.tenant_id, request.recall_request_id, item.entry_id, item.memory_version)
        for item in request.expected_entries
    )
    subject = recall_subject_sha256(
        (item.entry_id, item.memory_version, text_sha256(item.content)) for item in request.entries
    )
    return JoinKey(
        request.tenant_id, Origin.RECALL, request.recall_request_id, population, subject, request_sha256(value)
    )


_USER: Final = Role.USER
_ASSISTANT: Final = Role.ASSISTANT


def _role_end(role: Role) -> bytes:
    """Return how a message's record ends. Compared by identity: an enumeration's hash costs more than the rest."""
    if role is _USER:
        return b',"role":"user"}'
    return b',"role":"assistant"}' if role is _ASSISTANT else b',"role":"tool"}'


def _json_bytes(value: str | list[str]) -> bytes:
    """Return canonical JSON in UTF-8; for texts alone, of which orjson's is the same as ``canonical_json``'s."""
    try:
        return orjson.dumps(value)
    except TypeError:
        raise MalformedError("text holds a lone surrogate; send well-formed Unicode") from None
