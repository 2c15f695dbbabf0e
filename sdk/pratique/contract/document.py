"""Strict reading of a small JSON document, field by field.

The contract: a document has exactly the fields its schema names; a bool is never an integer; texts are not empty;
every refusal names the document and the field. The caller says which error a refusal is, since the same mistake is a
``MalformedError`` in a request and a ``PolicyError`` in a signed document.

It reads values that ``parse_json`` accepted; it parses nothing itself. Where a field is one the schema does not know,
its name is repeated only if it is a plain word: names are chosen by whoever wrote the document.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from pratique.contract.canonical import JsonValue, check_text
from pratique.errors import MalformedError, PratiqueError

SAFE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
"""An identifier that is safe in a path, a TUF pattern and a Redis key (AID-D-001.005 G002); use ``fullmatch``."""

HEX64: Final = re.compile(r"[0-9a-f]{64}")
"""A SHA-256 in lower-case hexadecimal; use ``fullmatch``."""

MAX_TEXT_CHARACTERS: Final = 16 * 1024
"""Default bound on one text field, in characters: a policy's longest text is its trusted instruction."""

MAX_INTEGER: Final = 2**53 - 1
"""Default bound on an integer: the largest that every JSON reader keeps exact."""

_PLAIN_WORD: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")

ErrorType = Callable[[str], PratiqueError]


class Fields:
    """The fields of one JSON object, read strictly.

    Args:
        value: The parsed document or part of one.
        where: How refusals call it (``scan policy``, ``trust target: keys[2]``).
        expected: Exactly the fields it must have.
        error: Builds the error a refusal raises.

    Raises:
        PratiqueError: The error's type: not an object, a field missing, a field too many.
    """

    __slots__ = ("_error", "_value", "_where")

    def __init__(self, value: JsonValue, where: str, expected: Sequence[str], error: ErrorType) -> None:
        self._where = where
        self._error = error
        if not isinstance(value, Mapping):
            raise error(f"{where}: is no JSON object")
        missing = [name for name in expected if name not in value]
        if missing:
            raise error(f"{where}: field {missing[0]} is missing")
        unknown = sorted(set(value) - set(expected))
        if unknown:
            name = unknown[0] if _PLAIN_WORD.fullmatch(unknown[0]) else "with an unusual name"
            raise error(f"{where}: field {name} is unknown")
        self._value = value

    def refusal(self, name: str, problem: str) -> PratiqueError:
        """Return the error that refuses a field, for the caller to raise."""
        return self._error(f"{self._where}: field {name} {problem}")

    def raw(self, name: str) -> JsonValue:
        """Return a field as it stands."""
        return self._value[name]

    def literal(self, name: str, expected: str) -> None:
        """Require a field to be one fixed text, as ``schema_version`` is.

        Raises:
            PratiqueError: It is another.
        """
        if self._value[name] != expected:
            raise self.refusal(name, f"is not {expected!r}")

    def text(self, name: str, *, max_characters: int = MAX_TEXT_CHARACTERS) -> str:
        """Return a text that says something: not empty, not blank, without NUL or lone surrogates.

        Raises:
            PratiqueError: It is none, or longer than ``max_characters``.
        """
        return self._text(name, self._value[name], max_characters)

    def identifier(self, name: str) -> str:
        """Return an identifier that is safe in paths and patterns (``SAFE_ID``).

        Raises:
            PratiqueError: It is none.
        """
        value = self._value[name]
        if not isinstance(value, str) or SAFE_ID.fullmatch(value) is None:
            raise self.refusal(name, "is no identifier of letters, digits, '.', '_', '-' (at most 128)")
        return value

    def sha256(self, name: str) -> str:
        """Return a digest of 64 lower-case hexadecimal digits.

        Raises:
            PratiqueError: It is none.
        """
        value = self._value[name]
        if not isinstance(value, str) or HEX64.fullmatch(value) is None:
            raise self.refusal(name, "is no SHA-256 in lower-case hexadecimal")
        return value

    def integer(self, name: str, *, minimum: int, maximum: int = MAX_INTEGER) -> int:
        """Return an integer between two bounds, both included. A bool is no integer.

        Raises:
            PratiqueError: It is none, or out of bounds.
        """
        value = self._value[name]
        if type(value) is not int:
            raise self.refusal(name, "is no integer")
        if not minimum <= value <= maximum:
            raise self.refusal(name, f"is not between {minimum} and {maximum}")
        return value

    def boolean(self, name: str) -> bool:
        """Return a bool.

        Raises:
            PratiqueError: It is none.
        """
        value = self._value[name]
        if not isinstance(value, bool):
            raise self.refusal(name, "is neither true nor false")
        return value

    def base64(self, name: str, *, length: int) -> bytes:
        """Return bytes from padded standard base64 in its one canonical form.

        Raises:
            PratiqueError: It is none, or not ``length`` bytes.
        """
        value = self._value[name]
        if not isinstance(value, str):
            raise self.refusal(name, "is no base64 text")
        decoded = strict_base64(value)
        if decoded is None or len(decoded) != length:
            raise self.refusal(name, f"is not {length} bytes in standard base64")
        return decoded

    def sequence(self, name: str, *, minimum: int, maximum: int) -> Sequence[JsonValue]:
        """Return a list of between ``minimum`` and ``maximum`` items.

        Raises:
            PratiqueError: It is none.
        """
        value = self._value[name]
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self.refusal(name, "is no list")
        if not minimum <= len(value) <= maximum:
            raise self.refusal(name, f"has not between {minimum} and {maximum} items")
        return value

    def texts(self, name: str, *, maximum: int, max_characters: int = 256) -> tuple[str, ...]:
        """Return a list of distinct texts, at least one.

        Raises:
            PratiqueError: It is none, or holds one twice.
        """
        values = tuple(
            self._text(f"{name}[{index}]", item, max_characters)
            for index, item in enumerate(self.sequence(name, minimum=1, maximum=maximum))
        )
        if len(set(values)) != len(values):
            raise self.refusal(name, "holds an item twice")
        return values

    def records(self, name: str, expected: Sequence[str], *, minimum: int, maximum: int) -> Iterator[Fields]:
        """Yield the objects of a list, each read strictly.

        Raises:
            PratiqueError: The list or one of its objects is not as expected.
        """
        for index, item in enumerate(self.sequence(name, minimum=minimum, maximum=maximum)):
            yield Fields(item, f"{self._where}: {name}[{index}]", expected, self._error)

    def _text(self, name: str, value: JsonValue, max_characters: int) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self.refusal(name, "is no text, or a blank one")
        if len(value) > max_characters:
            raise self.refusal(name, f"is longer than {max_characters} characters")
        try:
            check_text(value)
        except MalformedError as error:
            raise self.refusal(name, f"is refused: {error}") from None
        return value


def strict_base64(value: str) -> bytes | None:
    """Return the bytes of padded standard base64 (RFC 4648, section 4); null where it is not in canonical form."""
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if base64.b64encode(decoded).decode("ascii") == value else None
