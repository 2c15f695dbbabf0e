"""Rows of a corpus: texts, whether their folder's detector should find something, and what the report groups them by.

The contract: ``read_row`` takes one JSON line of the corpora's row format. The folder a row lies in says which category
its label speaks of; rows of ``benign`` speak of every category, and are always clean: but for hidden text, of which one
whose disguise hides characters says nothing. A row that is not of the format
is refused, by the names of its keys and never by what they hold.

``Facts`` hold no text, so that they may be kept and reported.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

from pratique.contract.canonical import check_text
from pratique.errors import MalformedError, TooLargeError
from streams.domain.scanning.finding import Category

MAX_ROW_BYTES: Final = 32 * 1024 * 1024
"""Longest line; what may be scanned of it is the policy's bound."""

MAX_NAME_CHARACTERS: Final = 200
"""Longest value of a key that rows are grouped by."""

HIDING: Final = frozenset({"zero-width", "unicode-tags", "soft-hyphen", "variation-selectors", "bidi"})
"""Disguises that hide characters: hidden text is rightly found in them, whatever the text says."""

MAX_MESSAGES: Final = 10_000
"""Most messages of a transcript."""

_NO_DISGUISE: Final = "none"
_GROUPED: Final = ("lang", "form", "kind", "category")


class Folder(Enum):
    """A folder of a corpus."""

    SECRETS = "secrets"
    PII = "pii"
    INJECTION = "injection"
    BENIGN = "benign"
    TRANSCRIPTS = "transcripts"


_SPOKEN_OF: Final = {
    Folder.SECRETS: (Category.SECRET,),
    Folder.PII: (Category.PII,),
    Folder.INJECTION: (Category.INJECTION,),
    Folder.BENIGN: tuple(Category),
    Folder.TRANSCRIPTS: (Category.INJECTION,),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a row beside its text.

    Attributes:
        id: The row's id.
        folder: Where it lies.
        detect: Whether the folder's category should be found in it.
        marked: Whether the corpus marks it as hard or borderline.
        categories: Of which categories its label speaks.
        groups: What it is grouped by, as pairs of the format's key and this row's value.
    """

    id: str
    folder: Folder
    detect: bool
    marked: bool
    categories: tuple[Category, ...]
    groups: tuple[tuple[str, str], ...]


class Row(NamedTuple):
    """A row: what is known of it, and its texts by their places in it."""

    facts: Facts
    texts: tuple[tuple[str, str], ...]


def read_row(line: bytes, folder: Folder) -> Row:
    """Read one line.

    Args:
        line: JSON, in UTF-8.
        folder: Where it lies.

    Raises:
        TooLargeError: It exceeds ``MAX_ROW_BYTES``.
        MalformedError: It is not of the row format.
    """
    if len(line) > MAX_ROW_BYTES:
        raise TooLargeError(f"row has more than {MAX_ROW_BYTES} bytes")
    try:
        body = json.loads(line)
    except (ValueError, RecursionError):
        raise MalformedError("row is not JSON") from None
    if not isinstance(body, dict):
        raise MalformedError("row is no JSON object")
    label = body.get("label")
    if label not in ("detect", "clean"):
        raise MalformedError("row's label is neither detect nor clean")
    if folder is Folder.BENIGN and label == "detect":
        raise MalformedError("row of the folder benign says that something is to be detected")
    marked = _flag(body, "borderline") or body.get("difficulty") == "hard"
    categories, groups = _SPOKEN_OF[folder], _groups(body)
    if folder is Folder.BENIGN and dict(groups)["obfuscation"] in HIDING:
        categories = tuple(category for category in categories if category is not Category.HIDDEN_TEXT)
    facts = Facts(_name(body, "id"), folder, label == "detect", marked, categories, groups)
    return Row(facts, _messages(body) if folder is Folder.TRANSCRIPTS else (("text", _text(body)),))


def _groups(body: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    groups = [(key, _name(body, key)) for key in _GROUPED if body.get(key) is not None]
    given = body.get("obfuscation")
    disguise = _NO_DISGUISE if given is None or given == "" else _name(body, "obfuscation")
    source = _name(body, "source").partition(":")[0] if body.get("source") is not None else "unknown"
    filler = "yes" if _flag(body, "placeholder_like") else "no"
    return (*groups, ("obfuscation", disguise), ("source", source), ("placeholder_like", filler))


def _name(body: Mapping[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise MalformedError(f"row's {key} is no text")
    try:
        check_text(value)
    except MalformedError as error:
        raise MalformedError(f"row's {key}: {error}") from None
    return value[:MAX_NAME_CHARACTERS]


def _flag(body: Mapping[str, Any], key: str) -> bool:
    value = body.get(key, False)
    if not isinstance(value, bool):
        raise MalformedError(f"row's {key} is neither true nor false")
    return value


def _messages(body: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the contents of a transcript's messages, less those that are null, as where a model calls a tool."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not 0 < len(messages) <= MAX_MESSAGES:
        raise MalformedError("transcript's messages are no list, empty, or too many")
    texts = list[tuple[str, str]]()
    for place, message in enumerate(messages):
        content = message.get("content") if isinstance(message, dict) else ...
        if isinstance(content, str):
            texts.append((f"messages[{place}].content", content))
        elif content is not None:
            raise MalformedError(f"transcript's messages[{place}] has no content that is a text")
    if not texts:
        raise MalformedError("transcript's messages have no content")
    return tuple(texts)


def _text(body: Mapping[str, Any]) -> str:
    plain, encoded = body.get("text"), body.get("text_b64")
    if isinstance(plain, str) and encoded is None:
        return plain
    if not isinstance(encoded, str) or plain is not None:
        raise MalformedError("row has neither a text nor a text_b64 alone")
    try:
        return base64.b64decode(encoded.replace(" ", ""), validate=True).decode("utf-8")
    except ValueError:
        raise MalformedError("row's text_b64 is no UTF-8 in base64") from None
