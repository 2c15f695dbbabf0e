"""Telephone numbers: what stands like one, judged by the regions' numbering plans and by the words beside it.

The contract: a run of seven to seventeen digits with the separators of telephone numbers is looked at; nothing else.
An international number counts when its country exists and its length is one of that country's, since numbers of
exchanges that opened later than the plan's copy here, and mistyped ones, are still somebody's. A national number
counts when it is valid in a region of the profile; as bare digits or when short, only with a word beside it; and with
such a word it need not be valid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import phonenumbers

from streams.adapters.pii.context import Words, is_whole_field
from streams.adapters.pii.plans import plans_of

STANDS_ALONE: Final = 0.4
"""Score of a number that needs no word beside it: Presidio's own for telephone numbers."""

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
    r"(?<![0-9A-Za-z])(?<![0-9A-Za-z][-_/.])([+(\uff0b]{0,2}\d"
    r"(?:(?:[ \u00a0]?[().\-/\u2010-\u2015]{1,2}[ \u00a0]?|[ \u00a0]?)\d){6,16})"
    r"(?:,? ?(?:[xX]|[eE]xt\.?|EXT\.?|доб\.?|int\.|anexo) ?\d{1,6})?"
    r"(?![0-9A-Za-z]|[-_][0-9A-Za-z])"
)
MARKED: Final = r"[+(\uff0b]\d|\d[ \u00a0().\-/\u2010-\u2015]{1,4}\d|\d,? ?[xXeEдia]"
"""In every such run that is more than digits."""

_WINDOW: Final = re.compile(WINDOW)
_NO_NUMBER: Final = re.compile(
    r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.\d{1,3}){3}"  # an address of a machine
    r"|\d+\.\d+"  # a decimal number
    r"|(?:19|20)\d{2}(?P<s>[-./])\d{1,2}(?P=s)\d{1,2}(?:[ T]\d{1,2})?"  # dates
    r"|\d{1,2}(?P<t>[-./])\d{1,2}(?P=t)(?:19|20)\d{2}"
    r"|(?:19|20)\d{2} ?[-/\u2013] ?(?:19|20)\d{2}"  # years
    r"|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-./ ]\d{1,8}"  # a day, and a number of that day
)
_NUMBERED: Final = re.compile(
    r"(?i:isbn(?:-1[03])?|issn|ean|upc|gtin|sku|doi|pmid|orcid|orders?|invoice|ticket|serial|tracking|version"
    r"|bestellung|rechnung|commande|facture|pedido|factura|fattura|ordine|zam[oó]wienie|sipariş|заказ|订单号?|注文番号)"
    r"[\s:#№.=]{0,3}(?:(?i:no|nr|id|number)[\s.:]{0,2})?$"
)
"""What stands before numbers of things."""
_BEFORE_NUMBERED: Final = 28
_LONG_GROUPS: Final = re.compile(r"(?=[1-9])(?:[\d \u00a0]*\d{6}[\d \u00a0]*|\d{5}[ \u00a0]\d{5}|.*\d{8}.*)")
"""Numbers side by side, no dialling code in front: a table, or a list of sizes."""

_CALCULATED: Final = re.compile(r"\d\.\d{5}|/\(")
"""Decimal numbers, and sums of them."""
_MOST_BEFORE_BRACKET: Final = 4
"""Digits before an area code in brackets: behind more stands the year of some pages."""
_HOLDS_A_DAY: Final = re.compile(r"(?<!\d)(?:19|20)\d{2}([-./])(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?!\d)")
_MIXED: Final = re.compile(r"\d+\.\d[\d.]*[-/][^(]*")
"""Paragraphs of laws, and handles: a dot first, then a hyphen or slash."""
_BRACKETED: Final = re.compile(r"(?:\d{1,2}[- ]?)?\(\d{3}\)[- ]?\d{3}[-. ]\d{2}[-. ]?\d{2}")
"""An area code in brackets and seven digits in their groups: nothing else is written so."""

_INTERNATIONAL: Final = "+(\uff0b"
_PLUS: Final = ("+", "(+", "\uff0b", "(\uff0b")
_REPEATED: Final = 2


def telephone_numbers(
    text: str, words: Words, regions: Sequence[str], is_wanted: Callable[[str], bool] | None = None
) -> Iterator[tuple[int, int, float]]:
    """Return begin, end and score of the telephone numbers in a text.

    Args:
        text: The text.
        words: The words beside a number.
        regions: Whose numbering plans are asked.
        is_wanted: Whether a number, written like this, counts; each does by default.
    """
    seen: dict[tuple[str, bool], bool] = {}
    for window in _WINDOW.finditer(text):
        start, end = window.span()
        number = window[1]
        begins_line = start == 0 or text[start - 1] == "\n"
        # Words first: they cost less than the plans of all regions, of which a text may hold nothing but numbers.
        if words.beside(text, start, end):
            stands = _is_number(number)
        else:
            if (number, begins_line) not in seen:
                seen[number, begins_line] = _is_number(number) and _stands(number, regions, begins_line=begins_line)
            stands = _without_words(text, start, end, number, regions, stands=seen[number, begins_line])
        if stands and (is_wanted is None or is_wanted(window[0])):
            yield start, end, STANDS_ALONE


def _is_number(number: str) -> bool:
    if _NO_NUMBER.fullmatch(number.lstrip("(")) or _is_calculated(number):
        return False
    return len(set(_digits(number))) > _REPEATED


def _without_words(text: str, start: int, end: int, number: str, regions: Sequence[str], *, stands: bool) -> bool:
    """Say whether what is written like a number is one beside no word for one."""
    if stands:
        return number[0] in _INTERNATIONAL or not _NUMBERED.search(text, max(0, start - _BEFORE_NUMBERED), start)
    if not is_whole_field(text, start, end) or not _is_number(number):
        return False
    return (number[0] in "(0" or not number.isdigit()) and _is_written_nationally(number, regions)


def _is_calculated(number: str) -> bool:
    before, bracket, _ = number.partition("(")
    return _CALCULATED.search(number) is not None or (bool(bracket) and len(_digits(before)) > _MOST_BEFORE_BRACKET)


def _stands(number: str, regions: Sequence[str], *, begins_line: bool) -> bool:
    """Say whether a number is one without a word beside it."""
    digits = _digits(number)
    if number.startswith(_PLUS):
        plan = _international(digits)
        # A line of a diff begins with a plus sign, too.
        return plan == _VALID or (bool(plan) and not (begins_line and number[1:].isdigit()))
    if digits.startswith("00"):
        return _international(digits[2:]) == _VALID
    return _stands_nationally(number, regions)


def _stands_nationally(number: str, regions: Sequence[str]) -> bool:
    if _BRACKETED.fullmatch(number):
        return True
    if _HOLDS_A_DAY.search(number) or _MIXED.fullmatch(number):
        return False
    return not (number.isdigit() or _LONG_GROUPS.fullmatch(number)) and _is_written_nationally(number, regions)


def _is_written_nationally(number: str, regions: Sequence[str]) -> bool:
    """Say whether a number is valid in a region as it is written there: with a leading zero where there is one."""
    digits = _digits(number)
    trunk = digits[0] == "0" or number[0] == "("
    if not STRONG_DIGITS <= len(digits) <= MOST_DIGITS_WITHOUT_TRUNK + 2 * trunk:
        return False
    candidates = plans_of(tuple(regions)).regions_of(digits)
    return any(_is_national(digits, region) for region in candidates if trunk or region in WITHOUT_TRUNK)


def _digits(number: str) -> str:
    return "".join(filter(str.isdigit, number))


_VALID: Final = "valid"


_MEXICAN_MOBILE: Final = "521"
"""Written with a one behind the country's code until 2019; lists still have it."""


def _international(digits: str) -> str:
    if digits.startswith(_MEXICAN_MOBILE):
        digits = "52" + digits.removeprefix(_MEXICAN_MOBILE)
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
