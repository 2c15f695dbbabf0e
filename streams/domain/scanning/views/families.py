"""Which families of disguises a text may hold: one linear look that says what is worth a closer one.

The contract: a family that ``families`` leaves out is nowhere in the text; one that it names may be. Nearly all prose
and most code have none or few, so that looking closer costs them nothing.
"""

from __future__ import annotations

from typing import Final

import re2

from streams.domain.scanning.views.shapes import LEET_WORDS, REVERSED_SHAPES, REVERSED_WORDS, ROT13_SHAPES, ROT13_WORDS

_ODD: Final = r"[A-Za-z0-9+/_-]*(?:[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z])[A-Za-z0-9+/_-]*={0,2}"
_TOKEN: Final = r"[0-9A-Za-z_+/=@:.%~-]"  # noqa: S105 - a class of characters
_MIXED: Final = "(?:[A-Za-z][0-9]|[0-9][A-Za-z]|://|[0-9A-Za-z]@[0-9A-Za-z])"
_EMPTY: Final = "(?:\"\"|''|``)"
_QUOTE: Final = "[\"'`]"
_SINGLE: Final = "[!-~]"
_SIGN: Final = r"[ ,;:|/*~._\n-]"

_PATTERNS: Final[dict[str, str]] = {
    "always": r"(?s)\A",
    "padded": r"[A-Za-z0-9+/_-]{10}=(?:=|[^A-Za-z0-9+/_=-]|$)",
    "long-run": r"(?:[A-Za-z0-9+/_-]|\\+/){16}",
    "pairs": r"[0-9A-Fa-f]{2}[ :,][0-9A-Fa-f]{2}[ :,][0-9A-Fa-f]{2}[ :,][0-9A-Fa-f]{2}",
    "hex-list": r"0x[0-9A-Fa-f]{2}[,; \t\r\n]+0x[0-9A-Fa-f]{2}",
    "hex-groups": r"[0-9a-fA-F]{4,16}[ :-][0-9a-fA-F]{4,16}[ :-][0-9a-fA-F]{4,16}",
    "decimals": r"[0-9]{2,3}(?:[,; \t\r\n]+[0-9]{2,3}){3}",
    "chr": r"(?i)chr\([0-9]{2,3}\)|char(?:code)?\([0-9]{2,3}|fromcharcode",
    "binary": r"[01]{8}[ ,]?[01]{8}",
    "morse": r"[.\-\x{b7}\x{2212}]{1,6}[ /|]{1,3}[.\-\x{b7}\x{2212}]{1,6}[ /|]{1,3}[.\-\x{b7}\x{2212}]{1,6}[ /|]",
    "base85": r"(?:[0-9A-Za-z+=()_\[\]\"',./:\\-]{0,12}[!#$%&*;<>?@^`{|}~]){3}[0-9A-Za-z!-/:-@\[-`{-~]{8}",
    "ascii85": "<~[!-uz]{10}",
    "percent": r"%[0-9A-Fa-f]{2}",
    "html": r"&#?[0-9A-Za-z]{2,8};",
    "escape": r"\\[uUx0-3]",
    "string-escape": r"\\[bfnrt\"/]",
    "markdown-escape": r"[0-9A-Za-z]\\[_*.#+=@:~-]",
    "code-point": r"U\+[0-9A-Fa-f]{4}",
    "quoted-printable": r"=[2-9A-F][0-9A-F][!-~]{0,24}=[2-9A-F][0-9A-F]|[!-~]=\r?\n[!-~]",
    "odd-words": rf"(?:^|[^0-9A-Za-z+/_-]){_ODD}\s{{1,4}}{_ODD}",
    "concatenation": rf"{_QUOTE}\s*(?:[+.&~]|\|\|)\s*{_QUOTE}|\"\s+\"|'\s+'|{_QUOTE}\s*\\\n",
    "listed": rf"{_EMPTY}\.join\(|join\({_EMPTY}|implode\({_EMPTY}",
    "apart": rf"(?:^|\s)[A-Za-z0-9](?:{_SIGN}{{1,3}}{_SINGLE}){{4}}",
    "broken-line": rf"{_MIXED}{_TOKEN}*[ \t]*\\?\r?\n[ \t]*{_TOKEN}|{_TOKEN}[ \t]*\\?\r?\n[ \t]*{_TOKEN}*{_MIXED}",
    "rot13": rf"(?:^|[^A-Za-z0-9])(?:{'|'.join(ROT13_SHAPES)})",
    "rot13-words": rf"(?i)\b(?:{'|'.join(ROT13_WORDS)})\b",
    "reversed": rf"(?:{'|'.join(REVERSED_SHAPES)})(?:$|[^A-Za-z0-9])",
    "reversed-words": rf"(?i)\b(?:{'|'.join(REVERSED_WORDS)})\b",
    "dense": rf"(?:[A-Za-z][0-9]{_TOKEN}*){{3}}",
    "leet": rf"(?i)(?:{'|'.join(LEET_WORDS)})",
}


_MEMORY_BYTES: Final = 64 * 1024 * 1024
_ALWAYS: Final = "always"
"""Matches every text: a set that does not say so ran out of memory, and said nothing."""


def _compiled() -> re2.Set:
    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    patterns = re2.Set.SearchSet(options)
    for pattern in _PATTERNS.values():
        patterns.Add(pattern)
    patterns.Compile()
    return patterns


_NAMES: Final = tuple(_PATTERNS)
_ALL: Final = frozenset(_NAMES)
_SET: Final = _compiled()


def families(text: str) -> frozenset[str]:
    """Return the families that a text may hold.

    Args:
        text: Any text.
    """
    held = frozenset(_NAMES[index] for index in _SET.Match(text.encode("utf-8", "replace")) or ())
    return held - {_ALWAYS} if _ALWAYS in held else _ALL
