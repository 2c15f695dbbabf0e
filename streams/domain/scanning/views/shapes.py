"""What turned text is known by: beginnings of tokens and common words, shifted by thirteen, backwards, or in leetspeak.

The contract: the beginnings are such as vendors document for their tokens, long enough to stand nowhere by chance. The
words are such as sentences need, in several languages, none of which turned is a word itself. All are RE2 patterns.
"""

from __future__ import annotations

import re
from typing import Final

# ruff: noqa: SIM905 - lists of words read best as such

_BEGINNINGS: Final = (
    "sk_live_ sk_test_ rk_live_ pk_live_ whsec_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxb- xoxp- xoxa- xapp- "
    "AKIA ASIA AIza ya29. eyJ sk-ant- sk-proj- hf_ npm_ pypi- dop_v1_ shpat_ shpss_ shpca_ dckr_pat_ -----BEGIN "
    "postgres:// postgresql:// mysql:// mongodb:// mongodb+srv:// redis:// amqp:// https:// http:// ssh-rsa "
    "AGE-SECRET-KEY- sq0atp- sq0csp- PMAK- NRAK- lin_api_ pul- sgp_ CFPAT- figd_ glsa_ hvs. vault: AccountKey="
).split()

_WORDS: Final = (
    "the and that this with from your have will password token secret key call email phone card number address user "
    "der die und das nicht mit ist passwort geheim schluessel "
    "para como contraseña clave por los las una est les des pour avec dans mot passe "
    "della sono chiave segreto senha chave não uma"
).split()

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_SHIFTED: Final = _ALPHABET[13:] + _ALPHABET[:13]
ROT13: Final = str.maketrans(_ALPHABET + _ALPHABET.upper(), _SHIFTED + _SHIFTED.upper())

_SHORTEST_WORD: Final = 3
_REAL_WHEN_TURNED: Final = frozenset({"rof", "sol", "sal", "anu", "sed", "dna", "mot", "tom", "sti"})
"""Turned words that are words or abbreviations."""


def _turned(words: list[str]) -> tuple[str, ...]:
    return tuple(re.escape(word) for word in words if len(word) >= _SHORTEST_WORD and word not in _REAL_WHEN_TURNED)


TOKEN_SHAPES: Final = tuple(re.escape(item) for item in _BEGINNINGS if ":" not in item)
ROT13_SHAPES: Final = tuple(re.escape(item.translate(ROT13)) for item in _BEGINNINGS if re.search("[A-Za-z]{3}", item))
REVERSED_SHAPES: Final = tuple(re.escape(item[::-1]) for item in _BEGINNINGS)
ROT13_WORDS: Final = _turned([word.translate(ROT13) for word in _WORDS])
REVERSED_WORDS: Final = _turned([word[::-1] for word in _WORDS])

_LEET: Final = {"a": "4@", "e": "3", "i": "1!", "o": "0", "s": "5$", "t": "7+", "l": "1|", "g": "9"}

LEET_MEANT: Final = (
    "password passwd passwort passphrase secret token apikey api_key login account credential private access "
    "contrasena geheim clave senha telephone phone email address creditcard security"
).split()
"""Words that secrets and personal data are announced by."""


def _disguised(word: str) -> str:
    """Return the ways to write a word with digits or signs for letters: the first of them at each place in turn."""
    ways = []
    for place, letter in enumerate(word):
        if letter in _LEET:
            rest = "".join(f"[{other}{_LEET.get(other, '')}]" for other in word[place + 1 :])
            ways.append(f"{word[:place]}[{_LEET[letter]}]{rest}")
    return "|".join(ways)


LEET_WORDS: Final = tuple(_disguised(word) for word in LEET_MEANT)
"""For each of them the ways to write it so."""
