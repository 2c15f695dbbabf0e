"""What a scanner found in a corpus, counted by what rows are grouped by.

The contract: a row counts as found where at least one finding is of the category that is asked for; where in the text,
and how often, does not matter. A row that could not be scanned is neither found nor clean: it is an error, and in no
rate. Parts never mix what differs in kind: recall and false positives, folders, categories.

Counts hold no text and no value; names that rows are grouped by are the corpus's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from pratique.contract.reasons import ReasonCode
from streams.domain.evaluation.rates import Rate
from streams.domain.evaluation.rows import Facts, Folder
from streams.domain.scanning.finding import Category, Finding

ALL: Final = "all"
"""The group of every row of a part."""

MARKED: Final = "marked"
"""Rows grouped by whether the corpus marks them as hard or borderline."""

FEWEST: Final = 20
"""A group of fewer rows says next to nothing: it is neither printed nor compared."""

BY: Final = {
    ALL: "all rows",
    MARKED: "hard or borderline",
    "lang": "language",
    "obfuscation": "disguise",
    "form": "form",
    "placeholder_like": "looks like filler",
    "source": "source",
    "kind": "kind",
    "category": "category in the corpus",
}
"""What rows are grouped by, in the order of a report: the format's key, and what people call it."""


class Measure(Enum):
    """What a rate is of: rows to detect, or rows that are clean."""

    RECALL = "recall"
    FALSE_POSITIVES = "false_positives"


class PartKey(NamedTuple):
    """Which part of a corpus: rows of one folder and label, looked at for one category."""

    folder: Folder
    category: Category
    measure: Measure

    @property
    def title(self) -> str:
        """The part, for people."""
        what = self.measure.value.replace("_", " ")
        return f"{self.category.value} in {self.folder.value}: {what}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a row: findings, or why there are none."""

    facts: Facts
    findings: tuple[Finding, ...] = ()
    error: ReasonCode | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a group of rows.

    Attributes:
        rows: Rows that were scanned.
        found: Those of them in which the part's category was found.
        any: Those of them in which anything was found, of whatever category.
        errors: Further rows, which could not be scanned.
    """

    rows: int = 0
    found: int = 0
    any: int = 0
    errors: int = 0

    @property
    def rate(self) -> Rate:
        """The part's rate."""
        return Rate(self.found, self.rows)

    @property
    def error_rate(self) -> Rate:
        """How many could not be scanned, of all."""
        return Rate(self.errors, self.rows + self.errors)


class GroupKey(NamedTuple):
    """Which rows of a part: those with this value of this key."""

    by: str
    value: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the corpus with its groups, ``ALL`` first."""

    key: PartKey
    groups: dict[GroupKey, Tally]

    @property
    def total(self) -> Tally:
        """All its rows."""
        return self.groups[GroupKey(ALL, "")]


@dataclass(slots=True)
class _Count:
    rows: int = 0
    found: int = 0
    any: int = 0
    errors: int = 0

    def add(self, outcome: Outcome, *, found: bool) -> None:
        if outcome.error is not None:
            self.errors += 1
            return
        self.rows += 1
        self.found += found
        self.any += bool(outcome.findings)


@dataclass(slots=True)
class Score:
    """Counts that grow with each row."""

    _counts: dict[PartKey, dict[GroupKey, _Count]] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        """Count a row."""
        facts = outcome.facts
        measure = Measure.RECALL if facts.detect else Measure.FALSE_POSITIVES
        categories = {finding.category for finding in outcome.findings}
        for category in facts.categories:
            groups = self._counts.setdefault(PartKey(facts.folder, category, measure), defaultdict(_Count))
            for group in _groups(facts):
                groups[group].add(outcome, found=category in categories)

    def parts(self) -> tuple[Part, ...]:
        """Return what was counted: parts and groups in a fixed order."""
        return tuple(
            Part(key, {group: Tally(*_numbers(groups[group])) for group in sorted(groups, key=_group_rank)})
            for key, groups in sorted(self._counts.items(), key=_part_rank)
        )


def score(outcomes: Iterable[Outcome]) -> tuple[Part, ...]:
    """Count rows."""
    counted = Score()
    for outcome in outcomes:
        counted.add(outcome)
    return counted.parts()


def _groups(facts: Facts) -> Iterator[GroupKey]:
    yield GroupKey(ALL, "")
    yield GroupKey(MARKED, "yes" if facts.marked else "no")
    for by, value in facts.groups:
        yield GroupKey(by, value)


def _numbers(count: _Count) -> tuple[int, int, int, int]:
    return count.rows, count.found, count.any, count.errors


_MEASURES: Final = tuple(Measure)
_FOLDERS: Final = tuple(Folder)
_CATEGORIES: Final = tuple(Category)
_KEYS: Final = tuple(BY)


def _part_rank(item: tuple[PartKey, object]) -> tuple[int, int, int]:
    key = item[0]
    return _MEASURES.index(key.measure), _CATEGORIES.index(key.category), _FOLDERS.index(key.folder)


def _group_rank(group: GroupKey) -> tuple[int, str]:
    return _KEYS.index(group.by), group.value
