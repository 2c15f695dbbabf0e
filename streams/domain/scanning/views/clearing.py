"""Characters that are not what they seem: invisible ones, compatibility forms, and letters of another script.

The contract: ``cleared`` returns the edits that leave what a reader takes the text for. Compatibility forms and digits
of other scripts become the ASCII that they stand for, punctuation alone only between ASCII; letters that look Latin
become Latin in a token that has Latin letters or digits, and what has no width is dropped where it stands beside ASCII:
between the letters of Persian or Indic words, and inside an emoji, it has work to do and hides nothing that a detector
looks for. Characters that spell ASCII invisibly (the tag block, variation selectors, zero-width bits) are read. Case
stays, since a token has one.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from streams.domain.scanning.views.confusables import LATIN
from streams.domain.scanning.views.model import Edit
from streams.domain.scanning.views.stretches import Change, stretched

UNHIDDEN: Final = "unhidden"
NORMALISED: Final = "normalised"
CONFUSABLES: Final = "confusables"

INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that have no width: as a class of a pattern."""

_TAG_BASE: Final = 0xE0000
_SPELLING: Final = re.compile("[\U000e0020-\U000e007e]+")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_BITS: Final = re.compile("[\u200b\u200c\u200d\u2060\ufeff]{16,}")
_HIDDEN: Final = re.compile(f"[{INVISIBLE}]+")


def _folding() -> dict[str, str]:
    """Return the characters that a compatibility form or a digit's value makes ASCII of one character."""
    folding = {}
    for code in (*range(0x80, 0x3400), *range(0xA000, 0xABFF), *range(0xF900, 0x10000), *range(0x10000, 0x1FC00)):
        letter = chr(code)
        value = unicodedata.decimal(letter, None)
        plain = unicodedata.normalize("NFKC", letter) if value is None else str(value)
        if len(plain) == 1 and plain.isascii() and plain.isprintable() and not plain.isspace():
            folding[letter] = plain
    return folding


FOLDING: Final = _folding()


def _pattern(letters: Iterator[str] | list[str]) -> str:
    codes = sorted(map(ord, letters))
    parts, first = [], None
    for place, code in enumerate(codes):
        first = code if first is None else first
        if place + 1 == len(codes) or codes[place + 1] != code + 1:
            parts.append(f"{chr(first)}-{chr(code)}")
            first = None
    return "".join(parts)


_LOOKALIKE: Final = {letter: latin for letter, latin in LATIN.items() if letter not in FOLDING}
_ALIKE: Final = _pattern(list(_LOOKALIKE))
_FOLDED: Final = re.compile(f"[{_pattern(list(FOLDING))}]+")
_MIXED: Final = re.compile(f"[A-Za-z0-9_][{_ALIKE}]|[{_ALIKE}][A-Za-z0-9_]")
_MARKS: Final = re.compile(f"[{_pattern(list(FOLDING))}{INVISIBLE}]")


def cleared(text: str) -> list[Edit]:
    """Return what is taken off a text's characters, in order; an ASCII text costs one look."""
    if text.isascii():
        return []
    changes: list[Change] = []
    spelt: list[Edit] = []
    if _MARKS.search(text):
        for run in _HIDDEN.finditer(text):
            said = _spelt(run.group())
            if said:
                spelt.append(Edit(run.start(), run.end(), said, UNHIDDEN))
            elif _beside_ascii(text, run.start(), run.end()):
                changes.append(Change(run.start(), run.end(), "", UNHIDDEN))
        changes += (
            Change(run.start(), run.end(), run.group().translate(_FOLD), NORMALISED)
            for run in _FOLDED.finditer(text)
            if _matters(text, run.start(), run.end())
        )
    changes += _signs(text)
    changes += _latin(text)
    changes.sort()
    return list(_in_order(text, spelt, changes))


def _in_order(text: str, spelt: list[Edit], changes: list[Change]) -> Iterator[Edit]:
    """Yield what is spelt, and between two such runs the stretches of changes, which do not reach over one."""
    place = low = 0
    for edit in spelt:
        upto = bisect_left(changes, edit.start, lo=place, key=_start)
        yield from stretched(text, changes[place:upto], low, edit.start)
        yield edit
        place, low = upto, edit.end
    yield from stretched(text, changes[place:], low, len(text))


def _start(change: Change) -> int:
    return change.start


_FOLD: Final = {ord(letter): plain for letter, plain in FOLDING.items()}


def _matters(text: str, start: int, end: int) -> bool:
    """Say whether a run has letters or digits, or is punctuation inside of what is ASCII, as in a token.

    Scripts of East Asia use wide punctuation everywhere: beside their letters it is theirs, between two numbers it may
    be a time, a range or a list.
    """
    run = text[start:end]
    if any(letter.isalnum() or letter in "＠．" for letter in run):  # noqa: RUF001 - wide signs are meant
        return True
    before, after = text[max(0, start - 2) : start].rstrip(" ")[-1:], text[end : end + 2].lstrip(" ")[:1]
    if not (_BESIDE_SIGN.match(before) and _BESIDE_SIGN.match(after)):
        return False
    return not (before.isdigit() and after.isdigit() and _OF_NUMBERS.issuperset(run))


_BESIDE_SIGN: Final = re.compile(f"[!-~\x1b{INVISIBLE}]")
_OF_NUMBERS: Final = frozenset("，：；～％（）")  # noqa: RUF001 - wide signs are meant


def _signs(text: str) -> Iterator[Change]:
    """Yield other dashes, slashes and the like inside of tokens that mix letters and digits; prose has its own."""
    if _INSIDE.search(text):
        for token in _SIGNED.finditer(text):
            if any(_is_mixed(part) for part in _PART.findall(token.group())):
                for sign in _INSIDE.finditer(text, *token.span()):
                    yield Change(sign.end() - 1, sign.end(), _LIKE_SIGN[sign.group()[-1]], NORMALISED)


_LIKE_SIGN: Final = {sign: plain for sign, plain in _LOOKALIKE.items() if not plain.isalnum()} | {
    **dict.fromkeys("\u2014\u2015\ufe58", "-"),
    "\u2040": "_",
}
_SIGNS: Final = _pattern(list(_LIKE_SIGN))
_INSIDE: Final = re.compile(f"[0-9A-Za-z_/][{_SIGNS}](?=[0-9A-Za-z_/])")
_SIGNED: Final = re.compile(f"[0-9A-Za-z_./+=@:{_SIGNS}-]+")
_PART: Final = re.compile("[0-9A-Za-z]{8,}")


def _is_mixed(part: str) -> bool:
    """Say whether a part of a token has letters and digits."""
    return not part.isalpha() and not part.isdigit()


def _beside_ascii(text: str, start: int, end: int) -> bool:
    """Say whether what is hidden stands beside ASCII or what folds to it."""
    around = text[start - 1 : start] + text[end : end + 1]
    return any("!" <= letter <= "~" or letter in FOLDING or letter in _LOOKALIKE for letter in around)


def _spelt(run: str) -> str:
    """Return what invisible characters spell; nothing where they do not."""
    tags = "".join(chr(ord(tag) - _TAG_BASE) for spelt in _SPELLING.findall(run) for tag in spelt)
    return tags or _carried(run) or _bits(run)


def _carried(run: str) -> str:
    """Return the bytes that variation selectors stand for: the first sixteen, then the others."""
    match = _SELECTORS.search(run)
    if match is None:
        return ""
    codes = map(ord, match.group())
    raw = bytes(code - 0xFE00 if code < _TAG_BASE else code - 0xE0100 + 16 for code in codes)
    text = raw.decode("utf-8", "replace")
    return text if text.isprintable() and "\ufffd" not in text else ""


def _bits(run: str) -> str:
    """Return the text that two characters without width stand for, as the bits of its bytes."""
    match = _BITS.search(run)
    kinds = sorted(set(match.group())) if match else []
    if match is None or len(kinds) != 2:  # noqa: PLR2004 - a zero and a one
        return ""
    for zero, one in (kinds, kinds[::-1]):
        bits = match.group().replace(zero, "0").replace(one, "1")
        bits = bits[: len(bits) // 8 * 8]
        text = int(bits, 2).to_bytes(len(bits) // 8, "big").decode("utf-8", "replace")
        if text.isprintable() and "\ufffd" not in text:
            return text
    return ""


def _latin(text: str) -> Iterator[Change]:
    """Yield tokens of letters that look Latin and stand among Latin ones."""
    place = 0
    while (mixed := _MIXED.search(text, place)) is not None:
        if _ends_sequence(text, mixed.start()):
            place = mixed.start() + 1
            continue
        token = _around(text, max(place, mixed.start() - _MOST_OF_TOKEN), mixed.start())
        for run in _LOOKALIKES.finditer(text, *token):
            yield Change(run.start(), run.end(), run.group().translate(_LATIN), CONFUSABLES)
        place = max(token[1], mixed.end())


def _ends_sequence(text: str, place: int) -> bool:
    """Say whether a letter is the last of a terminal's sequence, which belongs to no word behind it."""
    start = text.rfind("[", max(0, place - _LONGEST_SEQUENCE), place)
    return start >= 0 and _OF_SEQUENCE.fullmatch(text, start, place + 1) is not None


_LONGEST_SEQUENCE: Final = 32
_OF_SEQUENCE: Final = re.compile(r"\[[0-9;:?]*[A-Za-z]")
_LOOKALIKES: Final = re.compile(f"[{_ALIKE}]+")
_LATIN: Final = {ord(letter): latin for letter, latin in _LOOKALIKE.items()}
_MOST_OF_TOKEN: Final = 512
_NO_TOKEN: Final = re.compile(r"[^\w./+=@:-]")


def _around(text: str, low: int, place: int) -> tuple[int, int]:
    """Return the bounds of the token at a place, no lower than ``low``."""
    edge = _NO_TOKEN.search(text[low:place][::-1])
    start = place - edge.start() if edge else low
    edge = _NO_TOKEN.search(text, place, place + _MOST_OF_TOKEN)
    return start, edge.start() if edge else min(len(text), place + _MOST_OF_TOKEN)
