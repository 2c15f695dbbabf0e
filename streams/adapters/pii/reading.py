"""Which of the patterns that may match a text really may: RE2 reads each of them whole, without what it can't read.

The contract: ``Reading.may_match`` says no only where the pattern has no match; ``may_match_marked`` says no only where
it has none that holds something other than digits. Assertions are left out where they can't be kept, a back-reference
is its group again, letters are of either case where the pattern or its flags say so, and whatever is no ASCII is one
and the same character. RE2 takes linear time, and what it rules out `regex`, which backtracks, never sees. A pattern
that can't be read is one that may always match.

A reading is compiled when it is first asked for: most patterns never are.
"""

from __future__ import annotations

import re._constants as constants  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import string
from functools import cached_property
from math import inf
from typing import Any, Final

import re2
import regex

from streams.adapters.pii.index import END, ONE_CHARACTER, ONLY_END, Widening, automaton, times

_MAX_MEMORY_BYTES: Final = 1 << 18
"""Of each automaton: there are hundreds, and hostile text makes any of them grow. One that needs more gives up."""
_ANY: Final = r"[\x00-\x7f]"
_STAND_IN: Final = "?"
_LAST_ASCII: Final = 0x7F
_DIGITS: Final = frozenset(string.digits)
_CLASSES: Final = {
    constants.CATEGORY_DIGIT: _DIGITS | {_STAND_IN},
    constants.CATEGORY_SPACE: frozenset(filter(str.isspace, map(chr, range(_LAST_ASCII + 1)))) | {_STAND_IN},
    constants.CATEGORY_WORD: frozenset(string.ascii_letters + string.digits + "_" + _STAND_IN),
}
_CASES_BEYOND: Final = frozenset("iksIKS")
"""Letters that have a case beyond ASCII."""


def readable(text: str) -> bytes:
    """Return a text as readings take it: a question mark for whatever is no ASCII."""
    return text.encode("ascii", "replace")


class Reading:
    """One pattern, as RE2 reads it.

    Args:
        source: The pattern.
        flags: The ``regex`` module's.
        room: How far it is read, by the weights of ``index``.
        marked: What is in every match that is more than digits, where the pattern itself has too many ways to be that.
    """

    def __init__(self, source: str, flags: int, room: float, marked: str = "") -> None:
        self._source = source
        self._room = room
        self._marked_source = marked
        self._any_case = bool(flags & regex.IGNORECASE) or "(?i" in source

    def may_match(self, text: bytes) -> bool:
        """Say whether the pattern may have a match in a text (``readable``)."""
        return _may_match(self._whole, text)

    def may_match_marked(self, text: bytes) -> bool:
        """Say whether it may have one that is more than digits."""
        # Most texts have no match at all: the larger automaton is built where one has.
        return _may_match(self._whole, text) and (self._room != WHOLE or _may_match(self._marked, text))

    @cached_property
    def _whole(self) -> Any:  # noqa: ANN401 - RE2 is untyped
        return self._compiled(self._source, _Whole(self._room))

    @cached_property
    def _marked(self) -> Any:  # noqa: ANN401
        if self._marked_source:
            return self._compiled(self._marked_source, _Whole(self._room))
        if self._is_always_marked():
            return self._whole
        return self._compiled(self._source, _Marked(self._room))

    def _is_always_marked(self) -> bool:
        try:
            return _is_marked(parser.parse(self._source.replace("(?i)", "")))
        except parser.error:
            return False

    def _compiled(self, source: str, way: _Whole) -> Any:  # noqa: ANN401
        try:
            read = way.top(parser.parse(source.replace("(?i)", ""))) or way.empty
            return automaton([END, read], latin=True, any_case=self._any_case, max_mem=_MAX_MEMORY_BYTES)[0]
        except (parser.error, ValueError, re2.error):
            return None


def _may_match(built: Any, text: bytes) -> bool:  # noqa: ANN401
    return built is None or built.Match(text) != ONLY_END


WHOLE: Final = inf
FAR: Final = 40
"""How far a pattern is read: in whole, or, where it has many repetitions in a row, as far as tells most texts apart."""

_NOTHING: Final = r"[^\x00-\xff]"


class _Whole(Widening):
    """All of a pattern, with its own characters."""

    begins = r"(?:\A|[^0-9A-Za-z_])"
    ends = r"(?:\z|[^0-9A-Za-z_])"
    empty = ""
    """What stands for a pattern of which nothing is read: it is cut short before its first character."""

    def one(self, operator: Any, argument: Any) -> str:  # noqa: ANN401
        return _one(operator, argument)


class _Marked(_Whole):
    """The same, with something other than a digit in it: a way for each node that may be that."""

    empty = _NOTHING

    def body(self, nodes: Any) -> tuple[str, bool]:  # noqa: ANN401
        return "(?:" * bool(ways := self._ways(nodes)) + "|".join(dict.fromkeys(ways)) + ")" * bool(ways), False

    def _ways(self, tree: Any) -> list[str]:  # noqa: ANN401
        parts = [self.node(operator, argument, inf)[0] for operator, argument in tree]
        return [
            "".join(parts[:place]) + way + "".join(parts[place + 1 :])
            for place, (operator, argument) in enumerate(tree)
            for way in self._ways_of(operator, argument)
        ]

    def _ways_of(self, operator: Any, argument: Any) -> list[str]:  # noqa: ANN401
        if operator in ONE_CHARACTER:
            return list(filter(None, [_one(operator, argument, _DIGITS)]))
        if operator is constants.SUBPATTERN:
            return self._ways(argument[-1])
        if operator is constants.GROUPREF:
            return self._ways(self.groups[argument])
        if operator is constants.BRANCH:
            return [way for branch in argument[1] for way in self._ways(branch)]
        if operator in {constants.MAX_REPEAT, constants.MIN_REPEAT} and argument[1] != 0:
            most, part = argument[1:]
            others = f"(?:{self.sequence(part, inf)[0]})"
            others += times(0, most if most is constants.MAXREPEAT else most - 1)
            return [others + way + others for way in self._ways(part)]
        return []


def _is_marked(nodes: Any) -> bool:  # noqa: ANN401
    """Say whether whatever a sequence matches holds something other than digits."""
    return any(_is_mark(operator, argument) for operator, argument in nodes)


def _is_mark(operator: Any, argument: Any) -> bool:  # noqa: ANN401
    if operator is constants.LITERAL:
        return not chr(argument).isdigit()
    if operator is constants.IN:
        return all(
            (kind is constants.LITERAL and not chr(item).isdigit())
            or (kind is constants.RANGE and item[1] <= _LAST_ASCII and not _DIGITS & _range(*item))
            for kind, item in argument
        )
    if operator is constants.SUBPATTERN:
        return _is_marked(argument[-1])
    if operator is constants.BRANCH:
        return all(map(_is_marked, argument[1]))
    if operator in {constants.MAX_REPEAT, constants.MIN_REPEAT}:
        return bool(argument[0]) and _is_marked(argument[2])
    return False


def _one(operator: Any, argument: Any, without: frozenset[str] = frozenset()) -> str:  # noqa: ANN401
    """Read what stands for one character, less some; empty where nothing is left."""
    parts: set[str] = set()
    for kind, item in argument if operator is constants.IN else [(operator, argument)]:
        if kind is constants.LITERAL:
            parts |= _range(item, item)
        elif kind is constants.RANGE:
            parts |= _range(*item)
        elif kind is constants.CATEGORY and item in _CLASSES:
            parts |= _CLASSES[item]
        else:
            return _ANY
    codes = [f"\\x{ord(part):02x}" for part in sorted(parts - without)]
    return f"[{''.join(codes)}]" if codes else ""


def _range(first: int, last: int) -> set[str]:
    parts = set(map(chr, range(first, min(last, _LAST_ASCII) + 1)))
    return parts | {_STAND_IN} if last > _LAST_ASCII or parts & _CASES_BEYOND else parts
