"""Is a value a secret, or does it stand where one would stand? Pure functions over a value and what it was called.

The contract: ``Judge`` names what a rule asks of its value. A rule whose form speaks for itself asks little (TOKEN:
no row of crosses, nothing that says it is none); a rule that found a value by the word before it asks more (ASSIGNED:
no placeholder, variable, call, type or path; SPOKEN: as in prose, so it must look like no word either). Values are cut
to ``LONGEST_JUDGED`` characters.

Nothing here says whether a secret still opens anything, or whose it is.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final

from streams.adapters.secrets.harmless import (
    is_documented_pair,
    is_dotted_number,
    is_flag,
    is_machine_word,
    is_type_name,
)
from streams.adapters.secrets.values import (
    ALGORITHM,
    IDENTIFIER,
    LONG,
    OF_DIGITS,
    SHORTEST,
    counts_as_digits,
    has_digit,
    is_filler,
    is_mask,
    is_one_letter,
    is_passphrase,
    is_password,
    is_phrase,
    is_public,
    is_spoken_password,
    is_strong,
    is_template,
    is_words_password,
    kinds_of,
    looks_random,
    names_password,
    names_something,
    names_something_else,
    numbers_a_thing,
    reads_as_code,
    reads_as_identifier,
    reads_as_path,
    reads_as_pattern,
    reads_as_words,
    same_name,
    says_placeholder,
    without_escapes,
)
from streams.domain.scanning.views.terminal import without_sequences

LONGEST_JUDGED: Final = 256


class Judge(Enum):
    """What a rule asks of its value."""

    NONE = "none"
    TOKEN = "token"  # noqa: S105 - a kind of judgement
    ASSIGNED = "assigned"
    QUOTED = "quoted"
    SPOKEN = "spoken"
    NEXT = "next"
    QUOTED_PROSE = "quoted-prose"
    RANDOM = "random"
    LITERAL = "literal"
    CREDENTIALS = "credentials"
    CODE = "code"
    PHRASE = "phrase"
    NAME = "name"
    COMPARED = "compared"
    PAIRED = "paired"
    NEAR = "near"


def is_secret(judge: Judge, value: str, key: str = "") -> bool:
    """Whether a value is what its rule takes it for.

    Args:
        judge: What the rule asks.
        value: The value as it stands in the text.
        key: The name it was given, where the rule found one.
    """
    value = value[:LONGEST_JUDGED]
    said = without_sequences(value)
    return bool(said or not value) and _JUDGES[judge](said, key)


def _literal(value: str, _key: str) -> bool:
    if is_mask(value) or is_template(value) or is_public(value) or names_something(value):
        return False
    return len(value) >= LONG or not is_filler(value)


def _token(value: str, _key: str) -> bool:
    return not (is_mask(value) or says_placeholder(value) or is_one_letter(value) or is_documented_pair(value))


def _credentials(value: str, key: str) -> bool:
    if len(value) < SHORTEST or is_mask(value) or is_template(value) or is_filler(value):
        return False
    return key.rpartition("/")[2] != value  # the user's name again: a default, not a secret


def _named(value: str, key: str) -> bool:
    """Whether neither name nor value say that this is no secret."""
    if is_mask(value) or is_public(value) or is_machine_word(value) or is_dotted_number(value):
        return False
    if is_flag(value, key) or names_something_else(key):
        return False
    counting = not OF_DIGITS.search(key)
    return not (is_template(value) or is_filler(value, counting=counting) or same_name(key, value))


def _random(value: str, key: str) -> bool:
    if not has_digit(value) or not looks_random(value) or not is_password(value) or numbers_a_thing(value):
        return False
    if reads_as_path(value) or reads_as_identifier(value) or is_type_name(value):
        return False
    return not is_documented_pair(value) and _named(value, key)


def _quoted(value: str, key: str) -> bool:
    return _is_quoted(value, key, plain=names_password(key))


def _compared(value: str, key: str) -> bool:
    """Whether what a secret is compared with is one: programs compare with words that are none."""
    return _is_quoted(value, key, plain=False)


def _is_quoted(value: str, key: str, *, plain: bool) -> bool:
    if ALGORITHM.match(value) or reads_as_path(value) or reads_as_pattern(value):
        return False
    if not (_is_literal(value) or (plain and (is_words_password(value) or is_passphrase(value)))):
        return False
    return counts_as_digits(key, value) and _named(value, key)


def _is_literal(value: str) -> bool:
    if " " in value:
        return len(value) >= LONG and kinds_of(value)["symbol"] >= 3 and not reads_as_words(value)  # noqa: PLR2004
    return is_password(value) and not numbers_a_thing(value, _SHORTEST_KEY)


_SHORTEST_KEY: Final = 16
"""Hexadecimal digits of the shortest key that a name for keys makes one."""


def _assigned(value: str, key: str) -> bool:
    if not is_password(value) or numbers_a_thing(value, _SHORTEST_KEY) or not counts_as_digits(key, value):
        return False
    return not (reads_as_code(value) or reads_as_pattern(value) or is_type_name(value)) and _named(value, key)


def _paired(value: str, key: str) -> bool:
    """Whether what stands under a user's name, where a password would stand, is one: a plain word may be."""
    if len(value) < SHORTEST or reads_as_code(value) or reads_as_pattern(value) or ALGORITHM.match(value):
        return False
    return value != key and (is_password(value) or is_words_password(value)) and _named(value, "password")


def _strong(value: str, key: str) -> bool:
    return is_strong(value) and not reads_as_pattern(value) and _named(value, key or "password")


def _spoken(value: str, key: str) -> bool:
    return is_spoken_password(value) and not reads_as_pattern(value) and _named(value, key or "password")


def _next(value: str, key: str) -> bool:
    """Whether a word that follows a word for a secret, with nothing between, is one: letters and digits both."""
    if is_flag(value, key) or not _spoken(value, key):  # "found the password flag{...}": a sentence about a flag
        return False
    value = without_escapes(value)
    kinds = kinds_of(value)
    return kinds["digit"] > 0 and kinds["lower"] + kinds["upper"] > 0 and not IDENTIFIER.match(value.strip(".,;:!?"))


def _quoted_prose(value: str, key: str) -> bool:
    """Whether quoted words in a sentence are a secret: none of code's, not all of documentation's."""
    if value[:1] in ",;)" or not _named(value, key) or reads_as_code(value) or reads_as_pattern(value):
        return False  # what closes something stands between two quotations, not in one
    return len(value.split()) <= 8  # noqa: PLR2004 - longer is a quotation


def _code(value: str, _key: str) -> bool:
    return has_digit(value)


_JUDGES: Final[dict[Judge, Callable[[str, str], bool]]] = {
    Judge.NONE: lambda _value, _key: True,
    Judge.TOKEN: _token,
    Judge.ASSIGNED: _assigned,
    Judge.QUOTED: _quoted,
    Judge.SPOKEN: _spoken,
    Judge.NEXT: _next,
    Judge.QUOTED_PROSE: _quoted_prose,
    Judge.RANDOM: _random,
    Judge.LITERAL: _literal,
    Judge.CREDENTIALS: _credentials,
    Judge.CODE: _code,
    Judge.PHRASE: lambda value, _key: is_phrase(value),
    Judge.NAME: _named,
    Judge.COMPARED: _compared,
    Judge.PAIRED: _paired,
    Judge.NEAR: _strong,
}
