"""The hits and near misses of each word table: ``samples/<language>.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

SAMPLES: Final[dict[str, Any]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "samples").glob("*.json"))
}


def sentences(kind: str) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a kind (``hits``, ``near_misses``) with its language."""
    for language, table in SAMPLES.items():
        yield from ((language, text) for text in table[kind])
