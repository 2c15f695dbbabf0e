"""Letters of other scripts that readers take for Latin ones, case kept.

The contract: a letter here looks like its Latin one in most typefaces. Which occurrences are read so is for whoever
uses the table to say: alone they are letters of their own script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# ruff: noqa: RUF001 - look-alikes are what the table is of

LATIN: Final[Mapping[str, str]] = {
    # Cyrillic
    "а": "a", "с": "c", "ԁ": "d", "е": "e", "һ": "h", "і": "i", "ј": "j", "ӏ": "l", "о": "o", "р": "p", "ԛ": "q",
    "ѕ": "s", "у": "y", "х": "x", "ԝ": "w", "ѵ": "v", "к": "k", "м": "m", "т": "t", "в": "b", "н": "h", "г": "r",
    "п": "n", "ґ": "r", "ѡ": "w", "ё": "e", "ї": "i", "ү": "y", "ԍ": "g", "ᴦ": "r",
    "А": "A", "В": "B", "С": "C", "Е": "E", "Н": "H", "І": "I", "Ј": "J", "К": "K", "М": "M", "О": "O", "Р": "P",
    "Ѕ": "S", "Т": "T", "У": "Y", "Х": "X", "Ԍ": "G", "Ԝ": "W", "Ԛ": "Q", "Ѵ": "V", "Ү": "Y", "Ӏ": "I", "З": "3",
    "Б": "6",
    # Greek
    "α": "a", "β": "b", "ε": "e", "η": "n", "ι": "i", "κ": "k", "ν": "v", "ο": "o", "ρ": "p", "τ": "t", "υ": "u",
    "χ": "x", "ω": "w", "γ": "y", "σ": "o", "ς": "s", "ϲ": "c", "ϳ": "j", "ϱ": "p",
    "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N", "Ο": "O", "Ρ": "P",
    "Τ": "T", "Υ": "Y", "Χ": "X", "Ϲ": "C", "Ϳ": "J",
    # Armenian
    "ո": "n", "օ": "o", "ս": "u", "հ": "h", "ց": "g", "զ": "q", "Տ": "S", "Օ": "O", "Ս": "U", "Լ": "L",
    # Latin letters that are not ASCII, small capitals and phonetic ones
    "ı": "i", "ɑ": "a", "ɡ": "g", "ɩ": "i", "ʏ": "Y", "ᴀ": "A", "ʙ": "B", "ᴄ": "C", "ᴅ": "D", "ᴇ": "E", "ꜰ": "F",
    "ɢ": "G", "ʜ": "H", "ɪ": "I", "ᴊ": "J", "ᴋ": "K", "ʟ": "L", "ᴍ": "M", "ɴ": "N", "ᴏ": "O", "ᴘ": "P", "ʀ": "R",
    "ꜱ": "S", "ᴛ": "T", "ᴜ": "U", "ᴠ": "V", "ᴡ": "W", "ᴢ": "Z", "ꓐ": "B", "ꓑ": "P", "ꓒ": "d",
    # Cherokee
    "Ꭺ": "A", "Ᏼ": "B", "Ꮯ": "C", "Ꭰ": "D", "Ꭼ": "E", "Ꮐ": "G", "Ꮋ": "H", "Ꮖ": "I", "Ꭻ": "J", "Ꮶ": "K", "Ꮮ": "L",
    "Ꮇ": "M", "Ꮲ": "P", "Ꮪ": "S", "Ꭲ": "T", "Ꮩ": "V", "Ꮃ": "W", "Ꮓ": "Z",
    # Signs that stand for ASCII ones
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "∕": "/", "⁄": "/", "∶": ":", "․": ".", "‿": "_", "ⅼ": "l",
}  # fmt: skip
