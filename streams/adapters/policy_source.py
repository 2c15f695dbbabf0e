"""A policy's source directory: plain JSON files that an operator edits.

The contract: ``compaction.json``, ``invariants.json``, ``grammar.json``, ``scan.json``, ``recall.json`` are needed;
``commitments/<tenant>.json`` and ``trust.json`` are optional. Files are read as strictly as requests are (a key twice
is refused), since a policy with two answers to one question is a trap for its author. What they mean is
``streams.domain.policy.publication``.
"""

from __future__ import annotations

import json
from pathlib import Path

from pratique.contract.canonical import JsonValue, parse_json
from pratique.errors import MalformedError
from streams.domain.policy.publication import PolicySource
from streams.domain.policy.sets import MAX_DOCUMENT_BYTES
from streams.errors import ConfigurationError, PolicyError


def read_source(directory: Path) -> PolicySource:
    """Read a source directory.

    Raises:
        ConfigurationError: A file that is needed is missing, or can't be read.
        PolicyError: A file is no strict JSON.
    """
    if not directory.is_dir():
        raise ConfigurationError(f"policy source {directory} is no directory")
    trust = directory / "trust.json"
    commitments = sorted((directory / "commitments").glob("*.json"))
    return PolicySource(
        compaction=read_json(directory / "compaction.json"),
        invariants=read_json(directory / "invariants.json"),
        grammar=read_json(directory / "grammar.json"),
        scan=read_json(directory / "scan.json"),
        recall=read_json(directory / "recall.json"),
        commitments={path.stem: read_json(path) for path in commitments},
        trust=read_json(trust) if trust.exists() else None,
    )


def read_json(path: Path) -> JsonValue:
    """Read one file of a source.

    Raises:
        ConfigurationError: It is missing, or can't be read.
        PolicyError: It is no strict JSON.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"policy source file {path} can't be read: {error.strerror}") from None
    try:
        return parse_json(content, max_bytes=MAX_DOCUMENT_BYTES)
    except MalformedError as error:
        raise PolicyError(f"policy source file {path}: {error}") from None


def write_json(path: Path, value: JsonValue) -> None:
    """Write a file of a source, indented for people.

    Raises:
        ConfigurationError: It can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"policy source file {path} can't be written: {error.strerror}") from None
