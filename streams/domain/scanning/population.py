"""What is scanned: the roots of a compaction candidate, field by field (AID-I-004.008 G003).

Four roots as the seed has them, and the narrative, second, where the candidate has one.

The contract: the population's digest is over the roots as the candidate has them, and every string in it is exactly
one field with a path of our own words. Claims are not in it: the seed scans what may enter a context, and a claim's
predicate must equal the signed policy's text, which the consistency check holds.

It does not normalise, decode or otherwise change a text; views for detectors are their business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pratique.contract.canonical import PlainJson, plain_sha256
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.errors import MalformedError
from streams.domain.compaction.candidate import CompactedContext, scanned_population

SUMMARY_ROOT: Final = "summary_text"
LIST_ROOTS: Final = (
    "retained_safety_invariant_ids",
    "retained_policy_commitment_ids",
    "source_message_sha256s",
)
FIELD_ROOTS: Final = (SUMMARY_ROOT, *LIST_ROOTS)
"""The roots that must be scanned, in the seed's order."""
NARRATIVE_FIELD_ROOTS: Final = (SUMMARY_ROOT, NARRATIVE_FIELD, *LIST_ROOTS)
"""The same where there is a narrative."""


@dataclass(frozen=True, slots=True)
class Field:
    """One text to scan, and the name it has in findings."""

    path: str
    value: str

    def body(self) -> dict[str, PlainJson]:
        """Return the field as the scan request lists it."""
        return {"path": self.path, "value": self.value}


class ScanPopulation(NamedTuple):
    """A population with its fields, digest and count.

    Attributes:
        population: The roots, as digested.
        fields: One a string of the population, in the seed's order.
        sha256: Canonical digest of the population.
        field_count: How many fields there are.
    """

    population: dict[str, PlainJson]
    fields: tuple[Field, ...]
    sha256: str
    field_count: int


def scan_population(context: CompactedContext) -> ScanPopulation:
    """Return what must be scanned of a candidate.

    Raises:
        MalformedError: A field is empty: nothing was there to scan, which is not clean (AID-I-004.008 G003).
    """
    fields = [Field(SUMMARY_ROOT, context.summary_text)]
    if context.narrative_text is not None:
        fields.append(Field(NARRATIVE_FIELD, context.narrative_text))
    for root in LIST_ROOTS:
        fields += [Field(f"{root}[{index}]", value) for index, value in enumerate(getattr(context, root))]
    if not all(field.value for field in fields):
        raise MalformedError("a field to scan is empty")
    population = scanned_population(context)
    return ScanPopulation(population, tuple(fields), plain_sha256(population), len(fields))


def population_of(fields: Sequence[Field]) -> dict[str, PlainJson]:
    """Rebuild the population from its fields: what a worker has really been given, in the digested form.

    Raises:
        MalformedError: The fields are not those of the roots, complete, in order and without gaps.
    """
    lists: dict[str, list[PlainJson]] = {root: [] for root in LIST_ROOTS}
    if not fields or fields[0].path != SUMMARY_ROOT:
        raise MalformedError("fields do not begin with the summary")
    position = 0
    narrative = {item.path: item.value for item in fields[1:2] if item.path == NARRATIVE_FIELD}
    for field in fields[1 + len(narrative) :]:
        root, bracket, index = field.path.partition("[")
        if not bracket or root not in lists or index != f"{len(lists[root])}]":
            raise MalformedError("fields are not those of the four roots")
        if LIST_ROOTS.index(root) < position:
            raise MalformedError("fields are not in the roots' order")
        position = LIST_ROOTS.index(root)
        lists[root].append(field.value)
    return {SUMMARY_ROOT: fields[0].value, **narrative, **lists}
