"""The scan of a recall: one finding per entry (AID-D-001.005 G001), and what else the scanner finds in memories.

The contract: whoever runs a plan (``streams.application.recall_plan``) asks the ledger's view, the primary detector and
the scanner; ``conclude_scan`` turns the answers, or their failures, into exactly one finding per entry and the receipt
that names them. Nothing that failed or was not asked ends as clean: such an entry's finding is ERROR. It is pure, and
decides nothing about admission; what it states holds no content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from pratique.contract.canonical import canonical_json, canonical_sha256
from pratique.contract.digests import recall_population_sha256
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode
from pratique.contract.records import JoinKey, MemoryFinding, Receipt, StatedReason
from pratique.errors import TooLargeError
from streams.application.nominating import nominate_memories
from streams.application.ports.detection import Detection, ScanFailure
from streams.application.ports.quarantine import Looked
from streams.application.recall_admission import expected_keys
from streams.application.recall_consistency import RECALL
from streams.application.recall_plan import LEDGER, SCANNER, Failure, ScanPlan, path_of
from streams.application.scanning import MASKABLE
from streams.domain.recall.bounding import bounded
from streams.domain.recall.finding import EntryFinding, failure_code, measured, unmeasured
from streams.domain.recall.population import population_reasons
from streams.domain.recall.statements import LedgerState, ScannedEntry, ScanStatement
from streams.domain.scanning.finding import Finding
from streams.errors import DetectorError, DetectorTimeoutError, LanguageUnsupportedError, LedgerViewIncompleteError

SIGNALS: Final = "signals"
"""Who states what the text's own signals are; a reason by the score is the primary detector's."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Measurement:
    """What the primary detector and the scanner said of one entry, or why they did not."""

    score: float | Failure
    detection: Detection | Failure


@dataclass(frozen=True, slots=True)
class RecallScan:
    """What a scan came to: findings to be published first, then the receipt that names them."""

    findings: tuple[MemoryFinding, ...]
    receipt: Receipt


def conclude_scan(
    plan: ScanPlan,
    looked: Looked | Failure,
    measurements: Mapping[int, Measurement],
    *,
    join_key: JoinKey,
    observed_at_ms: int,
) -> RecallScan:
    """Make findings and receipt of what was measured.

    Args:
        plan: What was to be measured.
        looked: The ledger's answer for all fingerprints.
        measurements: By place; one that is not there was not made.
        join_key: The request's.
        observed_at_ms: Now, milliseconds since the epoch.
    """
    versions = dict(plan.versions)
    if isinstance(looked, Looked):
        versions["fingerprint_key_generation"] = looked.generation
    judged = [_judged(plan, place, looked, measurements.get(place)) for place in range(len(plan.entries))]
    entries = tuple(_scanned(finding, reasons) for finding, reasons in judged)
    statement = ScanStatement(
        policy_sha256=plan.policy_set.recall.policy_sha256,
        partial_admission=plan.policy_set.recall.partial_admission,
        population_sha256=recall_population_sha256(expected_keys(plan.request)),
        scanner_sha256=plan.versions["scanner_sha256"],
        detector_name=plan.detector_name,
        detector_revision=plan.policy_set.recall.detector_revision,
        ledger=LedgerState(looked.generation, looked.position, looked.staleness_ms)
        if isinstance(looked, Looked)
        else None,
        entries=entries,
    )
    reasons = [reason for _, stated in judged for reason in stated]
    if not entries:  # nothing was scanned, which is not clean
        reasons += population_reasons(expected_keys(plan.request), [])
    findings = tuple(MemoryFinding(join_key, finding.finding_id, finding.json(observed_at_ms)) for finding, _ in judged)
    receipt = _receipt(statement, bounded(reasons), versions)
    nomination = nominate_memories(plan, looked, {place: stated for place, (_, stated) in enumerate(judged)})
    return RecallScan(findings, receipt if nomination is None else replace(receipt, nomination=nomination))


class _NotMeasuredError(Exception):
    """An entry could not be measured."""

    def __init__(self, failure: Failure) -> None:
        super().__init__()
        self.failure = failure


def _judged(
    plan: ScanPlan, place: int, looked: Looked | Failure, measurement: Measurement | None
) -> tuple[EntryFinding, tuple[Reason, ...]]:
    """Return an entry's finding, and everything that was found in it or could not be done."""
    path = path_of(place)
    try:
        finding, detection = _found(plan, place, looked, measurement)
    except _NotMeasuredError as missed:
        error, detector = missed.failure.error, missed.failure.detector
        reason = Reason.of(failure_code(error), path, detector)
        return unmeasured(plan.entries[place].entry, plan.policy_set.recall, error), (reason,)
    by_recall = (Reason.of(code, path, _detector(code, plan.detector_name)) for code in finding.codes)
    mendable = _is_mendable(finding, detection)
    by_scanner = (
        Reason.of(ReasonCode(item.category.value), _place(item, mendable=mendable), f"{item.detector}:{item.type}")
        for item in detection.findings
    )
    return finding, bounded([*by_recall, *by_scanner])


def _is_mendable(finding: EntryFinding, detection: Detection) -> bool:
    """Say whether masks are all that an entry needs.

    Decided here, where everything is known: a verdict states so many reasons and no more, and what it leaves out would
    be the client's word that there is nothing else.
    """
    told = detection.finding_count == len(detection.findings)
    return told and not finding.codes and all(item.category in MASKABLE for item in detection.findings)


def _place(finding: Finding, *, mendable: bool) -> str:
    """Return where a finding is: its stretch of the content, where a client may mask it."""
    return f"{finding.path}[{finding.start}:{finding.end}]" if mendable else finding.path


def _found(
    plan: ScanPlan, place: int, looked: Looked | Failure, measurement: Measurement | None
) -> tuple[EntryFinding, Detection]:
    marks, view = _had(plan.entries[place].fingerprints), _had(looked)
    mark = marks.get(view.generation)
    if mark is None:
        raise _NotMeasuredError(
            Failure(LedgerViewIncompleteError("ledger's view is of another key generation"), LEDGER)
        )
    # A finding names the current generation; a text that is quarantined under another one is known as well.
    known = view.known | {mark} if view.known.intersection(marks.values()) else view.known
    if measurement is None:
        raise _NotMeasuredError(Failure(DetectorError("entry was not measured"), RECALL))
    score, detection = _had(measurement.score), _had(measurement.detection)
    _check_detection(detection, path_of(place))
    entry, policy = plan.entries[place].entry, plan.policy_set.recall
    try:
        return measured(entry, policy, score=score, fingerprint=mark, known=known), detection
    except DetectorError as error:
        raise _NotMeasuredError(Failure(error, plan.detector_name)) from None
    except LedgerViewIncompleteError as error:
        raise _NotMeasuredError(Failure(error, LEDGER)) from None


def _had(result: ResultT | Failure) -> ResultT:
    if isinstance(result, Failure):
        raise _NotMeasuredError(result)
    return result


def _check_detection(detection: Detection, path: str) -> None:
    if detection.failure is not None:
        raise _NotMeasuredError(Failure(_error_of(detection.failure), detection.failure.detector))
    counted, found = detection.finding_count, detection.findings
    if bool(counted) != bool(found) or any(item.path != path for item in found):
        raise _NotMeasuredError(Failure(DetectorError("scanner's findings are not of this entry"), SCANNER))


def _error_of(failure: ScanFailure) -> Exception:
    if failure.code is ReasonCode.DETECTOR_TIMEOUT:
        return DetectorTimeoutError("scanner did not finish in the policy's time")
    if failure.code is ReasonCode.LANGUAGE_UNSUPPORTED:
        return LanguageUnsupportedError("policy names a language that the scanner does not cover")
    if failure.code is ReasonCode.TOO_LARGE:
        return TooLargeError("memory is larger than the scanner takes")
    return DetectorError("scanner failed")


def _detector(code: ReasonCode, primary: str) -> str:
    if code is ReasonCode.KNOWN_FINGERPRINT:
        return LEDGER
    return primary if code is ReasonCode.INJECTION else SIGNALS


def _scanned(finding: EntryFinding, reasons: tuple[Reason, ...]) -> ScannedEntry:
    return ScannedEntry(
        finding.key,
        finding.content_sha256,
        tuple(sorted({reason.code.value for reason in reasons})),
        finding.finding_id,
        finding.control_status,
        finding.finding_status,
        finding.recommendation,
    )


def _receipt(statement: ScanStatement, reasons: tuple[Reason, ...], versions: Mapping[str, str]) -> Receipt:
    body = statement.body()
    return Receipt(
        outcome=(reasons[0].meaning.outcome if reasons else Outcome.PASS).value,
        finding_status=(reasons[0].meaning.finding_status if reasons else FindingStatus.NO_FINDING).value,
        reasons=tuple(map(StatedReason.of, reasons)),
        body_json=canonical_json(body),
        receipt_sha256=canonical_sha256(body),
        compacted_output_sha256=None,
        scan_population_sha256=statement.population_sha256,
        scan_field_count=len(statement.entries),
        versions=versions,
        finding_ids=tuple(entry.finding_id for entry in statement.entries),
    )
