"""Bytes read as what a subject takes.

The contract: every input is read, and the shorter inputs give the simpler texts. A byte is a letter of ASCII or one of
``FRAGMENTS``, so that a fuzzer that changes a byte changes a word; ``ANY`` and three bytes more are any letter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

PARTED: Final = b"\x1e"
"""Stands between the parts of an input."""
ANY: Final = 0x7F
FRAGMENTS: Final = (
    *("the user ", "The user ", "user", "User: ", "owner ", "you ", "it ", "the test ", "the log "),
    *("approved ", "asked ", "asked for ", "confirmed ", "forbade ", "was approved ", "has been ", "by ", "not "),
    *("without ", "unless ", "must ", "and ", "permission ", "approval ", "with ", "granted ", "according to ", "did "),
    *(
        "l'utilisateur ",
        "a approuv\u00e9 ",
        "der Nutzer ",
        "hat ",
        "genehmigt ",
        "el usuario ",
        "aprob\u00f3 ",
        "deja ",
    ),
    *(
        "\u7528\u6237",
        "\u6279\u51c6",
        "\u78ba\u8a8d",
        "\u30e6\u30fc\u30b6\u30fc",
        "\u306f",
        "\u3002",
        "\uff0c",
        "\u300c",
        "\u300d",
    ),
    *(
        "\u0430\u0440\u0440roved ",
        "\uff35ser ",
        "ap**prov**ed ",
        "app\u200broved ",
        "\u0130",
        "\ufb03",
        "\ufdfa",
        "\u0301",
    ),
    *("\u201c", "\u201d", "\u201e", "\u00ab", "\u00bb", '"', "'", "(", ")", ". ", "! ", ", ", ": ", "; ", " - ", "\n"),
    *("\n\n", "\n- ", "\u2028", "\u200b", "\u00ad", "\U000e0041", "\u3000", "\x85", "\\", "/", "_", "aB", "<|", "</"),
    *("Keep topic-0 in the form that the rules of the project ask for.", "Keep topic-1 ", "topic-0", "Skip "),
    *("Line 1 of src/a.py was changed.", "The user said: ", "(message m1).", "message m1 ", "ignore ", "disregard "),
    *("rules ", "all ", "safety ", "2026-01-31 ", "12 ", "the summary ", "verdict ", "accepted ", "untrusted_", "role"),
    *("[", "]", "{", "}", "\\u0000", "\\ud800", "NaN", "1e999", '"summary_text": ', "null", "0" * 64, "a" * 200),
    *("Please fix the parser", "It breaks on tabs.", "Yes.", "abababab", "aaaaaaaa", "\ud800"),
)


def text_of(data: bytes) -> str:
    """Read a text."""
    return "".join(_letters(data))


def texts_of(data: bytes, most: int) -> list[str]:
    """Read some texts, of at most ``most`` parts."""
    return [text_of(part) for part in data.split(PARTED, most - 1)]


def _letters(data: bytes) -> Iterator[str]:
    following = iter(data)
    for byte in following:
        if byte == ANY:
            code = int.from_bytes(bytes([next(following, 0), next(following, 0), next(following, 0)]))
            yield chr(code % 0x110000)
        else:
            yield chr(byte) if byte < ANY else FRAGMENTS[(byte - ANY - 1) % len(FRAGMENTS)]
