"""Reads ``concepts.txt`` and compiles it to the keys that the detector looks for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from streams.adapters.injection.concepts import ANYWHERE, LONG, LONGEST, SHORTEST, WHOLE, Stems
from streams.adapters.injection.folding import FoldTable
from streams.adapters.injection.grams import Hashes, prefix_hashes, without_digits

CONCEPTS: Final = Path(__file__).parent / "concepts.txt"

_FIRST_SPACELESS: Final = 0x2E80
_ARABIC: Final = range(0x600, 0x700)
_LONG_ARABIC: Final = 4


def read_concepts(path: Path = CONCEPTS) -> dict[str, list[tuple[str, str]]]:
    """Return the stems of each concept, each with its language."""
    concepts: dict[str, list[tuple[str, str]]] = {}
    current: list[tuple[str, str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            current = concepts.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            language, _, stems = line.partition(":")
            current += [(language, stem.strip()) for stem in stems.replace(",,", "\0").split(",") if stem.strip()]
    return {name: [(language, stem.replace("\0", ",")) for language, stem in stems] for name, stems in concepts.items()}


def compile_stems(concepts: dict[str, list[tuple[str, str]]], table: FoldTable) -> tuple[Stems, Hashes]:
    """Return the stems, sorted by key, and the hashes of their beginnings."""
    rows = set()
    for index, stems in enumerate(concepts.values()):
        for _, stem in stems:
            flags = (ANYWHERE if stem.startswith("*") else 0) | (WHOLE if stem.endswith("$") else 0)
            codes = without_digits(table.fold(stem.removeprefix("*").removesuffix("$")).codes)
            if not SHORTEST <= codes.size <= LONGEST:
                continue
            if not flags & WHOLE and _spaceless(int(codes[0]), codes.size):
                flags |= ANYWHERE
            prefixes = prefix_hashes(codes)
            rows.add(
                (
                    int(prefixes[-1]),
                    int(codes.size),
                    flags,
                    index,
                    int(prefixes[LONG if codes.size >= LONG else SHORTEST]),
                )
            )
    ordered = sorted(rows)
    keys, lengths, flags_, indices, beginnings = zip(*ordered, strict=True)
    stems_ = Stems(
        np.array(keys, np.uint64), np.array(lengths, np.uint8), np.array(flags_, np.uint8), np.array(indices, np.uint8)
    )
    return stems_, np.array(beginnings, np.uint64)


def _spaceless(code: int, length: int) -> bool:
    return code >= _FIRST_SPACELESS or (code in _ARABIC and length >= _LONG_ARABIC)
