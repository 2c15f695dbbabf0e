"""Whether a text holds a stretch in no language of a profile: by its script, or, in Latin letters, by its words.

The contract: ``streams.adapters.pii.scripts`` and ``streams.adapters.pii.latin`` say what a stretch is.
"""

from __future__ import annotations

from collections.abc import Iterable

from pratique.contract.canonical import JsonValue, canonical_sha256
from streams.adapters.pii import latin
from streams.adapters.pii.latin_words import FUNCTION_WORDS, KIN, LETTERS
from streams.adapters.pii.scripts import ScriptCheck


class ForeignCheck:
    """Both checks of a profile.

    Args:
        languages: The profile's.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        wanted = frozenset(languages)
        self._scripts = ScriptCheck(wanted)
        self._latin = latin.LatinCheck(wanted)

    def is_foreign(self, text: str) -> bool:
        """Say whether a text holds such a stretch."""
        return self._scripts.is_foreign(text) or self._latin.is_foreign(text)


def settings() -> dict[str, JsonValue]:
    """Return all that decides what is foreign in Latin letters, for the manifest."""
    words: dict[str, JsonValue] = {language: sorted(items) for language, items in FUNCTION_WORDS.items()}
    tables: dict[str, JsonValue] = {"words": words, "kin": [sorted(kin) for kin in KIN], "letters": dict(LETTERS)}
    return {
        "least": [
            latin.LEAST_WORDS,
            latin.LEAST_LETTERS,
            latin.LEAST_DISTINCT,
            latin.FEWEST_DISTINCT,
            latin.LEAST_FOUND,
        ],
        "share": [latin.ONE_IN, latin.MARGIN, latin.WINDOW, latin.STEP],
        "tables_sha256": canonical_sha256(tables),
    }
