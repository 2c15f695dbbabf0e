"""What a detector found: where and what kind, never the matched value.

The contract: a ``Finding`` can be logged, measured and published. It holds no content; ``start`` and ``end`` are
character offsets into the field that ``path`` names, which only someone who already has the field can use.

It decides nothing: which categories block is policy's, and the use case's (``streams.application.scanning``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pratique.contract.canonical import JsonValue
from pratique.errors import MalformedError

_NAME: Final = re.compile(r"[0-9A-Za-z_./+-]{1,128}")
"""Names of detectors and types: words of rules, so that no text can travel as one."""


class Category(Enum):
    """What kind of thing a finding is; each names the reason code it becomes."""

    SECRET = "SECRET"  # noqa: S105 - a category, no password
    PII = "PII"
    INJECTION = "INJECTION"
    HIDDEN_TEXT = "HIDDEN_TEXT"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that one detector found.

    Attributes:
        category: What kind of thing.
        detector: Who found it, as its manifest entry names it.
        type: The detector's own name of it: a rule id or an entity type, from its rules and never from the text.
        path: The field, in our schema's words (``summary_text``, ``source_message_sha256s[3]``).
        start: Offset of the first character within the field.
        end: Offset after the last character.
        score: The detector's confidence, 0 to 1.
        detail: How the text was read (``base64+gzip``), in our own words; empty where it stands there plainly.
    """

    category: Category
    detector: str
    type: str
    path: str
    start: int
    end: int
    score: float
    detail: str = ""

    def body(self) -> dict[str, JsonValue]:
        """Return the finding as a JSON object; ``detail`` is in it only where there is one."""
        body: dict[str, JsonValue] = {
            "category": self.category.value,
            "detector": self.detector,
            "type": self.type,
            "path": self.path,
            "start": self.start,
            "end": self.end,
            "score": self.score,
        }
        return {**body, "detail": self.detail} if self.detail else body

    @classmethod
    def of(cls, body: Mapping[str, JsonValue]) -> Finding:
        """Read a finding back from its JSON object.

        Raises:
            MalformedError: It is not the object that ``body`` makes.
        """
        try:
            detector, kind = (check_name(body[key]) for key in ("detector", "type"))
            path, start, end, score = (body[key] for key in ("path", "start", "end", "score"))
            category = Category(body["category"])
            detail = check_name(body["detail"]) if "detail" in body else ""
        except (KeyError, ValueError):
            raise MalformedError("finding is not of its closed form") from None
        if not isinstance(path, str) or not isinstance(score, int | float) or isinstance(score, bool):
            raise MalformedError("finding is not of its closed form")
        if type(start) is not int or type(end) is not int or not 0 <= start <= end:
            raise MalformedError("finding is not of its closed form")
        return cls(category, detector, kind, path, start, end, float(score), detail)


def check_name(name: JsonValue) -> str:
    """Return a detector's or a type's name, which comes from rules and never from a text.

    Raises:
        MalformedError: It is none.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MalformedError("finding holds a name that is none")
    return name


def ordered(findings: Iterable[Finding], paths: Sequence[str]) -> list[Finding]:
    """Return the distinct findings in the order of the fields, then of the text.

    Args:
        findings: In any order, repeated or not.
        paths: The scanned fields' paths, in order; a finding of another path is no finding of this scan.

    Raises:
        MalformedError: A finding is outside the scanned fields.
    """
    rank = {path: index for index, path in enumerate(paths)}
    distinct = set(findings)
    if not all(finding.path in rank for finding in distinct):
        raise MalformedError("finding names a field that was not scanned")
    return sorted(
        distinct,
        key=lambda item: (
            rank[item.path],
            item.start,
            item.end,
            item.category.value,
            item.detector,
            item.type,
            item.detail,
        ),
    )
