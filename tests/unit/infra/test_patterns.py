"""No regular expression here takes more than the square of what it reads, whatever it reads.

RE2 does the matching that can be long; Python's ``re`` judges what is short or simple. It backtracks, so that a pattern
written without care takes exponential time over a text made for it. Each pattern that a module holds is analysed. The
analysis does not see alternatives within a repetition that match the same, nor patterns that are made within functions.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Final

import pytest
from regexploit.ast.sre import SreOpParser
from regexploit.redos import find

import pratique
import streams

SQUARE: Final = 2
"""What regexploit calls a square: repetitions beside each other that match the same."""
FEWEST: Final = 100
"""Fewer would mean that the patterns are not where they are looked for."""


class Parser(SreOpParser):  # type: ignore[misc]  # regexploit has no types
    """Reads possessive repetitions as greedy ones, which backtrack more."""

    def from_POSSESSIVE_REPEAT(self, item: object) -> object:  # noqa: N802 - called by an operation's name
        return self.from_MAX_REPEAT(item)


def worst(pattern: re.Pattern[str] | re.Pattern[bytes]) -> int:
    """Return the highest power of a text's length that a pattern can take; 11 stands for an exponential."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    return max((found.starriness for found in find(Parser().parse_sre(text, pattern.flags))), default=1)


def held(value: object, depth: int = 4) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        yield from (pattern for item in value.items() for pattern in held(item, depth - 1))
    elif depth and isinstance(value, list | tuple | set | frozenset):
        yield from (pattern for item in value for pattern in held(item, depth - 1))


def patterns() -> dict[re.Pattern[str] | re.Pattern[bytes], str]:
    """Return every pattern that a module of the service or of the client holds, and where one finds it."""
    names = [
        module.name
        for package in (streams, pratique)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return {
        pattern: f"{module}.{name}"
        for module in names
        for name, value in vars(importlib.import_module(module)).items()
        for pattern in held(value)
    }


def test_no_pattern_takes_more_than_the_square_of_a_text() -> None:
    powers = {where: worst(pattern) for pattern, where in patterns().items()}
    assert len(powers) >= FEWEST
    assert {where: power for where, power in powers.items() if power > SQUARE} == {}


@pytest.mark.parametrize("text", [r"(a+)+b", r"\s*\s*\s*x", r"(\w+,?)+;", r"(?:a++)*a*a*b"])
def test_what_would_is_told(text: str) -> None:
    assert worst(re.compile(text)) > SQUARE


@pytest.mark.parametrize("text", [r"\A[a-z]{1,8}\Z", r"(?:ab)+c", r"a++b"])
def test_what_would_not_is_not(text: str) -> None:
    assert worst(re.compile(text)) <= SQUARE
