"""The engine between a worker and its detectors: every field in all its readings, every finding where it really stands.

The contract: each detector sees the fields and, as further fields, their other readings; what it finds in one is
reported in the original's offsets, with how the text was read as its detail. Short fields that follow each other in a
list are read as one as well, for what is split over them; it stands where it begins. One thing is reported once: a
finding of the same detector and type that lies in what was found in an earlier reading is that, and the plain text is
the earliest. One that reaches beyond stands for both: whoever masks it leaves no part, and what allows the plain part
allows no more. A detector that takes disguises off itself (``own_views``) sees the fields alone.

Whatever fails leaves no findings, since they would look complete: a detector that raises, or a text whose readings
exceed the bounds (TOO_LARGE): each field's own, and what all of them may have together.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from pratique.contract.reasons import ReasonCode
from pratique.errors import MalformedError, PratiqueError, TooLargeError
from streams.application.ports.detection import has_own_views
from streams.domain.scanning.finding import Finding, ordered
from streams.domain.scanning.population import Field
from streams.domain.scanning.views.budget import Budget
from streams.domain.scanning.views.limits import most_read
from streams.domain.scanning.views.model import View
from streams.domain.scanning.views.readings import readings
from streams.errors import DetectorError, LanguageUnsupportedError

if TYPE_CHECKING:
    from streams.application.ports.detection import Detector
    from streams.domain.scanning.request import ScanProfile

VIEWS: Final = "views"
"""Who names what went wrong before any detector looked."""

ACROSS: Final = "across"
"""How fields that follow each other are read."""

_MOST_DETAIL: Final = 128
_LONGEST_PART: Final = 256
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

Failure: TypeAlias = tuple[ReasonCode, str]


def detect(
    fields: Sequence[Field], profile: ScanProfile, detectors: Sequence[Detector]
) -> tuple[list[Finding], Failure | None]:
    """Run every detector over every field in all its readings.

    Args:
        fields: What is scanned.
        profile: What to look for, and how far to look.
        detectors: Who looks.

    Returns:
        The findings in the order of the fields, then of the text; or none, and why.
    """
    try:
        views = _views(fields, profile)
    except TooLargeError:
        return [], (ReasonCode.TOO_LARGE, VIEWS)
    further = [Field(path, reading.view.text) for path, reading in views.items()]
    found: list[Finding] = []
    for detector in detectors:
        try:
            detector.check(profile)
            given = fields if has_own_views(detector) else [*fields, *further]
            found += _original(detector.scan(given, profile), views)
        except LanguageUnsupportedError:
            return [], (ReasonCode.LANGUAGE_UNSUPPORTED, detector.manifest.name)
        except (DetectorError, PratiqueError):
            return [], (ReasonCode.DETECTOR_ERROR, detector.manifest.name)
        except Exception:  # noqa: BLE001 - a detector that breaks its contract did not look either
            return [], (ReasonCode.DETECTOR_ERROR, detector.manifest.name)
    try:
        return ordered(found, [field.path for field in fields]), None
    except PratiqueError:
        return [], (ReasonCode.DETECTOR_ERROR, "scan")


@dataclass(frozen=True)
class _Reading:
    """A view, and the fields that it is of: one, or several that follow each other."""

    view: View
    fields: tuple[Field, ...]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """How all of it was read: asked once, however much is found in it."""
        return self.view.kinds

    def original(self, finding: Finding) -> Finding | None:
        """Return a finding of the view as one of the fields; none where there is nothing new to it.

        Raises:
            MalformedError: It reaches beyond its field.
        """
        if not finding.start <= finding.end <= len(self.view.text):
            raise MalformedError("finding is outside its field")
        place = self.view.place(finding.start, finding.end)
        if place is None:
            return None
        start, end, kinds = place.start, place.end, place.kinds or self.kinds
        for field in self.fields:
            if start < len(field.value):
                break
            start, end = start - len(field.value), end - len(field.value)
        if len(self.fields) > 1:
            if end <= len(field.value):
                return None  # it is in one field, which was read already
            end, kinds = len(field.value), (ACROSS, *kinds)
        return replace(finding, path=field.path, start=start, end=end, detail=_detail(kinds))


def _views(fields: Sequence[Field], profile: ScanProfile) -> dict[str, _Reading]:
    """Return what fields read as beside themselves, by paths of their own.

    Raises:
        TooLargeError: The readings of a field exceed its bounds, or all together what so many characters may have.
    """
    views: dict[str, _Reading] = {}
    budget = Budget(most_read(sum(len(field.value) for field in fields)))
    for field in fields:
        for number, view in enumerate(readings(field.value, profile.limits)):
            if number:
                budget.spend(len(view.text))
                views[f"{VIEWS}:{number}:{field.path}"] = _Reading(view, (field,))
    for several in _following(fields):
        text = "".join(field.value for field in several)
        for number, view in enumerate(readings(text, profile.limits)):
            budget.spend(len(view.text))
            views[f"{VIEWS}:{ACROSS}:{number}:{several[0].path}"] = _Reading(view, several)
    return views


def _following(fields: Iterable[Field]) -> Iterator[tuple[Field, ...]]:
    """Yield short fields that follow each other in one list; digests are no parts of anything."""
    for root, several in groupby(fields, key=_list_of):
        if root:
            part = tuple(several)
            if len(part) > 1:
                yield part


def _list_of(field: Field) -> str:
    """Return which list a field may be a part of; none where it is long, a digest, or in no list."""
    root, bracket, _ = field.path.partition("[")
    is_part = bracket and len(field.value) <= _LONGEST_PART and not _DIGEST.fullmatch(field.value)
    return root if is_part else ""


def _original(found: Sequence[Finding], views: Mapping[str, _Reading]) -> list[Finding]:
    """Return one detector's findings where they stand in the fields, each once.

    Raises:
        MalformedError: A finding reaches beyond its field.
    """
    plain = [finding for finding in found if finding.path not in views]
    if len(plain) == len(found):
        return plain
    texts = {field.path: field.value for reading in views.values() for field in reading.fields}
    taken: dict[tuple[str, str, str], _Taken] = {}
    for finding in plain:
        taken.setdefault(_key(finding), _Taken()).add(finding)
    rank = {path: number for number, path in enumerate(views)}
    for finding in sorted((item for item in found if item.path in views), key=lambda item: rank[item.path]):
        mapped = views[finding.path].original(finding)
        if mapped is not None:
            taken.setdefault(_key(mapped), _Taken()).widen(mapped, texts[mapped.path])
    return [finding for several in taken.values() for finding in several.findings()]


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.path, finding.category.value, finding.type


def _detail(kinds: Sequence[str]) -> str:
    """Return how a text was read as one word, of what fits."""
    detail = ""
    for kind in kinds:
        longer = f"{detail}+{kind}" if detail else kind
        if len(longer) > _MOST_DETAIL:
            break
        detail = longer
    return detail


class _Taken:
    """Findings of one kind in one field, together where they overlap."""

    def __init__(self) -> None:
        self._groups: list[_Group] = []

    def add(self, finding: Finding) -> None:
        """Take a finding as it is."""
        self._take(_Group(finding.start, max(finding.end, finding.start + 1), (finding,)))

    def widen(self, finding: Finding, text: str) -> None:
        """Take a finding of a reading: none where all of it but white space is taken, else one with what it overlaps.

        Args:
            finding: Where it stands in its field.
            text: The field's.
        """
        start, end = finding.start, max(finding.end, finding.start + 1)
        overlapped = self._overlapped(start, end)
        inside = self._groups[overlapped]
        if inside:
            ends = [start, *(group.end for group in inside)]
            starts = [*(group.start for group in inside), end]
            if not any(text[one:other].strip() for one, other in zip(ends, starts, strict=True)):
                return
            start, end = min(start, inside[0].start), max(end, inside[-1].end)
            finding = replace(finding, start=start, end=end, score=max(finding.score, *_scores(inside)))
        self._groups[overlapped] = [_Group(start, end, (finding,))]

    def findings(self) -> Iterator[Finding]:
        """Yield what was taken."""
        for group in self._groups:
            yield from group.findings

    def _take(self, group: _Group) -> None:
        overlapped = self._overlapped(group.start, group.end)
        inside = [*self._groups[overlapped], group]
        self._groups[overlapped] = [
            _Group(
                min(item.start for item in inside),
                max(item.end for item in inside),
                tuple(finding for item in inside for finding in item.findings),
            )
        ]

    def _overlapped(self, start: int, end: int) -> slice:
        return slice(
            bisect_left(self._groups, start, key=_end_before), bisect_right(self._groups, end - 1, key=_start_of)
        )


@dataclass(frozen=True, slots=True)
class _Group:
    """Findings that overlap, and all that they cover."""

    start: int
    end: int
    findings: tuple[Finding, ...]


def _scores(groups: Iterable[_Group]) -> Iterator[float]:
    return (finding.score for group in groups for finding in group.findings)


def _start_of(group: _Group) -> int:
    return group.start


def _end_before(group: _Group) -> int:
    """Return a group's last place: one that ends before a start does not overlap it."""
    return group.end - 1
