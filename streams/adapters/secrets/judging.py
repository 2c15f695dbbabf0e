"""Is a value a secret, or does it stand where one would stand? Pure functions over a value and what it was called.

The contract: ``Judge`` names what a rule asks of its value. A rule whose form speaks for itself asks little (TOKEN:
no row of crosses, nothing that says it is none); a rule that found a value by the word before it asks more (ASSIGNED:
no placeholder, variable, call, type or path; SPOKEN: as in prose, so it must look like no word either). Every
function is linear in its value but for the search for words written as one, which is bounded; values are cut to
``LONGEST_JUDGED`` characters.

Nothing here says whether a secret still opens anything, or whose it is.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from enum import Enum
from itertools import pairwise
from typing import Final

from streams.adapters.secrets.words import FILLER, METADATA

LONGEST_JUDGED: Final = 256
SHORTEST: Final = 4
LONG: Final = 20
"""Characters from which a value of the form that a vendor gave it counts, whatever it is filled with."""

_TEMPLATE: Final = re.compile(
    r"""\A(?:
      <[^<>]*>? | &lt;.* | \[[^\]]*\]? | \(.* | \{\{.* | \{%.* | %\(.* | %[A-Za-z_][\w()]*%?
      | \$\(.* | \$\{\{?[^{}]*\}?\}?
      | \$\$?[A-Za-z_]\w*(?:[\[{(:.-].*)? | \.?\s?\$[^\w].* | \.\s?\$.*
      | \{[^{}]*\} | @[A-Za-z_]\w*@ | __\w+__
      | !(?:Ref|Sub|GetAtt|secret|vault|env)\b.* | ENC\[.*
      | (?:process\.env|os\.environ|os\.getenv|getenv|env|ENV|secrets|vars?|self|this|settings|config|cfg|args?|options?
         |opts|request|req|params?|props|data|ctx|event|local|each|module|System|Deno|Bun|vault|ssm|op|keyring|github|inputs
         |steps)
        (?:\.|\[|\(|->|::).*
      | [A-Za-z][\w.-]*:[0-9]{2,5} | \#[0-9A-Fa-f]{3,8} | [^\w%]*(?:%[-0-9.]*[a-zA-Z][^\w%]*)+
      | (?:[a-z][a-z0-9+.-]*://|arn:|ref:|vault:|op:|ssm:|file:).*
    )\Z""",
    re.VERBOSE | re.DOTALL,
)
_CALL: Final = re.compile(
    r"\A[A-Za-z_][\w.]*\(|\A[A-Za-z_][\w.]*\[|\A(?:new|await|return|lambda|function|async|if|not)\b"
)
_DOTTED: Final = re.compile(r"\A&?[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+\Z")
_CONSTANT: Final = re.compile(r"\A[A-Z]+(?:_(?:[A-Z][A-Z0-9]*|\d{1,2}))+\Z")
_PATH: Final = re.compile(r"\A(?:~|\.{1,2})?[/\\]|\A[A-Za-z]:[/\\]|\A\\\\")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_MASKS: Final = frozenset("xX*.•·●#-_=0?…█▒○◦∙~+/ ")
_IDENTIFIER: Final = re.compile(r"\A[A-Za-z]+\d{0,3}(?:[-_.:/]{1,2}(?:[A-Za-z]+\d{0,3}|\d{1,3})){1,8}\Z")
_KEYBOARD_KEYS: Final = re.compile(r"\A(?:Ctrl|Control|Alt|Shift|Cmd|Meta|Super)[ +_-]", re.IGNORECASE)


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


def is_secret(judge: Judge, value: str, key: str = "") -> bool:
    """Whether a value is what its rule takes it for.

    Args:
        judge: What the rule asks.
        value: The value as it stands in the text.
        key: The name it was given, where the rule found one.
    """
    return _JUDGES[judge](value[:LONGEST_JUDGED], key)


def _literal(value: str, _key: str) -> bool:
    if is_mask(value) or is_template(value) or names_something(value):
        return False
    return len(value) >= LONG or not is_filler(value)


def _token(value: str, _key: str) -> bool:
    return not (is_mask(value) or says_placeholder(value) or is_one_letter(value))


def _credentials(value: str, key: str) -> bool:
    if len(value) < SHORTEST or is_mask(value) or is_template(value) or is_filler(value):
        return False
    return key.rpartition("/")[2] != value  # the user's name again: a default, not a secret


def _named(value: str, key: str) -> bool:
    """Whether neither name nor value say that this is no secret."""
    if is_mask(value) or names_something_else(key):
        return False
    counting = not _OF_DIGITS.search(key)
    return not (is_template(value) or is_filler(value, counting=counting) or same_name(key, value))


def _random(value: str, key: str) -> bool:
    if not _has_digit(value) or not looks_random(value) or not is_password(value):
        return False
    return not (reads_as_path(value) or _IDENTIFIER.match(value)) and _named(value, key)


def _quoted(value: str, key: str) -> bool:
    if " " in value:
        if len(value) < LONG or _kinds(value)["symbol"] < 3 or reads_as_words(value):  # noqa: PLR2004 - measured
            return False
    elif not is_password(value) or reads_as_path(value) or _ALGORITHM.match(value):
        return False
    return counts_as_digits(key, value) and _named(value, key)


def _assigned(value: str, key: str) -> bool:
    if not is_password(value) or not counts_as_digits(key, value) or reads_as_code(value):
        return False
    return _named(value, key)


def _spoken(value: str, key: str) -> bool:
    return is_spoken_password(value) and _named(value, key or "password")


def _next(value: str, key: str) -> bool:
    """Whether a word that follows a word for a secret, with nothing between, is one: letters and digits both."""
    if not _spoken(value, key):
        return False
    kinds = _kinds(value)
    return kinds["digit"] > 0 and kinds["lower"] + kinds["upper"] > 0 and not _IDENTIFIER.match(value.strip(".,;:!?"))


def _quoted_prose(value: str, key: str) -> bool:
    """Whether quoted words in a sentence are a secret: none of code's, not all of documentation's."""
    if not _named(value, key) or reads_as_code(value):
        return False
    return len(value.split()) <= 8  # noqa: PLR2004 - longer is a quotation


def _has_digit(value: str) -> bool:
    return any(letter.isdigit() for letter in value)


def _code(value: str, _key: str) -> bool:
    return _has_digit(value)


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
}


def is_mask(value: str) -> bool:
    """Whether a value is a row of crosses, stars or dots, whatever prefix it has."""
    body = value.strip("'\"` ")
    if "..." in body or "…" in body or "***" in body or "xxxxx" in body.lower():
        return True
    letters = set(body)
    return not letters - _MASKS or len(letters) <= 1


def is_one_letter(value: str) -> bool:
    """Whether the body of a token is one character, repeated."""
    body = "".join(part for part in _SEPARATORS.split(value) if len(part) >= 8)  # noqa: PLR2004 - the rest is prefix
    return len(set(body)) == 1


_SEPARATORS: Final = re.compile(r"[_.:-]")


def names_something(value: str) -> bool:
    """Whether a value is an identifier, a path or an expression."""
    return not any(letter.isdigit() for letter in value) and not looks_random(value)


def says_placeholder(value: str) -> bool:
    """Whether a token's body says that it is none: "your", "example", "replace", spelt out."""
    words = _words(value)
    return any(word in _SAYS for word in words)


_SAYS: Final = frozenset(
    {"your", "yours", "placeholder", "replace", "replaceme", "insert", "changeme", "redacted", "here"}
)
_SAID: Final = _SAYS | {"example", "fake", "dummy", "sample", "todo", "notreal"}


def is_template(value: str) -> bool:
    """Whether a value is filled in later: a variable, an expression, a reference to where the secret is kept."""
    value = value.strip(" \"'`")
    if value[:1] == "$" and value[1:2] not in "{($" and sum(letter.isdigit() for letter in value) >= 3:  # noqa: PLR2004
        return False
    return bool(_TEMPLATE.match(value))


def is_filler(value: str, *, counting: bool = True) -> bool:
    """Whether a value consists of words that fill in for a secret, and a digit here and there.

    Args:
        value: The value.
        counting: Whether digits that count up ("abc123") are filler too; in passwords they are not.
    """
    words = _words(value)
    if not words or any(word in _SAID for word in words):
        return True
    return all(_is_filler_word(word, counting=counting) for word in words)


def _is_filler_word(word: str, *, counting: bool) -> bool:
    if word.isdigit():
        return len(word) == 1 or (counting and word in "01234567890123456789")
    return word in FILLER or _is_segmented(word)


def _is_segmented(word: str) -> bool:
    """Whether a word is filler words written as one ("notapassword"), with one short one at most."""
    reached = [(True, False)] + [(False, False)] * len(word)  # without a short one, with one
    for end in range(1, len(word) + 1):
        none = one = False
        for start in range(max(0, end - _LONGEST_FILLER), end):
            if word[start:end] in FILLER:
                short = end - start < 3  # noqa: PLR2004 - of any letters a few two-letter words can be made
                none = none or (reached[start][0] and not short)
                one = one or (reached[start][0] and short) or (reached[start][1] and not short)
        reached[end] = (none, one)
    return any(reached[-1])


_LONGEST_FILLER: Final = max(map(len, FILLER))


def _words(value: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(value)]


def same_name(key: str, value: str) -> bool:
    """Whether a value only repeats its name, or names a constant or an environment variable."""
    letters = "".join(_words(value))
    return bool(_CONSTANT.match(value)) or (bool(key) and letters == "".join(_words(key)))


def names_something_else(key: str) -> bool:
    """Whether a name with a word for a secret in it names something about it (``token_url``, ``publicKey``)."""
    words = _words(key)
    if not words:
        return False
    if words[-1] in METADATA or words[-1] == "tokens" or words[0] in _VERBS:
        return True
    return any(word in _NO_SECRETS or word.startswith(("tokeni", "keyboard")) for word in words)


_VERBS: Final = frozenset(
    {"assert", "check", "compare", "count", "create", "decode", "encode", "expect", "fetch", "find", "generate", "get"}
    | {"has", "import", "is", "load", "make", "parse", "read", "split", "string", "validate", "verify"}
)
_NO_SECRETS: Final = frozenset(
    {"public", "max", "min", "num", "secretary", "passenger", "passthrough", "column", "col", "row", "unique", "uniq"}
)


def is_password(value: str) -> bool:
    """Whether somebody would choose or generate this value: not too short, and no plain word."""
    if len(value) < SHORTEST or (value.isalpha() and (value.islower() or value.istitle())):
        return False
    kinds = _kinds(value)
    if set(value) <= _HEX_DIGITS and kinds["lower"] and kinds["digit"] >= 3 and len(value) > 8:  # noqa: PLR2004 - words
        return len(value) >= LONG  # shorter ones number things
    return kinds["digit"] > 0 or kinds["symbol"] > 0 or looks_random(value)


_HEX_DIGITS: Final = frozenset("0123456789abcdef")


def _kinds(value: str) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for letter in value:
        if letter.isdigit():
            kinds["digit"] += 1
        elif letter.isupper():
            kinds["upper"] += 1
        elif letter.isalpha():
            kinds["lower"] += 1
        elif letter in "!@#$%^&*+=?~|;/\\":
            kinds["symbol"] += 1
        elif letter in " \t":
            kinds["space"] += 1
    return kinds


def reads_as_words(value: str) -> bool:
    """Whether most of a value's characters are in words of letters only, as prose has them."""
    parts = value.split()
    plain = sum(len(part) for part in parts if part.strip(".,;:!?'\"()").isalpha())
    return plain * 2 >= sum(len(part) for part in parts)


def reads_as_code(value: str) -> bool:
    """Whether an unquoted value is an expression, a path or a key to press rather than a literal."""
    if _CALL.match(value) or _DOTTED.match(value) or _KEYBOARD_KEYS.match(value):
        return True
    return any(sign in value for sign in _OF_CODE) or reads_as_path(value)


_OF_CODE: Final = ("{{", "${", "['", '["')


def reads_as_path(value: str) -> bool:
    """Whether a value is a path in a file system or of a URL."""
    return bool(_PATH.match(value)) and (not _has_digit(value) or not looks_random(value) or reads_as_name(value))


def counts_as_digits(key: str, value: str) -> bool:
    """Whether a value is no mere number, or is one under a name of such: a PIN is, a count of tokens is not."""
    return not value.isdigit() or len(value) >= 16 or bool(_OF_DIGITS.search(key))  # noqa: PLR2004 - no count


_OF_DIGITS: Final = re.compile(r"pass|pwd|pin", re.IGNORECASE)
_ALGORITHM: Final = re.compile(
    r"\A(?:sha|md|base|utf|argon|bcrypt|pbkdf|aes|rsa|ed|secp|oauth|hs|rs|es|ipv|http|tls|ssl|v|x|p)[-_]?\d",
    re.IGNORECASE,
)


def is_spoken_password(value: str) -> bool:
    """Whether a word in a sentence is a password: letters with digits or signs among them, and no expression."""
    value = value.strip(".,;:!?)]}*_'\"")
    if len(value) < 4 or _PATH.match(value) or reads_as_code(value) or _ALGORITHM.match(value):  # noqa: PLR2004
        return False
    kinds = _kinds(value)
    letters = kinds["lower"] + kinds["upper"]
    if not letters:
        return len(value) >= 6 and value.isdigit()  # noqa: PLR2004 - fewer are counts and years
    return kinds["digit"] > 0 or (kinds["symbol"] > 0 and not _ENDS.search(value))


_ENDS: Final = re.compile(r"\A\W*[^\W\d]+(?:[/|+&=][^\W\d]+)*\W*\Z")


def is_phrase(value: str) -> bool:
    """Whether words are as many and as different as a recovery phrase's."""
    words = [word for word in _WORD.findall(value) if not word.isdigit()]
    return len(words) >= 12 and len(set(words)) * 4 >= len(words) * 3  # noqa: PLR2004 - the shortest phrase in use


def looks_random(value: str) -> bool:
    """Whether a value looks generated: long, of several kinds of characters, with few repetitions."""
    kinds = _kinds(value)
    if len(value) < 12 or kinds["space"]:  # noqa: PLR2004 - shorter ones are words, versions and dates
        return False
    changes = sum(_kind(a) != _kind(b) for a, b in pairwise(value))
    several = sum(bool(kinds[kind]) for kind in ("digit", "upper", "lower", "symbol"))
    if several < 2 or entropy(value) < 3.0:  # noqa: PLR2004 - bits a character, measured
        return False
    return kinds["digit"] > 0 or (changes * 3 >= len(value) and not reads_as_name(value))


def reads_as_name(value: str) -> bool:
    """Whether a value is words written together or with signs between them, as names of things are."""
    words = _WORD.findall(value)
    return bool(words) and sum(map(len, words)) >= 3.5 * len(words)


def _kind(letter: str) -> int:
    return 0 if letter.isdigit() else 1 if letter.isupper() else 2 if letter.isalpha() else 3


def entropy(value: str) -> float:
    """Shannon entropy of a value's characters, in bits each."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values()) if size else 0.0
