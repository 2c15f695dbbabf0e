"""A recall's rules: to what its receipts must be bound, how its findings are joined, what is admitted.

The contract (AID-D-001.005 G001): the two workers' statements count only where their entries are those of the join key
(population and subject derived again), of one another and of what intake pinned; then the findings are reconciled with
the loader's manifest, which gives the seed's roll-up as the verdict's event, and admission decides about each entry.
Where a statement is missing or not bound, nothing is admitted.

The event is null where the seed refuses to roll up (something twice, or nameless), and where intake refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from pratique.contract.canonical import JsonValue
from pratique.contract.digests import recall_population_sha256
from pratique.contract.reasons import Outcome, Reason
from pratique.contract.records import EntryVerdict, EvidenceKind, LedgerView, Opened, Receipt, StatedReason
from pratique.errors import MalformedError
from streams.domain.recall.admission import Assessed, admit
from streams.domain.recall.bounding import bounded
from streams.domain.recall.population import MemoryKey, RollUp, population_reasons, reconcile
from streams.domain.recall.statements import CheckedEntry, ConsistencyStatement, ScannedEntry, ScanStatement
from streams.domain.verdicts.evidence import Stated
from streams.domain.verdicts.receipts import NOT_ESTABLISHED, Conclusion, body_of, differs, has_passed, opened_of

ASSURANCE: Final = "DETECTOR_DERIVED_CONTENT_BOUND_FINDINGS"
"""What an accepted recall establishes, in the seed's words: what detectors derived from these very contents."""

_OF_ONE_ENTRY: Final = re.compile(r"entries\[([0-9]{1,4})\](?:\..*)?")

StatementT = TypeVar("StatementT", ScanStatement, ConsistencyStatement)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The statements that are bound, and everything that is wrong with binding and population."""

    expected: tuple[MemoryKey, ...]
    scan: ScanStatement | None
    consistency: ConsistencyStatement | None
    reasons: frozenset[Reason]


def binding_reasons(opened: Stated, held: Mapping[EvidenceKind, Receipt]) -> frozenset[Reason]:
    """Return what of the receipts speaks of something else, and how manifest and entries differ."""
    return _read(opened, held).reasons


def conclude(
    opened: Stated, held: Mapping[EvidenceKind, Receipt], reasons: Sequence[StatedReason], *, accepted: bool
) -> Conclusion:
    """Return what the verdict says beside outcome and reasons.

    Args:
        opened: Intake's statement.
        held: The receipts; none for a refusal.
        reasons: Every reason of the verdict.
        accepted: Whether the verdict accepts.
    """
    reading = _read(opened, held)
    roll_up = _rolled_up(reading) if held else None
    ledger = None if reading.scan is None else reading.scan.ledger
    return Conclusion(
        assurance=ASSURANCE if accepted else NOT_ESTABLISHED,
        event=None if roll_up is None else roll_up.body(),
        entries=_entries(opened_of(opened), reading, roll_up, reasons),
        ledger_view=None if ledger is None else LedgerView(ledger.position, ledger.staleness_ms),
    )


def _read(opened: Stated, held: Mapping[EvidenceKind, Receipt]) -> _Reading:
    head, key = opened_of(opened), opened.evidence.join_key
    expected = tuple(
        MemoryKey(key.tenant_id, key.request_id, item.entry_id, item.memory_version) for item in head.expected_entries
    )
    if not held:
        return _Reading(expected, None, None, frozenset())
    reasons: set[Reason] = set()
    common: dict[str, JsonValue] = {
        "policy_sha256": head.policy_sha256,
        "population_sha256": key.source_population_sha256,
        "subject_sha256": key.subject_sha256,
    }
    scan = _bound(held, EvidenceKind.SCAN, ScanStatement.of, common | {"scanner_sha256": head.scanner_sha256}, reasons)
    consistency = _bound(
        held,
        EvidenceKind.CONSISTENCY,
        ConsistencyStatement.of,
        common | {"invariant_manifest_sha256": head.invariant_manifest_sha256},
        reasons,
    )
    if scan is not None:
        reasons |= _scan_reasons(scan, held[EvidenceKind.SCAN])
    if scan is not None and consistency is not None:
        reasons |= _apart(scan, consistency)
    entries: Sequence[ScannedEntry | CheckedEntry] = ()
    if scan is not None:
        entries = scan.entries
    elif consistency is not None:
        entries = consistency.entries
    pinned = not (scan or consistency) or ((expected or entries) and _is_pinned(head, expected, entries))
    if not pinned or recall_population_sha256(expected) != key.source_population_sha256:
        reasons.add(differs(EvidenceKind.OPENED, "expected_entries"))
    if reasons:
        return _Reading(expected, None, None, frozenset(reasons))
    if scan or consistency:
        reasons |= set(bounded(population_reasons(expected, [entry.key for entry in entries])))
    return _Reading(expected, scan, consistency, frozenset(reasons))


def _bound(
    held: Mapping[EvidenceKind, Receipt],
    kind: EvidenceKind,
    read: Callable[[JsonValue], StatementT],
    expected: Mapping[str, JsonValue],
    reasons: set[Reason],
) -> StatementT | None:
    """Return a worker's statement if it has one; a statement that is not bound adds its reasons."""
    receipt = held.get(kind)
    if receipt is None or (receipt.body_json is None and not has_passed(receipt)):
        return None  # nothing was stated, and the receipt says why
    body = body_of(receipt)
    if body is None:
        reasons.add(differs(kind, "receipt_sha256"))
        return None
    try:
        statement = read(body)
    except MalformedError:
        reasons.add(differs(kind, "body_json"))
        return None
    reasons |= {differs(kind, name) for name, value in expected.items() if value is None or body.get(name) != value}
    if has_passed(receipt) and not all(entry.clean for entry in statement.entries):
        reasons.add(differs(kind, "outcome"))
    return statement


def _scan_reasons(scan: ScanStatement, receipt: Receipt) -> set[Reason]:
    reasons = set()
    if receipt.finding_ids != tuple(entry.finding_id for entry in scan.entries):
        reasons.add(differs(EvidenceKind.SCAN, "finding_ids"))
    measured = any(entry.control_status is Outcome.PASS for entry in scan.entries)
    if measured and (scan.ledger is None or not scan.detector_name):
        reasons.add(differs(EvidenceKind.SCAN, "ledger" if scan.ledger is None else "detector_name"))
    return reasons


def _apart(scan: ScanStatement, consistency: ConsistencyStatement) -> set[Reason]:
    """Compare what the two workers say they looked at."""
    reasons = set()
    seen = [(entry.key, entry.content_sha256) for entry in consistency.entries]
    if [(entry.key, entry.content_sha256) for entry in scan.entries] != seen:
        reasons.add(differs(EvidenceKind.SCAN, "entries"))
    if scan.partial_admission is not consistency.partial_admission:
        reasons.add(differs(EvidenceKind.SCAN, "partial_admission"))
    return reasons


def _is_pinned(head: Opened, expected: Sequence[MemoryKey], entries: Sequence[ScannedEntry | CheckedEntry]) -> bool:
    """Say whether every expected entry has the content that intake saw for it."""
    given: dict[MemoryKey, str] = {}
    for entry in entries:
        given.setdefault(entry.key, entry.content_sha256)
    return all(given.get(key) == item.content_sha256 for key, item in zip(expected, head.expected_entries, strict=True))


def _rolled_up(reading: _Reading) -> RollUp | None:
    entries = () if reading.scan is None else reading.scan.entries
    try:
        return reconcile(reading.expected, (entry.observed for entry in entries))
    except MalformedError:
        return None


def _entries(
    head: Opened, reading: _Reading, roll_up: RollUp | None, reasons: Sequence[StatedReason]
) -> tuple[EntryVerdict, ...]:
    scan, consistency = reading.scan, reading.consistency
    if scan is None:
        pinned = [
            Assessed(item.entry_id, item.memory_version, item.content_sha256, None, clean=False)
            for item in head.expected_entries
            if item.content_sha256 is not None
        ]
        return admit(pinned, whole=False, partial_admission=False)
    places = [_OF_ONE_ENTRY.fullmatch(reason.path) for reason in reasons]
    marked = {int(place.group(1)) for place in places if place is not None}
    checked = [False] * len(scan.entries) if consistency is None else [entry.clean for entry in consistency.entries]
    assessed = [
        Assessed(
            entry.key.entry_id,
            entry.key.memory_version,
            entry.content_sha256,
            entry.finding_id,
            clean=entry.clean and checked[place] and place not in marked,
        )
        for place, entry in enumerate(scan.entries)
    ]
    return admit(
        assessed,
        whole=consistency is not None and roll_up is not None and roll_up.complete and None not in places,
        partial_admission=scan.partial_admission and consistency is not None and consistency.partial_admission,
    )
