"""Which patterns can match a text at all: one small automaton over the shape of the text, in one linear pass.

The contract: a pattern that has a match in a text is always among those returned; one that has none may be. The shape
of a text has ``0`` for every digit, ``a`` for every letter, a space for every white space and ``?`` for whatever is no
ASCII; each pattern is turned into a wider one over shapes that RE2 can read. Assertions are kept only where that
leaves a wider pattern, a back-reference is its group again. Shapes have so few different characters, and patterns so
much in common once they are of shapes, that the automaton stays small and unseen text soon meets no new state of it.
Should it give up (RE2 has a memory bound), every pattern is returned.

A pattern that can't be read here is always returned, and so is one whose first characters any prose has: to look for it
would only bring new states.
"""

from __future__ import annotations

import math
import re._constants as constants  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Sequence
from typing import Any, Final

import re2

from streams.errors import ConfigurationError

_MAX_MEMORY_BYTES: Final = 32 << 20
READ_WEIGHT: Final = 18
"""How far a pattern's wider one reads it: a character that may be a letter weighs one, any other two. What follows is
left to the pattern itself. The farther, the fewer texts are tried in vain, and the more states the automaton has."""

MOST_OPTIONAL: Final = 6
"""Most repetitions beyond those needed after which a wider pattern goes on."""

_STAND_IN: Final = "?"
_LETTER: Final = r"\x61"
_LAST_ASCII: Final = 0x7F
_ANYTHING: Final = r"[\x00-\x7f]"
_CLASSES: Final = {
    constants.CATEGORY_DIGIT: {"0", "?"},
    constants.CATEGORY_SPACE: {" ", "?"},
    constants.CATEGORY_WORD: {"0", "a", "_", "?"},
}
_NO_WORD: Final = "[^0a_]"
_BEGINS: Final = rf"(?:\A|{_NO_WORD})"
_ENDS: Final = rf"(?:\z|{_NO_WORD})"
_EMPTY: Final = ""
END: Final = r"\z"
"""In every text: where it is not found, an automaton gave up."""
ONLY_END: Final = [0]
"""What an automaton finds whose first pattern is the end, where it finds nothing else."""

ONE_CHARACTER: Final = frozenset({constants.LITERAL, constants.NOT_LITERAL, constants.ANY, constants.IN})
"""Nodes that stand for one character."""

_PROSE: Final = "aaaa aaa aaaaaaaaa, aaa-aaa a aaaaaaaaaaaaaaaa aaa aa. aaaaaa aaa aaaaa (aaaa), aaaa/a\naaaa"
"""The shape of a text without a digit."""


def _shape(code: int) -> int:
    character = chr(code)
    if character.isdigit():
        return ord("0")
    if character.isalpha():
        return ord("a")
    return ord(" ") if character.isspace() else code


_SHAPES: Final = bytes(_shape(code) if code <= _LAST_ASCII else code for code in range(256))


def shape_of(text: str) -> bytes:
    """Return the shape of a text, one byte a character."""
    return text.encode("ascii", "replace").translate(_SHAPES)


class PatternIndex:
    """The automaton of some patterns.

    Args:
        sources: The patterns, as the ``regex`` module reads them, with regard to case or without.

    Raises:
        ConfigurationError: RE2 numbers patterns otherwise than it should.
    """

    def __init__(self, sources: Sequence[str]) -> None:
        self._everything = tuple(range(len(sources)))
        self._unread: list[int] = []
        self._common: list[int] = []
        by_shape: dict[str, list[int]] = {}
        for position, source in enumerate(sources):
            try:
                by_shape.setdefault(widened(source), []).append(position)
            except (parser.error, ValueError):
                self._unread.append(position)
        for shape in [shape for shape in by_shape if re2.search(shape, _PROSE)]:
            self._common += by_shape.pop(shape)
        # An empty pattern matches every text: where it is not among those that match, the automaton gave up.
        self._set, numbers = automaton([_EMPTY, *by_shape], latin=True)
        self._sentinel = 0
        if numbers != list(range(len(numbers))):
            raise ConfigurationError("RE2 numbers patterns otherwise than expected")
        self._positions = [(), *by_shape.values()]

    @property
    def unread(self) -> tuple[int, ...]:
        """Positions of patterns that are always returned."""
        return tuple(self._unread)

    def candidates(self, text: str) -> Sequence[int]:
        """Return the positions of the patterns that may match a text."""
        matched = self._set.Match(shape_of(text))
        if self._sentinel not in matched:
            return self._everything
        found = self._unread + self._common
        for number in matched:
            found += self._positions[number]
        return found


def automaton(
    patterns: Sequence[str], *, latin: bool = False, any_case: bool = False, max_mem: int = _MAX_MEMORY_BYTES
) -> tuple[Any, list[int]]:
    """Return RE2's automaton of some patterns, and the number of each in it.

    A set of even one pattern gives up where a pattern alone would go on without its automaton, at great cost.
    """
    options = re2.Options()
    options.case_sensitive = not any_case
    options.log_errors = False
    options.never_capture = True
    options.max_mem = max_mem
    if latin:
        options.encoding = re2.Options.Encoding.LATIN1
    built = re2.Set.SearchSet(options)
    numbers = [built.Add(pattern) for pattern in patterns]
    built.Compile()
    return built, numbers


def widened(source: str) -> str:
    """Return an RE2 pattern that matches an ASCII reading wherever a pattern matches the text, and perhaps elsewhere.

    Raises:
        ValueError: The pattern has something that is not known here.
    """
    return Widening(READ_WEIGHT).top(parser.parse(source.replace("(?i)", "")))


class Widening:
    """One pattern's way through the parser's tree, which is untyped: its first characters, wider."""

    begins = _BEGINS
    ends = _ENDS

    def __init__(self, room: float) -> None:
        self.room = room
        self.groups: dict[int, Any] = {}

    def top(self, tree: Any) -> str:  # noqa: ANN401
        """Read a whole pattern, whose first and last assertions can be kept."""
        nodes = list(tree)
        body, is_cut = self.body(nodes)
        begin = self._edge(nodes[0], nodes[1:2], self.begins) if nodes else ""
        end = "" if is_cut or not nodes else self._edge(nodes[-1], nodes[-2:-1], self.ends)
        return begin + body + end if body else ""

    def body(self, nodes: Any) -> tuple[str, bool]:  # noqa: ANN401
        """Return what is between the assertions, and whether it was cut short."""
        body, _, is_cut = self.sequence(nodes, self.room)
        return body, is_cut

    def one(self, operator: Any, argument: Any) -> str:  # noqa: ANN401
        """Read what stands for one character."""
        return _class(argument if operator is constants.IN else [(operator, argument)])

    def _edge(self, node: Any, beside: Any, edge: str) -> str:  # noqa: ANN401
        """Return what an assertion at the edge of a pattern may be read as: no ASCII word character beyond it."""
        operator, argument = node
        if operator is constants.AT and argument is constants.AT_BOUNDARY and beside and _is_word(beside[0]):
            return edge
        direction = -1 if edge is self.begins else 1
        if operator is constants.ASSERT_NOT and argument[0] == direction and _holds_words(argument[1]):
            return edge
        return ""

    def sequence(self, tree: Any, room: float) -> tuple[str, int, bool]:  # noqa: ANN401
        """Return the wider pattern, the weight that it has at least, and whether it was cut short."""
        parts = ""
        taken = 0
        for operator, argument in tree:
            part, least, is_cut = self.node(operator, argument, room - taken)
            parts += part
            taken += least
            if is_cut or taken >= room:
                return parts, taken, True
        return parts, taken, False

    def node(self, operator: Any, argument: Any, room: float) -> tuple[str, int, bool]:  # noqa: ANN401
        """Return the same of one node."""
        if operator in ONE_CHARACTER:
            return _weighed(self.one(operator, argument))
        if operator in {constants.ASSERT, constants.ASSERT_NOT, constants.AT}:
            return "", 0, False
        if operator is constants.SUBPATTERN:
            self.groups[argument[0]] = argument[-1]
            return self.sequence(argument[-1], room)
        if operator is constants.GROUPREF:
            return self.sequence(self.groups[argument], room)
        if operator is constants.BRANCH:
            return self._branch(argument[1], room)
        if operator in {constants.MAX_REPEAT, constants.MIN_REPEAT}:
            least, most, part = argument
            return self._repeat(least, most, part, room)
        raise ValueError("unknown node")

    def _branch(self, branches: Any, room: float) -> tuple[str, int, bool]:  # noqa: ANN401
        read = [self.sequence(part, room) for part in branches]
        # Where one is cut, what follows it is unknown: all end there.
        parts = "|".join(dict.fromkeys(part for part, _, _ in read))
        return f"(?:{parts})", min(least for _, least, _ in read), any(is_cut for _, _, is_cut in read)

    def _repeat(self, least: int, most: Any, part: Any, room: float) -> tuple[str, int, bool]:  # noqa: ANN401
        one, taken, is_cut = self.sequence(part, room)
        if room == math.inf:
            return f"(?:{one}){times(least, most)}", taken * least, False
        if is_cut:
            return (one if least else ""), (taken if least else 0), True
        count = min(least, int(-(-room // taken))) if taken else least
        if count < least or most is constants.MAXREPEAT or most - least > MOST_OPTIONAL:
            return f"(?:{one}){{{count}}}", taken * count, True
        return f"(?:{one}){{{least},{most}}}", taken * least, False


def times(least: int, most: Any) -> str:  # noqa: ANN401
    """Return how often something is repeated, as RE2 reads it."""
    return f"{{{least},}}" if most is constants.MAXREPEAT else f"{{{least},{most}}}"


def _weighed(shape: str) -> tuple[str, int, bool]:
    return shape, 1 if shape == _ANYTHING or _LETTER in shape else 2, False


def _is_word(node: Any) -> bool:  # noqa: ANN401
    """Say whether a node matches nothing but ASCII word characters and what is none in ASCII, at least once."""
    operator, argument = node
    if operator is constants.LITERAL:
        return argument <= _LAST_ASCII and (chr(argument).isalnum() or argument == ord("_"))
    if operator is constants.IN:
        return all(
            (kind is constants.CATEGORY and item in {constants.CATEGORY_DIGIT, constants.CATEGORY_WORD})
            or (kind is constants.LITERAL and _is_word((kind, item)))
            or (kind is constants.RANGE and chr(item[0]).isalnum() and chr(item[1]).isalnum())
            for kind, item in argument
        )
    if operator in {constants.MAX_REPEAT, constants.MIN_REPEAT}:
        return argument[0] > 0 and all(_is_word(part) for part in argument[2])
    if operator is constants.SUBPATTERN:
        return bool(argument[-1]) and all(_is_word(part) for part in argument[-1])
    if operator is constants.BRANCH:
        return all(part and all(_is_word(item) for item in part) for part in argument[1])
    return False


def _holds_words(tree: Any) -> bool:  # noqa: ANN401
    """Say whether an assertion is about one character of a class that holds all word characters."""
    nodes = list(tree)
    if len(nodes) != 1 or nodes[0][0] is not constants.IN:
        return False
    return (constants.CATEGORY, constants.CATEGORY_WORD) in nodes[0][1]


def _class(items: Any) -> str:  # noqa: ANN401
    if items[0][0] in {constants.NEGATE, constants.NOT_LITERAL, constants.ANY}:
        return _ANYTHING
    parts: set[str] = set()
    for operator, argument in items:
        if operator is constants.CATEGORY and argument in _CLASSES:
            parts |= _CLASSES[argument]
        elif operator is constants.LITERAL:
            parts |= _range(argument, argument)
        elif operator is constants.RANGE:
            parts |= _range(*argument)
        else:
            return _ANYTHING
    codes = [f"{ord(part):02x}" for part in sorted(parts)]
    return "[" + "".join(rf"\x{code}" for code in codes) + "]"


def _range(first: int, last: int) -> set[str]:
    """Return the shapes of a range; three letters have a case beyond ASCII."""
    parts = {chr(_shape(code)) for code in range(first, min(last, _LAST_ASCII) + 1)}
    if last > _LAST_ASCII:
        return parts | {_STAND_IN, "a"}
    return parts | ({_STAND_IN} if any(first <= ord(other) <= last for other in "iksIKS") else set())
