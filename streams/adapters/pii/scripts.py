"""Whether a text holds a stretch in a script that no language of a profile is written in.

The contract: a stretch is a number of letters of such scripts in a row, with no more than punctuation, digits and
spaces between them: ``LEAST_LETTERS``, or ``LEAST_SIGNS`` of scripts whose signs are words or syllables. A name or a
quoted word is none. Languages that share a script are not told apart: Latin letters are never a stretch (``latin``
looks at their words), and neither is Ukrainian where a profile has Russian.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

LEAST_LETTERS: Final = 24
LEAST_SIGNS: Final = 12


class Script(NamedTuple):
    """A script.

    Attributes:
        ranges: Its letters, as a character class.
        languages: Those of the supported languages that are written in it.
        least: How many of its letters are a stretch.
    """

    ranges: str
    languages: frozenset[str]
    least: int


def _script(ranges: str, languages: str = "", least: int = LEAST_LETTERS) -> Script:
    return Script(ranges, frozenset(languages.split()), least)


SCRIPTS: Final[Mapping[str, Script]] = {
    "Arabic": _script(r"\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff\u0750-\u077f", "ar fa"),
    "Armenian": _script(r"\u0531-\u0587"),
    "Bengali": _script(r"\u0980-\u09e3", "bn"),
    "Cherokee": _script(r"\u13a0-\u13ff", least=LEAST_SIGNS),
    "Cyrillic": _script(r"\u0400-\u052f", "bg ru sr uk"),
    "Devanagari": _script(r"\u0900-\u0963", "hi"),
    "Ethiopic": _script(r"\u1200-\u137f", least=LEAST_SIGNS),
    "Georgian": _script(r"\u10a0-\u10ff\u1c90-\u1cbf"),
    "Greek": _script(r"\u0370-\u03ff\u1f00-\u1fff", "el"),
    "Gujarati": _script(r"\u0a81-\u0ae3"),
    "Gurmukhi": _script(r"\u0a01-\u0a5e\u0a70-\u0a75"),
    "Han": _script(r"\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002fa1f", "ja zh", LEAST_SIGNS),
    "Hangul": _script(r"\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3", "ko", LEAST_SIGNS),
    "Hebrew": _script(r"\u05d0-\u05f4", "he"),
    "Kana": _script(r"\u3041-\u30ff", "ja", LEAST_SIGNS),
    "Kannada": _script(r"\u0c80-\u0ce3"),
    "Khmer": _script(r"\u1780-\u17d3"),
    "Lao": _script(r"\u0e81-\u0ecd"),
    "Malayalam": _script(r"\u0d00-\u0d63"),
    "Mongolian": _script(r"\u1820-\u18aa"),
    "Myanmar": _script(r"\u1000-\u103f\u1050-\u109d"),
    "Odia": _script(r"\u0b01-\u0b63"),
    "Sinhala": _script(r"\u0d81-\u0df3"),
    "Tamil": _script(r"\u0b82-\u0bd7"),
    "Telugu": _script(r"\u0c00-\u0c63"),
    "Thaana": _script(r"\u0780-\u07b1"),
    "Thai": _script(r"\u0e01-\u0e3a\u0e40-\u0e4e", "th"),
    "Tibetan": _script(r"\u0f40-\u0fbc"),
}
"""Ranges: The Unicode Standard, Blocks.txt."""

_BETWEEN: Final = r"[\W\d_]{0,3}"


class ScriptCheck:
    """What a profile's languages are not written in.

    Args:
        languages: The profile's.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        wanted = frozenset(languages)
        foreign = [script for script in SCRIPTS.values() if not script.languages & wanted]
        stretches = []
        for least in (LEAST_LETTERS, LEAST_SIGNS):
            ranges = "".join(script.ranges for script in foreign if script.least == least)
            if ranges:
                stretches.append(f"[{ranges}](?:{_BETWEEN}[{ranges}]){{{least - 1}}}")
        # Bounded: a try takes at most four characters for each letter that a stretch needs.
        self._stretch = re.compile("|".join(stretches))

    def is_foreign(self, text: str) -> bool:
        """Say whether a text holds such a stretch."""
        return not text.isascii() and self._stretch.search(text) is not None
