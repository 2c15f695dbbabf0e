"""Arguments that are checked where they are read: what can't be one is wrong usage, and never the answer "no".

The contract: a script that asks whether something is quarantined reads exit 1 as "no". So no argument that is none, and
no file that holds none, may come as far as a question. Nothing that was given is said back.
"""

from __future__ import annotations

from typing import BinaryIO, Final

import click

from pratique.contract.canonical import check_text, parse_json
from pratique.contract.document import HEX64, SAFE_ID
from pratique.errors import ConfigurationError, MalformedError
from streams.domain.quarantine.command import MAX_REASON_CHARACTERS

MAX_CONTENT_BYTES: Final = 4 * 1024 * 1024
"""Most content of one entry; no request can bring more."""


class _Identifier(click.ParamType):
    name = "id"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if SAFE_ID.fullmatch(value) is None:
            self.fail("expected letters, digits, '.', '_', '-' (at most 128, the first a letter or digit)", param, ctx)
        return value


class _Fingerprint(click.ParamType):
    name = "hex"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if HEX64.fullmatch(value) is None:
            self.fail("expected 64 lower-case hexadecimal digits", param, ctx)
        return value


class _Reason(click.ParamType):
    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            check_text(value)
        except MalformedError:
            self.fail("expected well-formed Unicode, without NUL", param, ctx)
        if not value.strip() or len(value) > MAX_REASON_CHARACTERS:
            self.fail(f"expected words, at most {MAX_REASON_CHARACTERS} characters", param, ctx)
        return value


IDENTIFIER: Final = _Identifier()
"""An id: of a tenant, an incident, an actor, a policy."""

FINGERPRINT: Final = _Fingerprint()
"""A whole fingerprint of the ledger."""

REASON: Final = _Reason()
"""Why something is done, in words that are kept."""


def content_of(file: BinaryIO) -> str:
    """Return what a file, or standard input, holds: one text.

    Raises:
        ConfigurationError: It is too large, empty or not UTF-8.
    """
    return text_of(file.read(MAX_CONTENT_BYTES + 1), is_json=False)


def text_of(content: bytes, *, is_json: bool) -> str:
    """Return a text from its UTF-8 bytes, or from the JSON text that they are.

    Raises:
        ConfigurationError: They are too many, empty or not UTF-8; or no JSON text.
    """
    if len(content) > MAX_CONTENT_BYTES:
        raise ConfigurationError(f"content has over {MAX_CONTENT_BYTES} bytes; no request can bring so much")
    try:
        text = parse_json(content, max_bytes=MAX_CONTENT_BYTES) if is_json else content.decode("utf-8")
    except (UnicodeDecodeError, MalformedError):
        raise ConfigurationError("a line is no JSON text" if is_json else "content is not UTF-8") from None
    if not isinstance(text, str):
        raise ConfigurationError("a line is no JSON text")
    if not text:
        raise ConfigurationError("content is empty: nothing has its fingerprint")
    return text
