"""Telephone numbers: what stands like one, judged by the regions' numbering plans and by the words beside it.

The contract: a run of seven to seventeen digits with the separators of telephone numbers is looked at; nothing else.
An international number counts when its country exists and its length is one of that country's, since numbers of
exchanges that opened later than the plan's copy here, and mistyped ones, are still somebody's. A national number
counts when it is valid in a region of the profile; as bare digits or when short, only with a word beside it; and with
such a word it need not be valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import phonenumbers

from streams.adapters.pii.context import ContextWords, is_whole_field

STANDS_ALONE: Final = 0.4
"""Score of a number that needs no word beside it: Presidio's own for telephone numbers."""

BY_WORDS_ALONE: Final = 0.1
"""Score of what only a word makes a number."""

STRONG_DIGITS: Final = 10
"""National numbers of fewer digits need a word: ISO dates have eight, arXiv's numbers nine."""

WITHOUT_TRUNK: Final = frozenset(
    re.findall(r"[A-Z]{2}", "AR BR CA CL CN CO CZ DK ES GR HK HU IN IT MX NO PE PL PT RU SG US")
)
"""Regions whose national numbers are written without a leading zero."""

MOST_DIGITS_WITHOUT_TRUNK: Final = 11
"""Longest national number; with its leading zero and an area code in brackets, two more."""

WINDOW: Final = (
    # Not within a word, a path, a version or a hyphenated identifier; separators can be read in one way only.
    r"(?<![0-9A-Za-z])(?<![0-9A-Za-z][-_/.])[+(\uff0b]{0,2}\d"
    r"(?:(?:[ \u00a0]?[().\-/\u2010-\u2015]{1,2}[ \u00a0]?|[ \u00a0]?)\d){6,16}"
    r"(?![0-9A-Za-z]|[-_][0-9A-Za-z])"
)
_WINDOW: Final = re.compile(WINDOW)
_NO_NUMBER: Final = re.compile(
    r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.\d{1,3}){3}"  # an address of a machine
    r"|\d+\.\d+"  # a decimal number
    r"|(?:19|20)\d{2}(?P<s>[-./])\d{1,2}(?P=s)\d{1,2}(?:[ T]\d{1,2})?"  # dates
    r"|\d{1,2}(?P<t>[-./])\d{1,2}(?P=t)(?:19|20)\d{2}"
    r"|(?:19|20)\d{2} ?[-/\u2013] ?(?:19|20)\d{2}"  # years
)
_LONG_GROUPS: Final = re.compile(r"(?=[1-9])[\d \u00a0]*\d{6}[\d \u00a0]*")
"""Numbers side by side, no dialling code in front: a table, or a list of sizes."""

_PLUS: Final = ("+", "(+", "\uff0b", "(\uff0b")
_REPEATED: Final = 2


def telephone_numbers(text: str, context: ContextWords, regions: Sequence[str]) -> Iterator[tuple[int, int, float]]:
    """Return begin, end and score of the telephone numbers in a text."""
    for window in _WINDOW.finditer(text):
        start, end = window.span()
        number = window.group()
        if _NO_NUMBER.fullmatch(number):
            continue
        score = _score(number, regions, begins_line=start == 0 or text[start - 1] == "\n")
        if score == BY_WORDS_ALONE:
            if is_whole_field(text, start, end):
                stands = (number[0] in "(0" or not number.isdigit()) and _is_written_nationally(number, regions)
                score = STANDS_ALONE if stands else 0.0
            elif not context.beside(text, start, end):
                score = 0.0
        if score:
            yield start, end, score


def _score(number: str, regions: Sequence[str], *, begins_line: bool) -> float:
    digits = _digits(number)
    if len(set(digits)) <= _REPEATED:
        return 0.0
    if number.startswith(_PLUS):
        plan = _international(digits)
        # A line of a diff begins with a plus sign, too.
        stands = plan == _VALID or (plan and not (begins_line and number[1:].isdigit()))
    elif digits.startswith("00"):
        stands = _international(digits[2:]) == _VALID
    else:
        stands = _stands_nationally(number, regions)
    return STANDS_ALONE if stands else BY_WORDS_ALONE


def _stands_nationally(number: str, regions: Sequence[str]) -> bool:
    return not (number.isdigit() or _LONG_GROUPS.fullmatch(number)) and _is_written_nationally(number, regions)


def _is_written_nationally(number: str, regions: Sequence[str]) -> bool:
    """Say whether a number is valid in a region as it is written there: with a leading zero where there is one."""
    digits = _digits(number)
    trunk = digits[0] == "0" or number[0] == "("
    if not STRONG_DIGITS <= len(digits) <= MOST_DIGITS_WITHOUT_TRUNK + 2 * trunk:
        return False
    return any(_is_national(digits, region) for region in regions if trunk or region in WITHOUT_TRUNK)


def _digits(number: str) -> str:
    return "".join(character for character in number if character.isdigit())


_VALID: Final = "valid"


def _international(digits: str) -> str:
    try:
        parsed = phonenumbers.parse("+" + digits, None)
    except phonenumbers.NumberParseException:
        return ""
    if phonenumbers.is_valid_number(parsed):
        return _VALID
    return "possible" if phonenumbers.is_possible_number(parsed) else ""


def _is_national(digits: str, region: str) -> bool:
    metadata = phonenumbers.PhoneMetadata.metadata_for_region(region)
    if metadata is None:
        return False
    national = digits.removeprefix(metadata.national_prefix or "\x00")
    lengths = metadata.general_desc.possible_length if metadata.general_desc else ()
    if len(digits) not in lengths and len(national) not in lengths:
        return False
    try:
        return bool(phonenumbers.is_valid_number(phonenumbers.parse(digits, region)))
    except phonenumbers.NumberParseException:
        return False
