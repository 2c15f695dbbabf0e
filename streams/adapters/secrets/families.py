"""The rule families: read from ``rules/*.json``, compiled by RE2, one file a family.

The contract: a family is data. A rule has a name, an RE2 pattern whose group ``v`` (or ``v2``, ``v3``: other ways to
quote) is the value, or with ``near`` the window that a value stands in, and whose group ``key`` is the name the value
was given, what it asks of the value (``Judge``), and, kept in base64, texts that it must hit and texts that it must
not, which a test checks. ``needs`` are literals of which every match holds one; a rule is run only where one occurs.
``unless`` is a pattern of values that the rule leaves alone.

Matching is linear in the text: RE2 alone. A family's rules are run only where the alternation of their patterns, and
that of a few of them, matches at all, and from there on; it falls back from RE2's automaton to a slower linear search
where that would grow too large, and never gives up. Rules that are ``apart`` begin with any letter, so that the
automaton would count through every word for them: their ``needs`` alone decide.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, TypeAlias

import re2

from pratique.contract.canonical import JsonValue
from streams.adapters.secrets.judging import Judge, is_secret

_RULE_BYTES: Final = 16 * 1024 * 1024
_ALTERNATION_BYTES: Final = 64 * 1024 * 1024
"""What RE2 may take for a pattern and its automaton, of which it uses what texts make it. With half of it, random text
outgrew the automaton of the largest family and was searched at a tenth of the speed."""

_PART: Final = 16
"""Rules whose alternation is asked once more where a family's has matched, before each is run."""

_VALUES: Final = (b"v", b"v2", b"v3")
_KEY: Final = b"key"
_IN_SENTENCES: Final = frozenset({Judge.SPOKEN, Judge.NEXT})
_OF_SENTENCES: Final = _IN_SENTENCES | {Judge.QUOTED_PROSE}
_NAME: Final = re2.compile(rb"(?:[A-Za-z0-9]{3,}(?:[_-][A-Za-z0-9]+)+|[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]+)?")
"""A sentence's word for a secret, where it is written together with another word: that may name something else."""
_WORD: Final = re2.compile(rb"[A-Za-z0-9!#$%^&*+?_@~-]{8,64}")
"""A word in the window of a rule that finds what stands near; brackets, slashes, quotes and stops part words."""
_CLOSING: Final = b".,;:'\"`"
"""What ends a sentence or a quotation behind a value: no part of it."""

Judging: TypeAlias = Callable[[Judge, str, str], bool]
"""Judge, value, key -> whether the value is a secret: ``is_secret``, or what remembers its answers."""


@dataclass(frozen=True, slots=True)
class Match:
    """A value that a rule found: its place in the UTF-8 text, in bytes."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Rule:
    """A compiled rule.

    Attributes:
        name: ``family.name``, the type of its findings.
        pattern: As it stands in the file.
        judge: What it asks of its value.
        needs: Literals of which every match holds one; empty: none are known.
        folded: Whether the literals are looked for in the text without capitals.
        apart: Whether it is left out of its family's alternation.
    """

    name: str
    pattern: str
    judge: Judge
    needs: tuple[bytes, ...]
    folded: bool
    apart: bool
    _compiled: Any
    _values: tuple[int, ...]
    _key: int | None
    _unless: Any

    @classmethod
    def of(cls, family: str, body: dict[str, Any]) -> Rule:
        """Compile a rule from its JSON object."""
        compiled = re2.compile(body["pattern"].encode(), _options())
        groups = compiled.groupindex
        return cls(
            f"{family}.{body['name']}",
            body["pattern"],
            Judge(body["judge"]),
            tuple(literal.encode() for literal in body.get("needs", ())),
            bool(body.get("folded")),
            bool(body.get("apart")),
            compiled,
            tuple(groups[name] for name in _VALUES if name in groups),
            groups.get(_KEY),
            re2.compile(body["unless"].encode(), _options()) if "unless" in body else None,
        )

    def matches(
        self, text: bytes, folded: bytes | None = None, first: int = 0, judging: Judging = is_secret
    ) -> Iterator[Match]:
        """Yield what the rule finds in a UTF-8 text.

        Args:
            text: The text.
            folded: Its form without capitals, where it is known.
            first: A place before which no match begins.
            judging: Says of each value whether it is one.
        """
        if self.needs:
            where = (fold(text) if folded is None else folded) if self.folded else text
            if not any(literal in where for literal in self.needs):
                return
        for found in self._compiled.finditer(text, first):
            start, end = next(found.span(group) for group in self._values if found.span(group)[0] >= 0)
            value = text[start:end]
            if self.judge in _IN_SENTENCES:
                value = value.rstrip(_CLOSING)
                end = start + len(value)
            if self._unless is not None and self._unless.search(value) is not None:
                continue
            if self._key is not None:
                key = b"" if found.span(self._key)[0] < 0 else found.group(self._key)
            else:
                key = _NAME.match(text[found.start() : start]).group() if self.judge in _OF_SENTENCES else b""
            name = key.decode("utf-8", "ignore")
            if self.judge is Judge.NEAR:
                yield from self._near(value, start, name, judging)
            elif judging(self.judge, value.decode("utf-8", "ignore"), name):
                yield Match(self.name, start, end)

    def _near(self, window: bytes, start: int, name: str, judging: Judging) -> Iterator[Match]:
        """Yield the words of a window that are secrets: two passwords may stand in one sentence."""
        for word in _WORD.finditer(window):
            if judging(self.judge, word.group().decode("utf-8", "ignore"), name):
                yield Match(self.name, start + word.start(), start + word.end())


class Family:
    """The rules of one file."""

    __slots__ = ("_any", "_needed", "_parts", "about", "apart", "body", "name", "rules", "together")

    def __init__(self, body: dict[str, Any]) -> None:
        """Compile a family from its file's JSON object."""
        self.body: JsonValue = body
        self.name = str(body["family"])
        self.about = str(body["about"])
        self.rules = tuple(Rule.of(self.name, rule) for rule in body["rules"])
        self.apart = tuple(rule for rule in self.rules if rule.apart)
        self.together = tuple(rule for rule in self.rules if not rule.apart)
        literals = [re2.escape(literal) for rule in self.apart for literal in rule.needs]
        self._needed = re2.compile(b"|".join(literals), _options(capture=False)) if literals else None
        self._any = _alternation(self.together)
        parts = [self.together[start : start + _PART] for start in range(0, len(self.together), _PART)]
        self._parts = tuple((_alternation(rules), rules) for rules in parts)

    def matches(self, text: bytes) -> Iterator[Match]:
        """Yield what the family's rules find in a UTF-8 text, rule by rule."""
        yield from self.matches_apart(text)
        yield from self.matches_together(text)

    def matches_apart(self, text: bytes, judging: Judging = is_secret) -> Iterator[Match]:
        """Yield what the rules find that are run by a literal."""
        if self._needed is not None and self._needed.search(text) is not None:
            for rule in self.apart:
                yield from rule.matches(text, judging=judging)

    def matches_together(self, text: bytes, judging: Judging = is_secret) -> Iterator[Match]:
        """Yield what the others find."""
        found = self._any.search(text)
        if found is not None:
            folded = fold(text)
            for any_of, rules in self._parts:
                if any_of.search(text, found.start()) is not None:
                    for rule in rules:
                        yield from rule.matches(text, folded, found.start(), judging)


class Families:
    """All families, with fewer searches of a text in which nothing is found.

    Searched for once are all literals that rules ``apart`` need, and what any rule of the small families matches: each
    family looks for its own only where that was found. The alternation of large families is not joined to others: its
    automaton would outgrow its memory.
    """

    __slots__ = ("_apart", "_families", "_large", "_needed", "_rules", "_small", "_together")

    def __init__(self, families: Sequence[Family]) -> None:
        """Take families as they are loaded."""
        self._families = tuple(families)
        self._rules = {rule.name: rule for family in families for rule in family.rules}
        self._apart = tuple(family for family in families if family.apart)
        literals = sorted(
            {re2.escape(literal) for family in families for rule in family.apart for literal in rule.needs}
        )
        self._needed = re2.compile(b"|".join(literals), _options(capture=False))
        self._small = tuple(family for family in families if len(family.together) < _PART)
        self._large = tuple(family for family in families if len(family.together) >= _PART)
        self._together = _alternation([rule for family in self._small for rule in family.together])

    def __iter__(self) -> Iterator[Family]:
        """Yield the families."""
        return iter(self._families)

    def rule(self, name: str) -> Rule:
        """Return the rule of a match (``Match.rule``).

        Raises:
            KeyError: No family has it.
        """
        return self._rules[name]

    def warm(self, text: bytes) -> None:
        """Have RE2 build its automata, those too that a text rarely needs, as it does on meeting text."""
        deque(self.matches(text), maxlen=0)
        for family in self._families:
            deque(family.matches_apart(text) if family in self._large else family.matches(text), maxlen=0)

    def matches(self, text: bytes, judging: Judging = is_secret) -> Iterator[Match]:
        """Yield what all rules find in a UTF-8 text.

        Args:
            text: The text.
            judging: Says of each value whether it is a secret.
        """
        if self._needed.search(text) is not None:
            for family in self._apart:
                yield from family.matches_apart(text, judging)
        for family in self._large:
            yield from family.matches_together(text, judging)
        if self._together.search(text) is not None:
            for family in self._small:
                yield from family.matches_together(text, judging)


def _alternation(rules: Sequence[Rule]) -> Any:  # noqa: ANN401 - re2 comes without types
    pattern = "|".join(f"(?:{rule.pattern})" for rule in rules)
    return re2.compile(_unnamed(pattern).encode(), _options(capture=False))


def fold(text: bytes) -> bytes:
    """Return a UTF-8 text without capitals."""
    return text.decode("utf-8", "ignore").lower().encode()


def _unnamed(pattern: str) -> str:
    for name in (*_VALUES, _KEY):
        pattern = pattern.replace(f"(?P<{name.decode()}>", "(?:")
    return pattern


def _options(*, capture: bool = True) -> Any:  # noqa: ANN401 - re2 comes without types
    options = re2.Options()
    options.max_mem = _RULE_BYTES if capture else _ALTERNATION_BYTES
    options.log_errors = False
    options.never_capture = not capture
    return options


def family_files() -> list[dict[str, Any]]:
    """Return the rule files' contents, in the order of their names."""
    folder = files("streams.adapters.secrets") / "rules"
    found = sorted((item for item in folder.iterdir() if item.name.endswith(".json")), key=lambda item: item.name)
    return [json.loads(item.read_text(encoding="utf-8")) for item in found]


def load_families() -> tuple[Family, ...]:
    """Compile every family."""
    return tuple(Family(body) for body in family_files())
