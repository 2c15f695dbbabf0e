"""Whether a text in Latin letters holds a stretch in a language that no profile is of, by its function words.

The contract: a stretch is ``WINDOW`` words in a row (looked at from each ``STEP``), or a whole paragraph of at least
``LEAST_WORDS`` and ``LEAST_LETTERS``, where one language outside the profiles shows: by ``LEAST_DISTINCT`` different
function words of it and ``LEAST_FOUND`` in all, where two words with a letter of it that no profile's language has
stand in for a different one, down to ``FEWEST_DISTINCT``; such words are one of ``ONE_IN``, and function words
``MARGIN`` times as many as those of the profiles' languages together. A word that a profile's language has counts for
no other, and neither does a single letter.

Names, identifiers, code, lists and short texts have no function words, so they are never a stretch; neither is a
sentence of another language in a paragraph that is mostly of a profile's. Languages near to one of a profile's
(``KIN``) are not told apart, and what no word list is of is not told at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from streams.adapters.pii.latin_words import FUNCTION_WORDS, KIN, LETTERS

LEAST_WORDS: Final = 10
LEAST_LETTERS: Final = 40
LEAST_DISTINCT: Final = 4
FEWEST_DISTINCT: Final = 2
LEAST_FOUND: Final = 5
ONE_IN: Final = 4
MARGIN: Final = 2
WINDOW: Final = 30
STEP: Final = 10


_WORD: Final = re.compile(r"[^\W\d_]+")
_PARAGRAPHS: Final = re.compile(r"\n[ \t\r]*\n")


class LatinCheck:
    """Which languages' function words are none of a profile's.

    Args:
        languages: The profile's.
    """

    def __init__(self, languages: Iterable[str]) -> None:
        wanted = set(languages)
        covered = wanted.union(*(kin for kin in KIN if kin & wanted))
        self._own = frozenset[str]().union(*(FUNCTION_WORDS.get(language, ()) for language in wanted))
        self._foreign = {
            language: frozenset(word for word in words - self._own if len(word) > 1)
            for language, words in FUNCTION_WORDS.items()
            if language not in covered
        }
        letters = "".join(LETTERS.get(language, "") for language in wanted)
        self._letters = {
            language: re.compile(f"[{''.join(others)}]")
            for language in self._foreign
            if (others := sorted(set(LETTERS.get(language, "")) - set(letters)))
        }
        self._any = frozenset[str]().union(*self._foreign.values())

    def is_foreign(self, text: str) -> bool:
        """Say whether a text holds such a stretch."""
        small = text.lower()
        if len(self._any.intersection(small.split())) < FEWEST_DISTINCT:
            return False
        return any(self._is_stretch(words) for words in _stretches(small))

    def _is_stretch(self, words: Sequence[str]) -> bool:
        counts = Counter(word for word in words if word in self._any)
        if counts.total() * ONE_IN * 2 < len(words) or len(counts) < FEWEST_DISTINCT:
            return False
        own = sum(word in self._own for word in words)
        return any(self._shows(language, words, counts, own) for language in self._foreign)

    def _shows(self, language: str, words: Sequence[str], counts: Counter[str], own: int) -> bool:
        distinct = self._foreign[language].intersection(counts)
        found = sum(counts[word] for word in distinct)
        if len(distinct) < FEWEST_DISTINCT or found * ONE_IN * 2 < len(words) or found < MARGIN * own:
            return False
        letters = self._letters.get(language)
        marked = [word for word in words if word not in distinct and letters.search(word)] if letters else []
        is_shown = len(distinct) + len(set(marked)) // 2 >= LEAST_DISTINCT
        found += len(marked)
        return is_shown and found >= LEAST_FOUND and found * ONE_IN >= len(words)


def _stretches(text: str) -> Iterator[Sequence[str]]:
    """Yield paragraphs, long ones in windows that overlap."""
    for paragraph in _PARAGRAPHS.split(text):
        words = _WORD.findall(paragraph)
        if len(words) < LEAST_WORDS or sum(map(len, words)) < LEAST_LETTERS:
            continue
        for start in range(0, max(1, len(words) - WINDOW + STEP), STEP):
            yield words[start : start + WINDOW]
