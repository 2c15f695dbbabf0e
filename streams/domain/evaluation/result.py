"""An evaluation's result as a document, and what got worse since another one.

The contract: the document (``pratique.evaluation.v1``) holds counts, digests and names, never a text or a value, and is
the same for the same corpus, scanner and policy. A regression is a rate that is worse beyond the 95 % interval of the
difference (``rates.difference``), in a group of at least ``FEWEST`` rows then and now; more rows that can't be scanned
are one too, and so is a part that is not there any more. There is no chance in a scanner: an unchanged one never
regresses on an unchanged corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue
from pratique.errors import MalformedError
from streams.domain.evaluation.rates import Interval, Rate, difference
from streams.domain.evaluation.rows import Folder
from streams.domain.evaluation.scoring import ALL, BY, FEWEST, GroupKey, Measure, Part, PartKey, Tally
from streams.domain.scanning.finding import Category

SCHEMA_VERSION: Final = "pratique.evaluation.v1"

_COUNTS: Final = ("rows", "found", "any", "errors")


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """A file that was read: its name within the corpus, SHA-256, and rows."""

    name: str
    sha256: str
    rows: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of a corpus.

    Attributes:
        versions: Of ``pratique``, ``scanner`` and ``policy``.
        scanner_sha256: The scanner's digest.
        profile_sha256: Canonical digest of the languages and entity types that it looked for.
        files: What was read.
        errors: How many rows could not be scanned, by reason code.
        parts: The counts.
    """

    versions: Mapping[str, str]
    scanner_sha256: str
    profile_sha256: str
    files: tuple[CorpusFile, ...]
    errors: Mapping[str, int]
    parts: tuple[Part, ...]

    def body(self) -> dict[str, JsonValue]:
        """Return the document."""
        return {
            "schema_version": SCHEMA_VERSION,
            "versions": dict(self.versions),
            "scanner_sha256": self.scanner_sha256,
            "profile_sha256": self.profile_sha256,
            "files": [{"file": file.name, "sha256": file.sha256, "rows": file.rows} for file in self.files],
            "errors": dict(self.errors),
            "parts": [_part_body(part) for part in self.parts],
        }

    def text(self) -> str:
        """Return the document as it is written: indented, with one line a part."""
        body = self.body()
        parts = [json.dumps(_part_body(part), ensure_ascii=False) for part in self.parts]
        head = json.dumps({key: body[key] for key in body if key != "parts"}, indent=1, ensure_ascii=False)
        return head.removesuffix("\n}") + ',\n "parts": [\n  ' + ",\n  ".join(parts) + "\n ]\n}\n"


@dataclass(frozen=True, slots=True)
class Regression:
    """A rate that got worse.

    Attributes:
        part: Where.
        group: In which rows.
        what: Which rate: the part's measure, ``errors``, or ``missing`` where the part is not there any more.
        before: The baseline's rate.
        after: The rate now.
        change: The 95 % interval of the difference.
    """

    part: PartKey
    group: GroupKey
    what: str
    before: Rate
    after: Rate
    change: Interval

    def body(self) -> dict[str, JsonValue]:
        """Return the regression as a JSON object."""
        return {
            "folder": self.part.folder.value,
            "category": self.part.category.value,
            "measure": self.part.measure.value,
            "by": self.group.by,
            "value": self.group.value,
            "what": self.what,
            "before": list(self.before),
            "after": list(self.after),
            "change": [round(end, 6) for end in self.change],
        }


def regressions(before: Sequence[Part], after: Sequence[Part]) -> tuple[Regression, ...]:
    """Return what got worse beyond its interval.

    Args:
        before: The baseline's parts.
        after: The parts now.
    """
    now = {part.key: part for part in after}
    return tuple(found for part in before for found in _worse(part, now.get(part.key)))


def _worse(before: Part, after: Part | None) -> Iterator[Regression]:
    total = GroupKey(ALL, "")
    if after is None:
        yield Regression(before.key, total, "missing", before.total.rate, Rate(0, 0), Interval(-1.0, 1.0))
        return
    for group, tally in before.groups.items():
        other = after.groups.get(group, Tally())
        if min(tally.rows + tally.errors, other.rows + other.errors) < FEWEST:
            continue
        change = difference(tally.error_rate, other.error_rate)
        if change.low > 0:
            yield Regression(before.key, group, "errors", tally.error_rate, other.error_rate, change)
        if min(tally.rows, other.rows) < FEWEST:
            continue
        change = difference(tally.rate, other.rate)
        lost = before.key.measure is Measure.RECALL and change.high < 0
        if lost or (before.key.measure is Measure.FALSE_POSITIVES and change.low > 0):
            yield Regression(before.key, group, before.key.measure.value, tally.rate, other.rate, change)


def read_parts(document: JsonValue) -> tuple[Part, ...]:
    """Return the parts of a document.

    Raises:
        MalformedError: It is no ``pratique.evaluation.v1`` document.
    """
    if not isinstance(document, Mapping) or document.get("schema_version") != SCHEMA_VERSION:
        raise MalformedError("evaluation is not of its schema version")
    try:
        return tuple(_part(body) for body in _listed(document["parts"]))
    except (KeyError, ValueError):
        raise MalformedError("evaluation is not of its closed form") from None


def _part_body(part: Part) -> dict[str, JsonValue]:
    return {
        "folder": part.key.folder.value,
        "category": part.key.category.value,
        "measure": part.key.measure.value,
        "groups": [
            {"by": group.by, "value": group.value, **{name: getattr(tally, name) for name in _COUNTS}}
            for group, tally in part.groups.items()
        ],
    }


def _part(body: Mapping[str, JsonValue]) -> Part:
    key = PartKey(Folder(body["folder"]), Category(body["category"]), Measure(body["measure"]))
    groups = dict(_group(item) for item in _listed(body["groups"]))
    if GroupKey(ALL, "") not in groups:
        raise MalformedError("evaluation has a part without its total")
    return Part(key, groups)


def _group(body: Mapping[str, JsonValue]) -> tuple[GroupKey, Tally]:
    by, value, counts = body["by"], body["value"], [body[name] for name in _COUNTS]
    if not isinstance(by, str) or by not in BY or not isinstance(value, str):
        raise MalformedError("evaluation has a group that is none")
    numbers = [count for count in counts if type(count) is int and count >= 0]
    if len(numbers) < len(_COUNTS) or numbers[1] > numbers[0]:
        raise MalformedError("evaluation has a count that is none")
    return GroupKey(by, value), Tally(*numbers)


def _listed(value: JsonValue) -> list[Mapping[str, JsonValue]]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise MalformedError("evaluation is not of its closed form")
    found = [item for item in value if isinstance(item, Mapping)]
    if len(found) < len(value):
        raise MalformedError("evaluation is not of its closed form")
    return found
