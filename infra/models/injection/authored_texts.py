"""Reads the texts that were written for the model, and expands them to their readings.

A line is ``{either|or}`` prose; each is expanded to at most a few of its readings, drawn from a seeded generator. Lines
of attacks are kept in base64, so that no agent that reads this repository reads an instruction. ``python -m
infra.models.injection.authored_texts`` prints them.
"""

from __future__ import annotations

import base64
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from infra.models.injection.corpora import Row

AUTHORED: Final = Path(__file__).parent / "authored"
GROUP: Final = "written for this model"

EMBEDDED: Final = "embedded/"
"""Before the id of a text that stands among others."""

_CHOICE: Final = re.compile(r"\{([^{}]*\|[^{}]*)\}")
_ENCODED: Final = ".b64"
_EMBEDDED_SHARE: Final = 0.35
_FOREIGN_SHARE: Final = 0.15
"""How often what stands around a text is of any language: whoever attacks need not write as the page does."""


def read_authored(readings: int = 8, *, seed: int) -> list[Row]:
    """Return the readings of all lines.

    Args:
        readings: Most readings of a line.
        seed: Of the generator that draws them.
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    rows = []
    for path in sorted(AUTHORED.iterdir()):
        for number, (lang, line) in enumerate(read_lines(path)):
            rows += [
                Row(
                    id=f"{path.stem}/{number}/{index}",
                    text=text,
                    attack=path.suffix == _ENCODED,
                    group=GROUP,
                    lang=lang,
                    category="authored",
                    corpus="authored",
                    licence="Apache-2.0",
                )
                for index, text in enumerate(_readings(line, readings, draw))
            ]
    return rows


def read_lines(path: Path) -> list[tuple[str, str]]:
    """Return the lines of a file, decoded, each with its language."""
    lang, lines = "en", []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("[") and line.endswith("]") and "|" not in line:
            lang = line[1:-1]
        elif line and not line.startswith("# "):
            plain = base64.b64decode(line).decode("utf-8") if path.suffix == _ENCODED else line
            lines.append((lang, plain))
    return lines


def embedded(rows: Sequence[Row], fillers: Sequence[Row], *, seed: int) -> list[Row]:
    """Return some of the texts, each between others, mostly of the same language where there are any.

    Args:
        rows: The texts.
        fillers: What stands around them; no attacks.
        seed: Of the generator that draws.
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    by_lang: dict[str, list[str]] = {}
    for filler in fillers:
        by_lang.setdefault(filler.lang, []).append(filler.text)
    every = [filler.text for filler in fillers]
    made = []
    for row in rows:
        if draw.random() < _EMBEDDED_SHARE:
            near = every if draw.random() < _FOREIGN_SHARE else by_lang.get(row.lang, every)
            parts = [draw.choice(near) for _ in range(draw.choice((1, 2, 3, 8)))]
            parts.insert(draw.randrange(len(parts) + 1), row.text)
            text = draw.choice((" ", "\n", "\n\n")).join(parts)
            made.append(replace(row, id=EMBEDDED + row.id, text=text, corpus="embedded"))
    return made


def _readings(line: str, count: int, draw: random.Random) -> list[str]:
    readings: list[str] = []
    for _ in range(3 * count):
        text = line.replace("\\n", "\n")
        while (match := _CHOICE.search(text)) is not None:
            text = text[: match.start()] + draw.choice(match.group(1).split("|")) + text[match.end() :]
        text = text.replace("%sh", "| sh").replace("%bash", "| bash").strip()
        if text not in readings:
            readings.append(text)
        if len(readings) == count:
            break
    return readings


if __name__ == "__main__":
    for file in sorted(AUTHORED.iterdir()):
        for language, text_line in read_lines(file):
            sys.stdout.write(f"{file.stem}\t{language}\t{text_line}\n")
