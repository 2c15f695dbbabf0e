"""The population of a recall: which memories were expected, and whether each has exactly one finding.

The contract (AID-D-001.005 G001): ``reconcile`` compares the loader's manifest with the findings, in no order, and
returns the seed's roll-up to the letter. Duplicates and absent identities are refused, not rolled up. A key is whole:
the same record id in two tenants is two memories. ``population_reasons`` says of the same, place by place, what is
wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pratique.contract.canonical import JsonValue
from pratique.contract.digests import recall_population_sha256
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode
from pratique.errors import MalformedError

POPULATION: Final = "population"
"""Who states the reasons of this module, whichever app they are derived in."""


class MemoryKey(NamedTuple):
    """What a memory is known by."""

    tenant_id: str
    recall_request_id: str
    entry_id: str
    memory_version: str


class Observed(NamedTuple):
    """That there is a finding about a memory, and what it came to."""

    key: MemoryKey
    control_status: Outcome
    finding_status: FindingStatus


@dataclass(frozen=True, slots=True)
class RollUp:
    """What a recall's findings come to together.

    Attributes:
        missing: Expected, and no finding; sorted.
        extra: A finding, and not expected; sorted.
        evaluated_count: The number of findings; null where some are missing or extra.
        population_sha256: The manifest's population digest; null unless every finding is PASS.
    """

    control_status: Outcome
    finding_status: FindingStatus
    missing: tuple[MemoryKey, ...] = ()
    extra: tuple[MemoryKey, ...] = ()
    evaluated_count: int | None = None
    population_sha256: str | None = None

    @property
    def complete(self) -> bool:
        """Whether there is one finding for each expected memory, and no other."""
        return not self.missing and not self.extra

    def body(self) -> dict[str, JsonValue]:
        """Return the roll-up with the keys that its status has."""
        body: dict[str, JsonValue] = {
            "control_status": self.control_status.value,
            "finding_status": self.finding_status.value,
        }
        if not self.complete:
            return body | {"missing": [list(key) for key in self.missing], "extra": [list(key) for key in self.extra]}
        body["evaluated_count"] = self.evaluated_count
        if self.population_sha256 is not None:
            body["population_sha256"] = self.population_sha256
        return body


def reconcile(expected: Sequence[MemoryKey], observed: Iterable[Observed]) -> RollUp:
    """Compare the loader's manifest with the findings.

    Args:
        expected: The manifest's keys.
        observed: The findings.

    Raises:
        MalformedError: A key lacks a part (MESSAGE_INVALID); the manifest or the findings name one twice
            (POPULATION_DUPLICATED).
    """
    if not all(map(all, expected)):
        raise MalformedError("loader's manifest holds a key that lacks a part", code="MESSAGE_INVALID")
    manifest = frozenset(expected)
    if len(manifest) != len(expected):
        raise MalformedError("loader's manifest names a memory twice", code="POPULATION_DUPLICATED")
    found: dict[MemoryKey, Observed] = {}
    for item in observed:
        if not all(item.key):
            raise MalformedError("finding's identity lacks a part", code="MESSAGE_INVALID")
        if item.key in found:
            raise MalformedError("two findings are about one memory", code="POPULATION_DUPLICATED")
        found[item.key] = item
    missing, extra = tuple(sorted(manifest - found.keys())), tuple(sorted(found.keys() - manifest))
    if missing or extra:
        return RollUp(Outcome.INSUFFICIENT_DATA, FindingStatus.UNKNOWN, missing, extra)
    if any(item.control_status is Outcome.ERROR for item in found.values()):
        return RollUp(Outcome.ERROR, FindingStatus.UNKNOWN, evaluated_count=len(found))
    is_finding = any(item.finding_status is FindingStatus.FINDING for item in found.values())
    return RollUp(
        Outcome.PASS,
        FindingStatus.FINDING if is_finding else FindingStatus.NO_FINDING,
        evaluated_count=len(found),
        population_sha256=recall_population_sha256(manifest),
    )


def population_reasons(expected: Sequence[MemoryKey], given: Sequence[MemoryKey]) -> list[Reason]:
    """Return what is missing, extra, there twice or nameless, by its place in manifest or request; no order."""
    reasons = [
        Reason.of(code, f"{where}[{place}]", POPULATION)
        for where, keys in (("expected_entries", expected), ("entries", given))
        for code, places in (
            (ReasonCode.MESSAGE_INVALID, (place for place, key in enumerate(keys) if not all(key))),
            (ReasonCode.POPULATION_DUPLICATED, _again(keys)),
        )
        for place in places
    ]
    manifest, found = frozenset(expected), frozenset(given)
    reasons += [
        Reason.of(ReasonCode.POPULATION_MISSING, f"expected_entries[{place}]", POPULATION)
        for place, key in enumerate(expected)
        if key not in found
    ]
    reasons += [
        Reason.of(ReasonCode.POPULATION_EXTRA, f"entries[{place}]", POPULATION)
        for place, key in enumerate(given)
        if key not in manifest
    ]
    return reasons


def _again(keys: Sequence[MemoryKey]) -> Iterable[int]:
    seen: Counter[MemoryKey] = Counter()
    for place, key in enumerate(keys):
        if seen[key]:
            yield place
        seen[key] += 1
