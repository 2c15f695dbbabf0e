"""Values that stand in a secret's place and open nothing: constants, versions, types, flags, documented pairs.

The contract: pure functions over a value, linear in it, that say what it reads as; ``judging`` decides by them whether
it is a secret.
"""

from __future__ import annotations

import base64
import re
from typing import Final

from streams.adapters.secrets.values import is_filler, is_mask, is_template, says_secret, words_of


def is_machine_word(value: str) -> bool:
    """Whether a value is a number as programs write constants: ``0x`` and 64 bits at most."""
    return bool(_MACHINE_WORD.match(value))


_MACHINE_WORD: Final = re.compile(r"\A0[xX][0-9A-Fa-f]{1,16}[uUlL]{0,3}\.?\Z")


def is_dotted_number(value: str) -> bool:
    """Whether a value is numbers with full stops between, as versions and object identifiers are (``1.2.840``)."""
    return bool(_DOTTED_NUMBER.match(value))


_DOTTED_NUMBER: Final = re.compile(r"\A\d{1,9}(?:\.\d{1,9}){2,15}\Z")


def is_type_name(value: str) -> bool:
    """Whether a value is the name of a type, as annotations have in a value's place: ``PKCS7PrivateKeyTypes``."""
    if not _OF_TYPE.match(value) or not _ENDS_TYPE.search(value) or _LONG_NUMBER.search(value):
        return False
    name = value.rpartition(".")[2]
    return sum(letter.isupper() for letter in name) >= 2 and not name.isupper()  # noqa: PLR2004 - two words


_LONG_NUMBER: Final = re.compile(r"\d{6}")
_OF_TYPE: Final = re.compile(r"\A(?:[a-z_][a-z0-9_]*\.){0,4}[A-Z][A-Za-z0-9]*[?,]?\Z")
_ENDS_TYPE: Final = re.compile(
    r"[a-z0-9](?:Key|Token|Type|Option|Parameter|Credential|Provider|Factory|Handler|Manager|Setting|Config|Bytes"
    r"|String|Str)s?[?,]?\Z"
)


def is_flag(value: str, key: str = "") -> bool:
    """Whether a value is a flag of a game of capturing them: there to be found and told.

    Args:
        value: The value.
        key: What it was called. The form is anybody's to write: what is called a password or a key is one in this form
            as well, unless the name says that it is a flag.
    """
    if not _FLAG.match(value):
        return False
    words = words_of(key)
    return not _FLAGS.isdisjoint(words) or not any(says_secret(word) for word in words)


_FLAGS: Final = frozenset({"flag", "flags", "ctf"})
_FLAG: Final = re.compile(r"\A\w{0,12}(?:flag|ctf)\w{0,6}\{[^{}]{1,120}\}?\Z", re.IGNORECASE)


def is_documented_pair(value: str) -> bool:
    """Whether a value is base64 of a user and a password that documentation writes (``user:password``)."""
    if not _BASE64.match(value):
        return False
    try:
        user, colon, password = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except ValueError:
        return False
    if not colon or not _USER.match(user):
        return False
    return bool(user == password or is_mask(password) or is_template(password) or is_filler(password))


_USER: Final = re.compile(r"\A[\w.@+-]{0,64}\Z")
_BASE64: Final = re.compile(r"\A[A-Za-z0-9+/]{8,128}={0,2}\Z")
