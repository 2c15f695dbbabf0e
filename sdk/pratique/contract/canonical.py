"""Canonical JSON, and the strict reading of JSON that strangers wrote.

The contract: ``canonical_json`` is the seeds' form (AID-I-004.008 G001): sorted keys, separators ``,`` and ``:``, no
ASCII escaping, no NaN or infinity. ``parse_json`` accepts exactly the JSON whose canonical form is defined and safe to
carry: no duplicate keys, no non-finite numbers, no lone surrogates, no NUL, bounded bytes and bounded nesting.

It does not validate any schema, and it does not canonicalise text (Unicode normalisation is a scanner's view, never a
digest's preimage).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn, TypeAlias

import orjson

from pratique.errors import MalformedError, TooLargeError

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"

PlainJson: TypeAlias = "bool | int | str | Sequence[PlainJson] | Mapping[str, PlainJson] | None"
"""A JSON value whose numbers are whole."""

MAX_JSON_BYTES: Final = 4 * 1024 * 1024
"""Default bound on a JSON text, in UTF-8 bytes: a request is at most 4 MiB (contract, Topics)."""

MAX_JSON_DEPTH: Final = 32
"""Default bound on nesting. No document of the published language nests deeper than 6."""

# Possessive throughout, and an unclosed string runs to the end: every character is looked at once, whatever is sent.
_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKET: Final = re.compile(r"[\[\]{}]")


# One encoder for all: ``json.dumps`` would make one a call, which for small values costs more than the encoding.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

_PLAIN_CHARACTERS: Final = 16 * 1024
"""Longest text that is read twice to find out whether it is plain."""


def canonical_json(value: JsonValue) -> str:
    """Return the canonical JSON text of a value.

    Raises:
        MalformedError: The value holds a non-finite number (NON_FINITE) or something JSON has no form for.
        TooLargeError: The value nests deeper than the interpreter can follow.
    """
    try:
        return _ENCODER.encode(value)
    except RecursionError:
        raise TooLargeError("value has no canonical JSON: nested too deep") from None
    except ValueError:
        raise MalformedError(
            "value has no canonical JSON: a number not finite or too long", code="NON_FINITE"
        ) from None
    except TypeError:
        raise MalformedError("value has no canonical JSON: unsupported type") from None


def canonical_bytes(value: JsonValue) -> bytes:
    """Return the canonical JSON of a value as UTF-8.

    Raises:
        MalformedError: As ``canonical_json``; also for lone surrogates, which UTF-8 has no form for.
    """
    try:
        return canonical_json(value).encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedError("text holds a lone surrogate; send well-formed Unicode") from None


def canonical_sha256(value: JsonValue) -> str:
    """Return the SHA-256 (64 lower-case hexadecimal digits) of a value's canonical JSON in UTF-8."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def plain_sha256(value: PlainJson) -> str:
    """Return what ``canonical_sha256`` does, sooner, of a value whose numbers are whole.

    Only a double has more than one way to be written, so orjson's bytes are those of ``canonical_bytes``; a property
    test holds it to that. What orjson can't write (numbers beyond 64 bits) is left to ``canonical_sha256``.
    """
    try:
        return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()
    except TypeError:
        return canonical_sha256(value)


def text_sha256(value: str) -> str:
    """Return the SHA-256 (hexadecimal) of a text's UTF-8 bytes, unquoted and unescaped.

    Raises:
        MalformedError: The text holds a lone surrogate.
    """
    try:
        return hashlib.sha256(value.encode("utf-8")).hexdigest()
    except UnicodeEncodeError:
        raise MalformedError("text holds a lone surrogate; send well-formed Unicode") from None


def bytes_sha256(value: bytes) -> str:
    """Return the SHA-256 (hexadecimal) of bytes."""
    return hashlib.sha256(value).hexdigest()


def parse_json(text: str | bytes, *, max_bytes: int = MAX_JSON_BYTES, max_depth: int = MAX_JSON_DEPTH) -> JsonValue:
    """Read one JSON text strictly.

    Args:
        text: The JSON, as text or UTF-8 bytes.
        max_bytes: Largest accepted size in UTF-8 bytes.
        max_depth: Deepest accepted nesting of arrays and objects.

    Returns:
        The value, whose canonical form is defined.

    Raises:
        TooLargeError: Larger than ``max_bytes`` or nested deeper than ``max_depth`` (code TOO_LARGE).
        MalformedError: Not JSON (SCHEMA_INVALID), a duplicate key (DUPLICATE_KEY), a non-finite number (NON_FINITE),
            or text with NUL or a lone surrogate (SCHEMA_INVALID).
    """
    decoded = _decoded(text, max_bytes)
    _check_depth(decoded, max_depth)
    plain = _plain(decoded)
    if plain is not None:
        return plain
    try:
        value: JsonValue = json.loads(
            decoded,
            object_pairs_hook=_unique_object,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
    except MalformedError:
        raise
    except RecursionError:  # the depth check counts outside strings, so this is a second fence, not the first
        raise TooLargeError(f"JSON nests deeper than {max_depth}") from None
    except ValueError:
        # The parser's own message quotes the text; the position alone would be enough, but nobody acts on it.
        raise MalformedError("text is not JSON") from None
    if "\\u" in decoded:  # only an escape can smuggle what the UTF-8 check above would have refused
        _check_text(value)
    return value


def _plain(text: str) -> JsonValue:
    """Return what orjson reads of a short text that it would write the same, keys sorted; none of any other text.

    Such a text repeats no key, and its numbers are those of a double or of 64 bits. Without an escape it holds neither
    NUL nor a lone surrogate. What we sign and publish is like that; others' JSON costs one reading more.
    """
    if len(text) > _PLAIN_CHARACTERS or "\\" in text:
        return None
    try:
        value: JsonValue = orjson.loads(text)
        return value if orjson.dumps(value, option=orjson.OPT_SORT_KEYS) == text.encode("utf-8") else None
    except (orjson.JSONDecodeError, TypeError, UnicodeEncodeError):
        return None


def check_text(value: str) -> None:
    """Refuse text that the published language does not carry.

    Raises:
        MalformedError: The text holds NUL or a lone surrogate.
    """
    if "\x00" in value:
        raise MalformedError("text holds NUL; remove it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise MalformedError("text holds a lone surrogate; send well-formed Unicode") from None


def _decoded(text: str | bytes, max_bytes: int) -> str:
    if isinstance(text, bytes):
        if len(text) > max_bytes:
            raise TooLargeError(f"JSON has {len(text)} bytes, {max_bytes} are allowed")
        try:
            return text.decode("utf-8")
        except UnicodeDecodeError:
            raise MalformedError("JSON is not UTF-8") from None
    if len(text) > max_bytes:
        raise TooLargeError(f"JSON has over {max_bytes} bytes, {max_bytes} are allowed")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise MalformedError("text holds a lone surrogate; send well-formed Unicode") from None
    if size > max_bytes:
        raise TooLargeError(f"JSON has {size} bytes, {max_bytes} are allowed")
    return text


def _check_depth(text: str, max_depth: int) -> None:
    if text.count("[") + text.count("{") <= max_depth:
        return
    depth = 0
    for match in _BRACKET.finditer(_outside_strings(text)):
        if match.group() in "[{":
            depth += 1
            if depth > max_depth:
                raise TooLargeError(f"JSON nests deeper than {max_depth}")
        else:
            depth -= 1


def _outside_strings(text: str) -> str:
    # Without a backslash, every second piece between quotation marks is a string; the last one, where none closes it.
    return _STRING.sub('""', text) if "\\" in text else "".join(text.split('"')[::2])


def _unique_object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise MalformedError("JSON object repeats a key", code="DUPLICATE_KEY")
    return value


def _refuse_constant(_: str) -> NoReturn:
    raise MalformedError("JSON holds NaN or an infinity", code="NON_FINITE")


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise MalformedError("JSON holds a number beyond the range of a double", code="NON_FINITE")
    return value


def _check_text(value: JsonValue) -> None:
    pending: list[JsonValue] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            check_text(item)
        elif isinstance(item, Mapping):
            for key in item:
                check_text(key)
            pending.extend(item.values())
        elif isinstance(item, Sequence):
            pending.extend(item)
