"""Signals of attacks as rules: families of patterns in many languages, each in a file with hits and near misses.

The contract: ``find`` says which family of rules a reading of a text shows, and where. Patterns are matched by RE2, in
time linear in the text, against folded text: they are folded themselves, letter by letter, and know neither case nor
accents nor disguise. A family is made for wordings that hardly anything honest has; what is less sure is left to the
model. The digest covers every file, so that policy pins the rules with the model.

A file of ``signals/`` is JSON: ``family``, ``about``, and by language ``patterns``, ``hits`` and ``near_misses``, the
last two in base64, so that no agent that reads this repository reads an instruction. ``hits`` and ``near_misses`` are
for tests alone.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import re2

from pratique.contract.canonical import canonical_sha256
from pratique.errors import ConfigurationError
from streams.adapters.injection.folding import Codes, FoldTable

DIRECTORY: Final = Path(__file__).parent / "signals"

ANY: Final = "any"
"""Stands for a language where patterns are of none."""

_ASCII: Final = 0x80
_MEMORY_BYTES: Final = 4 << 20
"""Most that RE2 keeps of a pattern's automaton; it makes it anew beyond that, and stays linear."""


class Family(NamedTuple):
    """One family of rules.

    Attributes:
        name: What findings call it.
        patterns: By language; ``ANY`` for what is of none.
    """

    name: str
    patterns: dict[str, list[str]]


class Signal(NamedTuple):
    """Where a rule of a family matches.

    Attributes:
        family: Its name.
        start: First code point of the folded text.
        end: Last-plus-one.
    """

    family: str
    start: int
    end: int


class Signals:
    """The rules, compiled.

    Args:
        families: Which.
        table: Folds patterns as texts are folded.

    Raises:
        ConfigurationError: A pattern is none.
    """

    def __init__(self, families: Sequence[Family], table: FoldTable) -> None:
        options = _options()
        self._filter = re2.Filter()
        self._families: list[str] = []
        for family in families:
            for pattern in itertools.chain.from_iterable(family.patterns.values()):
                try:
                    self._filter.Add(table.fold_letters(pattern).encode("utf-8"), options)
                except re2.error:
                    raise ConfigurationError(f"signals: a pattern of {family.name} is none") from None
                self._families.append(family.name)
        self._filter.Compile()

    def find(self, codes: Codes) -> Signal | None:
        """Return the first rule, in the order of files and of patterns in them, that a folded text shows."""
        if codes.size and int(codes.max()) < _ASCII:
            raw = codes.astype(np.uint8).tobytes()
        else:
            raw = codes.astype("<u4").tobytes().decode("utf-32-le", "replace").encode("utf-8")
        # Hardly any honest text has the literals that a pattern needs; only the others are searched by the pattern.
        for index in sorted(self._filter.Match(raw, potential=True) or ()):
            found = self._filter.re(index).search(raw)
            if found is not None:
                start, end = (len(raw[:place].decode("utf-8", "replace")) for place in found.span())
                return Signal(self._families[index], start, end)
        return None


def read_families(directory: Path = DIRECTORY) -> tuple[list[Family], str]:
    """Read the families of a directory, by name, and the digest of all that is in their files.

    Raises:
        ConfigurationError: A file can't be read or is no family of rules.
    """
    bodies = [read_body(path) for path in sorted(directory.glob("*.json"))]
    families = [Family(body["family"], body["patterns"]) for body in bodies]
    return families, canonical_sha256(bodies)


def read_body(path: Path) -> dict[str, Any]:
    """Read a file of rules as it stands.

    Raises:
        ConfigurationError: It can't be read or is no family of rules.
    """
    try:
        body: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if body["family"] != path.stem or not all(body["patterns"].values()):
            raise ConfigurationError(f"signals: {path.name} is no family of rules")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"signals: {path.name} can't be read; install it anew") from error
    return body


def _options() -> Any:  # noqa: ANN401 - re2 comes without types
    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    options.never_capture = True
    options.log_errors = False
    return options


@cache
def packaged_families() -> tuple[tuple[Family, ...], str]:
    """Return the packaged families and their digest, read once."""
    families, sha256 = read_families()
    return tuple(families), sha256
