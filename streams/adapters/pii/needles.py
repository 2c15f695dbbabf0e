"""Which of many words are in a text: one pass of YARA-X's automaton, which is built before the first text.

The contract: ``Needles.there`` leaves out a group only where none of its words is in the text, letters of either case.
RE2 would build its automaton while it reads: of a thousand words that costs more than all else, over every new text.
``needles_of`` says which words are in whatever a pattern matches, as far as its beginning tells.
"""

from __future__ import annotations

import re._constants as constants  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterable, Sequence
from typing import Any, Final

import yara_x

MOST_NEEDLES: Final = 400
_FEWEST_BYTES: Final = 2
_FOLDED: Final = str.maketrans({"\u0307": "", "\u0131": "i", "\u017f": "s", "\u03c2": "\u03c3"})
"""What is left apart by small letters, and not by whoever ignores case: a dot above, and letters with two forms."""


def folded(text: str) -> str:
    """Return a text without regard to case: what is in another, in any case, is in it when both are folded."""
    small = text.lower()
    return small if small.isascii() else small.translate(_FOLDED)


class Needles:
    """Groups of words.

    Args:
        groups: The words of each, in any case; a group of none is always there.
    """

    def __init__(self, groups: Sequence[Iterable[str]]) -> None:
        rules = []
        always = []
        for number, words in enumerate(groups):
            strings = sorted({folded(word).encode("utf-8", "replace") for word in words})
            if not strings or not all(strings):
                always.append(number)
                continue
            needles = " ".join(f"$_{index} = {{ {string.hex(' ')} }}" for index, string in enumerate(strings))
            rules.append(f"rule n{number} {{ strings: {needles} condition: any of them }}")
        self._always = frozenset(always)
        self._scanner = yara_x.Scanner(yara_x.compile("\n".join(rules)))
        self._numbers = {f"n{number}": number for number in range(len(groups))}

    def there(self, text: str) -> frozenset[int]:
        """Return the positions of the groups of which a word is in a text."""
        found = self._scanner.scan(folded(text).encode("utf-8", "replace"))
        return self._always.union([self._numbers[rule.identifier] for rule in found.matching_rules])


def needles_of(source: str) -> list[str]:
    """Return words one of which begins whatever a pattern matches, digits aside; none where that is unknown."""
    try:
        nodes = list(parser.parse(source.replace("(?i)", "")))
    except parser.error:
        return []
    while nodes and nodes[0][0] is constants.IN and nodes[0][1] == [(constants.CATEGORY, constants.CATEGORY_DIGIT)]:
        nodes.pop(0)
    words, _ = _begun([""], nodes)
    return words if all(len(word.encode("utf-8", "replace")) >= _FEWEST_BYTES for word in words) else []


def _begun(words: list[str], nodes: Any) -> tuple[list[str], bool]:  # noqa: ANN401 - the parser's tree is untyped
    """Return how words may go on, as far as is known, and whether that is all of it."""
    for operator, argument in nodes:
        ways, is_known = _ways(operator, argument)
        if len(words) * len(ways) > MOST_NEEDLES:
            return words, False
        words = [word + way for word in words for way in ways]
        if not is_known:
            return words, False
    return words, True


def _ways(operator: Any, argument: Any) -> tuple[list[str], bool]:  # noqa: ANN401
    if operator is constants.LITERAL:
        return [chr(argument)], True
    if operator is constants.IN and all(kind is constants.LITERAL for kind, _ in argument):
        return sorted({folded(chr(code)) for _, code in argument}), True
    if operator is constants.SUBPATTERN:
        return _begun([""], argument[-1])
    if operator is constants.BRANCH:
        read = [_begun([""], branch) for branch in argument[1]]
        return [word for words, _ in read for word in words], all(is_known for _, is_known in read)
    if operator in {constants.MAX_REPEAT, constants.MIN_REPEAT} and argument[:2] == (0, 1):
        words, is_known = _begun([""], argument[2])
        return ["", *words], is_known
    return [""], False
