"""Reads the development corpora: rows of texts that are attacks, and of texts that are none.

Nothing here changes a row. Which rows a source gave is kept, since a source is either learnt from or measured on.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

INJECTION: Final = ("injection/positives_public.jsonl", "injection/positives_authored_memory_multilingual.jsonl")
BENIGN: Final = (
    "benign/benign_public.jsonl",
    "benign/benign_authored_memory_multilingual.jsonl",
    "benign/benign_encoded.jsonl",
)


@dataclass(frozen=True, slots=True)
class Row:
    """One text.

    Attributes:
        id: The row's id.
        text: The text.
        attack: Whether it is one.
        group: The repository it came from.
        lang: Language tag.
        category: The corpus's own.
        corpus: Which file, or ``transcripts``.
        licence: SPDX expression, as the corpus states it.
        hard: Whether the corpus marks it as semantically hard.
        obfuscation: The disguise that was put on it, or nothing.
    """

    id: str
    text: str
    attack: bool
    group: str
    lang: str
    category: str
    corpus: str
    licence: str
    hard: bool = False
    obfuscation: str = ""


def honest(name: str, text: str, *, lang: str, group: str, corpus: str, licence: str) -> Row:
    """Return a text of another kind than the corpora's, which attacks nobody; its corpus is its category."""
    return Row(name, text, attack=False, group=group, lang=lang, category=corpus, corpus=corpus, licence=licence)


def read_rows(corpora: Path) -> list[Row]:
    """Return the rows that the injection detector is measured on, in the files' order."""
    rows = [_row(body, name) for name in (*INJECTION, *BENIGN) for body in _bodies(corpora / name)]
    return [row for row in rows if row.text.strip()]


def read_transcripts(corpora: Path) -> list[Row]:
    """Return the messages of the clean agent transcripts, each a text that is no attack; its category is its role."""
    rows = []
    for body in _bodies(corpora / "transcripts/transcripts.jsonl"):
        if body["label"] != "clean":
            continue
        for index, message in enumerate(body["messages"]):
            if message["content"].strip():
                changed = {"id": f"{body['id']}/{index}", "text": message["content"], "category": message["role"]}
                rows.append(_row({**body, **changed}, "transcripts"))
    return rows


def read_side(corpora: Path) -> list[Row]:
    """Return texts of the other corpora, which are about secrets and personal data and attack nobody."""
    names = ("pii/negatives.jsonl", "pii/positives.jsonl", "secrets/negatives_lookalikes.jsonl")
    return [_row({**body, "label": "clean"}, name) for name in names for body in _bodies(corpora / name)]


def _bodies(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def _row(body: dict[str, Any], corpus: str) -> Row:
    text = body["text"] if "text" in body else base64.b64decode(body["text_b64"]).decode("utf-8")
    return Row(
        id=body["id"],
        text=text,
        attack=body["label"] == "detect",
        group=body["source"].split(":")[0].split(" x ")[0],
        lang=body["lang"],
        category=body["category"],
        corpus=corpus,
        licence=body["licence"],
        hard=body.get("difficulty") == "hard",
        obfuscation=body.get("obfuscation", ""),
    )
