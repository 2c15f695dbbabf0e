"""Make ``corpora/``, a sample of the development corpora: ``python -m tests.samples.generate_corpora``.

The contract: the same corpora and ``SEED`` give the same bytes. Rows are taken by stratum (kind, language, disguise,
form, filler, hard or borderline), each in proportion to the square root of its size, so that small ones are seen, and
within a stratum by the digest of seed and id. Every text is in ``text_b64``, so that no scanner of repositories reads a
token here; keys that an evaluation does not use are left out, and so are long texts, to keep the sample small.

``PRATIQUE_CORPORA`` names the folder of the corpora, ``../shared/corpora`` beside the checkout otherwise.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.samples.generate import CORPORA

PLACE: Final = Path(__file__).resolve().parent / "corpora"
SEED: Final = "pratique-sample-1"

ROWS: Final = {
    ("secrets", "detect"): 240,
    ("secrets", "clean"): 120,
    ("pii", "detect"): 220,
    ("pii", "clean"): 110,
    ("injection", "detect"): 210,
    ("benign", "clean"): 230,
}
"""How many rows are taken of each folder and label."""

MAX_TEXT_BYTES: Final = 440
_KEPT: Final = (
    *("id", "source", "licence", "kind", "lang", "label", "category", "form"),
    *("obfuscation", "difficulty", "borderline", "placeholder_like"),
)
_STRATA: Final = ("kind", "lang", "obfuscation", "form", "placeholder_like", "difficulty", "borderline")
_GROUP: Final = 12

Row = dict[str, Any]


def main() -> int:
    """Write the sample; return 0, or 3 where the corpora are not there."""
    if not (CORPORA / "secrets").is_dir():
        sys.stderr.write(f"no corpora in {CORPORA}: set PRATIQUE_CORPORA\n")
        return 3
    taken: dict[str, list[Row]] = defaultdict(list)
    for (folder, label), count in ROWS.items():
        taken[folder] += sample([row for row in read(folder) if row["label"] == label], count)
    for folder, rows in taken.items():
        (PLACE / folder).mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(row, ensure_ascii=False) for row in sorted(rows, key=lambda row: str(row["id"]))]
        (PLACE / folder / "sample.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    manifest = {"seed": SEED, "longest_text_bytes": MAX_TEXT_BYTES, "sources": sources(taken)}
    (PLACE / "MANIFEST.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def read(folder: str) -> Iterator[Row]:
    """Yield a folder's rows that are short enough, as the sample holds them."""
    for path in sorted((CORPORA / folder).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            row = json.loads(line)
            text = base64.b64decode(row["text_b64"]) if "text_b64" in row else row["text"].encode()
            if text.strip() and len(text) <= MAX_TEXT_BYTES:
                kept = {key: row[key] for key in _KEPT if row.get(key) is not None}
                yield {**kept, "text_b64": spaced(text)}


def spaced(text: bytes) -> str:
    """Return a text in base64 with a space every 12 characters."""
    encoded = base64.b64encode(text).decode("ascii")
    return " ".join(encoded[at : at + _GROUP] for at in range(0, len(encoded), _GROUP))


def sample(rows: list[Row], count: int) -> list[Row]:
    """Return about ``count`` rows: of each stratum its share, at least one."""
    strata: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        strata[tuple(row.get(key) for key in _STRATA)].append(row)
    unit = count / sum(math.sqrt(len(rows)) for rows in strata.values())
    taken: list[Row] = []
    for _, found in sorted(strata.items(), key=lambda item: str(item[0])):
        found.sort(key=lambda row: hashlib.sha256(f"{SEED}/{row['id']}".encode()).hexdigest())
        taken += found[: max(1, round(unit * math.sqrt(len(found))))]
    return taken


def sources(taken: dict[str, list[Row]]) -> list[Row]:
    """Return where the rows are from, under which licences."""
    counts = Counter(
        (folder, str(row["source"]).partition(":")[0], str(row["licence"])) for folder in taken for row in taken[folder]
    )
    return [
        {"folder": folder, "source": source, "licence": licence, "rows": count}
        for (folder, source, licence), count in sorted(counts.items())
    ]


if __name__ == "__main__":
    sys.exit(main())
