"""What does a value look like: a mask, a template, filler, a name, code, a path, a password, something generated?

The contract: pure functions over a value, or a value and its name, that say what it reads as; ``judging`` decides by
them whether it is a secret. Every function is linear in its value but for the search for words written as one, which is
bounded.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from typing import Final

from streams.adapters.secrets.words import FILLER, METADATA

SHORTEST: Final = 4
LONG: Final = 20
"""Characters from which a value counts as a token: no number of a thing is as long."""

_TEMPLATE: Final = re.compile(
    r"""\A(?:
      <[^<>]*>? | &lt;.* | \[[^\]]*\]? | \(.* | \{\{.* | \{%.* | %\(.* | %[A-Za-z_][\w()]*%?
      | \$\(.* | \$\{\{?[^{}]*\}?\}?
      | \$\$?[A-Za-z_]\w*(?:[\[{(:.-].*)? | \.?\s?\$[^\w].* | \.\s?\$.*
      | \{[^{}]*\} | @[A-Za-z_]\w*@ | __\w+__ | [@%](?:[A-Z][A-Z_]+|[a-z]+(?:_[a-z]+)+)
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
_OPENED: Final = re.compile(r"\A[{\[][^\s}\]]*[:,]\Z")
"""A mapping or a list that goes on."""
_PATH: Final = re.compile(r"\A(?:~|\.{1,2})?[/\\]|\A[A-Za-z]:[/\\]|\A\\\\")
_SEGMENT: Final = r"(?:[A-Za-z]{2,}\d{0,3}|\d{1,4})(?:[-_.#@](?:[A-Za-z]+\d{0,3}|\d{1,4}))*"
_PATH_OF_WORDS: Final = re.compile(rf"\A{_SEGMENT}(?:/{_SEGMENT}){{1,12}}/?\Z")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_MASKS: Final = frozenset("xX*.•·●#-_=0?…█▒○◦∙~+/ ")
_ABSOLUTE: Final = re.compile(rf"\A(?:~|\.{{1,2}})?/{_SEGMENT}(?:/{_SEGMENT}){{1,12}}/?\Z")
IDENTIFIER: Final = re.compile(r"\A[A-Za-z]+\d{0,3}(?:[-_.:/]{1,2}(?:[A-Za-z]+\d{0,3}|\d{1,3})){1,8}\Z")
_DATED: Final = re.compile(r"\A[A-Za-z]{2,}(?:[-_.:/#](?:[A-Za-z]{2,}|\d{1,4})){1,8}\Z")
_KEYBOARD_KEYS: Final = re.compile(r"\A(?:Ctrl|Control|Alt|Shift|Cmd|Meta|Super)[ +_-]", re.IGNORECASE)


def has_digit(value: str) -> bool:
    """Whether a value has a digit in it."""
    return any(letter.isdigit() for letter in value)


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
    return not has_digit(value) and not looks_random(value)


def says_placeholder(value: str) -> bool:
    """Whether a token's body says that it is none: "your", "example", "replace", spelt out."""
    words = words_of(value)
    return any(word in _SAYS for word in words)


_SAYS: Final = frozenset(
    {"your", "yours", "placeholder", "replace", "replaceme", "insert", "changeme", "redacted", "here"}
)
_SAID: Final = _SAYS | {"example", "fake", "dummy", "sample", "todo", "notreal"}


def is_template(value: str) -> bool:
    """Whether a value is filled in later: a variable, an expression, a reference to where the secret is kept."""
    value = _ESCAPED_BLANK.sub(" ", value.strip(" \"'`")).rstrip()
    if value[:1] == "$" and value[1:2] not in "{($" and sum(letter.isdigit() for letter in value) >= 3:  # noqa: PLR2004
        return False
    return bool(_TEMPLATE.match(value))


_ESCAPED_BLANK: Final = re.compile(r"\\[nrt]")


def is_public(value: str) -> bool:
    """Whether a value is a public key or a certificate in base64, by how such begin."""
    return value.startswith(_PUBLIC)


_PUBLIC: Final = (
    *("MCowBQYDK2V", "MIIBIjAN", "MIICIjAN", "MIGfMA0G", "MIIBCgKC", "MFkwEwYH", "MHYwEAYH", "MIGbMBAG"),
    *("AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "LS0tLS1CRUdJTiBDRVJU", "LS0tLS1CRUdJTiBQVUJM"),
)


def is_filler(value: str, *, counting: bool = True) -> bool:
    """Whether a value consists of words that fill in for a secret, and a digit here and there.

    Args:
        value: The value.
        counting: Whether digits that count up ("abc123") are filler too; in passwords they are not.
    """
    words = words_of(value)
    letters = sum(map(len, words))
    if words and letters * 3 < len(value) >= _OF_SIGNS:
        return False  # signs, with a letter here and there
    if not words or any(word in _SAID for word in words):
        return not words or len(value) < _LONGEST_SAYING
    return all(_is_filler_word(word, counting=counting) for word in words)


_OF_SIGNS: Final = 8
_LONGEST_SAYING: Final = 100
"""Characters up to which a value may say of itself that it is none; in longer ones any short word occurs."""


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


def words_of(value: str) -> list[str]:
    """Return the words of a value without capitals, whether blanks, signs, digits or capitals part them."""
    return [word.lower() for word in _WORD.findall(value)]


def same_name(key: str, value: str) -> bool:
    """Whether a value only repeats its name, or names a constant or an environment variable."""
    letters = "".join(words_of(value))
    return bool(_CONSTANT.match(value)) or (bool(key) and letters == "".join(words_of(key)))


def names_password(key: str) -> bool:
    """Whether a name is that of a password, and of nothing else that a word for secrets names."""
    words = [word for word in words_of(key) if not word.isdigit()]
    return bool(words) and words[-1].endswith(_PASSWORDS) and not words[-1].endswith(_PASSES)


_PASSWORDS: Final = (
    *("password", "passwd", "pwd", "pass", "passphrase", "passcode", "passwort", "passwrd", "pswd", "psk", "pw", "psw"),
    *(
        "kennwort",
        "senha",
        "contrasena",
        "contraseña",
        "mdp",
        "haslo",
        "hasło",
        "wachtwoord",
        "parola",
        "sifre",
        "şifre",
    ),
    *("heslo", "salasana", "losenord", "lösenord", "пароль", "adgangskode", "passord", "jelszo", "jelszó"),
)
_PASSES: Final = ("bypass", "compass", "surpass", "trespass", "overpass", "underpass", "multipass")


def says_secret(word: str) -> bool:
    """Whether a word, without capitals, is one for a secret of any kind: key, token, password, in many languages."""
    if word.endswith(_PASSES):
        return False
    return word.removesuffix("s") in _SECRETS or word.endswith((*_PASSWORDS, *_UNPARTED))


_SECRETS: Final = frozenset(
    {"key", "apikey", "secretkey", "accesskey", "privatekey", "secret", "token", "authtoken", "credential", "cred"}
    | {"hmac", "auth", "bearer", "login", "seed", "schlüssel", "schluessel", "geheimnis", "zugangsdaten", "clave"}
    | {"secreto", "clé", "jeton", "chave", "segredo", "chiave", "segreto", "sleutel", "klucz", "ключ", "токен"}
    | {"секрет", "anahtar", "مفتاح", "कुंजी"}
)
_UNPARTED: Final = (
    "密钥",
    "密码",
    "口令",
    "令牌",
    "秘密",
    "鍵",
    "キー",
    "トークン",
    "パスワード",
    "키",
    "토큰",
    "비밀번호",
)
"""Of writings that part no words by blanks."""


def names_something_else(key: str) -> bool:
    """Whether a name with a word for a secret in it names something about it (``token_url``, ``publicKey``)."""
    words = words_of(key)
    if not words:
        return False
    if words[-1] in METADATA or words[-1] == "tokens" or words[0] in _VERBS:
        return True
    if words[-2:] == ["key", "id"]:
        return True
    if words[-1] == "key" and not KEYS_OF_RECORDS.isdisjoint(words[:-1]):
        return True
    return any(word in _NO_SECRETS or word.startswith(("tokeni", "keyboard")) for word in words)


KEYS_OF_RECORDS: Final = frozenset(
    {"cache", "foreign", "partition", "sort", "routing", "idempotency", "composite", "surrogate", "dedup", "lookup"}
    | {"deduplication", "shard", "range", "translation", "site", "publishable"}
)
"""Keys that find a record, a route or a text, or that a page shows to everybody."""

_VERBS: Final = frozenset(
    {"assert", "check", "compare", "count", "create", "decode", "encode", "expect", "fetch", "find", "generate", "get"}
    | {"has", "import", "is", "load", "make", "parse", "read", "split", "string", "validate", "verify"}
)
_NO_SECRETS: Final = frozenset(
    {
        "secretsmanager",
        "sitekey",
        "secretmanager",
        "public",
        "max",
        "min",
        "num",
        "secretary",
        "passenger",
        "passthrough",
        "column",
        "col",
        "row",
        "unique",
        "uniq",
    }
)


def is_password(value: str) -> bool:
    """Whether somebody would choose or generate this value: not too short, and no plain word."""
    if len(value) < SHORTEST or (value.isalpha() and (value.islower() or value.istitle())):
        return False
    kinds = kinds_of(value)
    return kinds["digit"] > 0 or kinds["symbol"] > 0 or looks_random(value)


def numbers_a_thing(value: str, shortest: int = LONG) -> bool:
    """Whether hexadecimal digits are too few for a key: commits, builds and colours have as many."""
    if not 8 < len(value) < shortest or not (_HEX_DIGITS.issuperset(value) or _HEX_DIGITS.issuperset(value.swapcase())):  # noqa: PLR2004 - words
        return False
    kinds = kinds_of(value)
    return kinds["lower"] + kinds["upper"] > 0 and kinds["digit"] >= 3  # noqa: PLR2004 - words


_HEX_DIGITS: Final = frozenset("0123456789abcdef")


def kinds_of(value: str) -> Counter[str]:
    """Count a value's characters by kind; full stops, hyphens and the like are of none."""
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


def is_words_password(value: str) -> bool:
    """Whether a value is a word, or are words written as one, that documentation and code do not use for passwords."""
    if not _JOINED.match(value) or sum(letter.isalpha() for letter in value) < _SHORTEST_WORD or is_filler(value):
        return False
    words = words_of(value)
    return len(words) == 1 or not any(len(word) >= SHORTEST and (word in FILLER or word in METADATA) for word in words)


_JOINED: Final = re.compile(r"\A[A-Za-z]+(?:[-_][A-Za-z]+){0,7}\Z")
_SHORTEST_WORD: Final = 6


def is_passphrase(value: str) -> bool:
    """Whether a value is a few small words with blanks between, none of which a label or a message would need."""
    words = value.split()
    if not 1 < len(words) <= _LONGEST_PASSPHRASE or not all(_PASSPHRASE_WORD.match(word) for word in words):
        return False
    return len(value) >= 10 and not any(word in FILLER for word in words)  # noqa: PLR2004 - a label


_PASSPHRASE_WORD: Final = re.compile(r"\A(?:[a-z]{2,12}|\d{1,4})\Z")
_LONGEST_PASSPHRASE: Final = 8


def is_strong(value: str) -> bool:
    """Whether a word of a line can only be a password: letters of both cases, digits and signs in no order of words."""
    if not 8 <= len(value) <= 64 or not value.isascii() or ALGORITHM.match(value) or _OF_TIME.match(value):  # noqa: PLR2004
        return False
    kinds = kinds_of(value)
    if not kinds["digit"] or bool(kinds["lower"]) + bool(kinds["upper"]) + bool(_SIGN.search(value)) < 2:  # noqa: PLR2004
        return False
    if all(len(word) > 2 for word in _RUN.findall(value)):  # noqa: PLR2004 - words, as names of things have them
        return False
    if is_template(value) or reads_as_code(value) or IDENTIFIER.match(value) or reads_as_name(value):
        return False
    changes = sum(_kind(a) != _kind(b) for a, b in pairwise(value))
    return changes >= 4 and not _OF_ADDRESS.search(value)  # noqa: PLR2004 - a word with a number has fewer


_SIGN: Final = re.compile(r"[!@#$%^&*?]")
_RUN: Final = re.compile(r"[A-Z]+[a-z]*|[a-z]+")
_OF_TIME: Final = re.compile(r"\A\d{1,4}[-:/.T]\d{1,2}\b|\A\d+[.:]\d+[.+~-]")
_OF_ADDRESS: Final = re.compile(r"://|@[\w-]+\.|=|\(\)|[\[\]{}<>]|\A[/~.#]|\.[a-z]{2,4}\Z")


def reads_as_words(value: str) -> bool:
    """Whether most of a value's characters are in words of letters only, as prose has them."""
    parts = value.replace("/", " ").split()
    plain = sum(len(part) for part in parts if part.strip(".,;:!?'\"()").isalpha())
    return plain * 2 >= sum(len(part) for part in parts)


def reads_as_code(value: str) -> bool:
    """Whether an unquoted value is an expression, a path or a key to press rather than a literal."""
    if _CALL.match(value) or _DOTTED.match(value) or _KEYBOARD_KEYS.match(value) or _OPENED.match(value):
        return True
    return bool(_OF_CODE.search(value)) or reads_as_path(value)


_OF_CODE: Final = re.compile(
    r"""\{\{[^{}]*\}\}|\$\{[\w\s.:?/,'"!|()@=*+-]*\}|\$\([^()]*\)|(?:\{\{|\$\{|\$\(|\{%)[\w.]*\Z|\['|\[" """.strip()
)
"""Templates that are closed, or cut off; signs that never close are somebody's password."""


def reads_as_path(value: str) -> bool:
    """Whether a value is a path in a file system or of a URL."""
    if _PATH_OF_WORDS.match(value) or _ABSOLUTE.match(value):
        return True
    return bool(_PATH.match(value)) and (not has_digit(value) or not looks_random(value) or reads_as_name(value))


def reads_as_identifier(value: str) -> bool:
    """Whether a value is words and small numbers with signs between them, as ids, names and dated names are."""
    return bool(IDENTIFIER.match(value) or _DATED.match(value))


def reads_as_pattern(value: str) -> bool:
    """Whether a value is a regular expression."""
    return bool(_OF_PATTERNS.search(value)) or (value[:1] == "^" and value[-1:] in "$*+)")


_OF_PATTERNS: Final = re.compile(
    r"""\\x[0-9A-Fa-f]{2}- | \Aq?r/ | \[[^\]]*(?:A-Z|a-z|0-9|\\[wds]) | \(\?[=!:<] | \\[wdsSWDb][+*{]
    | \.[*+]\)?\$?\Z | [.\])*]\{\d{1,4}(?:,\d{0,4})?\} | A-Za-z | a-z0-9 | A-Z0-9""",
    re.VERBOSE,
)


def counts_as_digits(key: str, value: str) -> bool:
    """Whether a value is no mere number, or is one under a name of such: a PIN is, a count of tokens is not."""
    return not value.isdigit() or len(value) >= 16 or bool(OF_DIGITS.search(key))  # noqa: PLR2004 - no count


OF_DIGITS: Final = re.compile(r"pass|pwd|pin", re.IGNORECASE)
ALGORITHM: Final = re.compile(
    r"""\A(?:sha\d+[-:=].* | (?:sha|md|base|utf|argon|bcrypt|pbkdf|aes|rsa|pkcs|ed|secp|oauth|hs|rs|es|ipv|http|tls|ssl
    |latin|cp|iso|windows|koi
    |v|x|p)[-_]?\d{1,5}(?:[a-z]{1,3}\d?)?(?:[-_./+]\w{1,8}){0,5})\Z""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""The name of an algorithm, a version or a digest; a password may begin like one."""


def without_escapes(value: str) -> str:
    """Return a value with a letter where JSON writes one as an escape."""
    return _ESCAPED_LETTER.sub("a", value)


def is_spoken_password(value: str) -> bool:
    """Whether a word in a sentence is a password: letters with digits or signs among them, and no expression."""
    value = without_escapes(value).strip(".,;:!?)]}*_'\"")
    if len(value) < 4 or _PATH.match(value) or reads_as_code(value) or ALGORITHM.match(value):  # noqa: PLR2004
        return False
    kinds = kinds_of(value)
    letters = kinds["lower"] + kinds["upper"]
    if not letters:
        return len(value) >= 6 and value.isdigit()  # noqa: PLR2004 - fewer are counts and years
    return kinds["digit"] > 0 or (kinds["symbol"] > 0 and not _ENDS.search(value))


_ESCAPED_LETTER: Final = re.compile(r"\\u[0-9A-Fa-f]{4}")
"""As JSON writes a letter of most languages: no sign and no digit of a password."""
_ENDS: Final = re.compile(r"\A\W*[^\W\d]+(?:[/|+&=][^\W\d]+)*\W*\Z")


def is_phrase(value: str) -> bool:
    """Whether words are as many and as different as a recovery phrase's."""
    words = [word for word in _WORD.findall(value) if not word.isdigit()]
    return len(words) >= 12 and len(set(words)) * 4 >= len(words) * 3  # noqa: PLR2004 - the shortest phrase in use


def looks_random(value: str) -> bool:
    """Whether a value looks generated: long, of several kinds of characters, with few repetitions."""
    kinds = kinds_of(value)
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
