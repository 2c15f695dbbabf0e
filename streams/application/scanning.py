"""The scan of a compaction candidate (AID-I-004.008 G003).

The contract: ``scan_compaction`` takes a candidate, or its refusal, and ends in a ``ScanResult`` whatever happens to
the scanner. PASS stands only where a receipt bound to this request, policy, scanner and population says CLEAN and
counts no finding; an empty, partial or failed scan is never PASS.

``begin_scan`` and ``conclude_scan`` are the two pure halves around the scanner; nothing here reads a clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from pratique.contract.canonical import JsonValue
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.contract.reasons import FindingStatus, Outcome, Reason, ReasonCode, sorted_reasons
from pratique.errors import MalformedError, TooLargeError
from streams.application.ports.detection import ScanPool, ScanResponse
from streams.domain.compaction.candidate import Candidate, CandidateRefused
from streams.domain.policy.model import ScanPolicy
from streams.domain.policy.scan_rules import configured_sha256
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import (
    FIELD_ROOTS,
    NARRATIVE_FIELD_ROOTS,
    SUMMARY_ROOT,
    ScanPopulation,
    scan_population,
)
from streams.domain.scanning.request import (
    Decision,
    ScanReceipt,
    ScanRequest,
    check_binding,
    check_policy,
    check_scanner,
    scan_request,
)
from streams.errors import DetectorError, PolicyError

MAX_REASONS: Final = 64
"""Most reasons in a result; evidence is small (architecture, decision 12). The receipt has the exact count."""

SCANNER: Final = "scan"
"""Who names the reasons that are of no single detector."""

MASKABLE: Final = frozenset({Category.SECRET, Category.PII})
"""What a client may mask and ask again about: values, and nothing that is meant to steer."""

_ROOT: Final = "candidate"


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What the scan of one candidate establishes.

    Attributes:
        outcome: The seeds' outcome, of the primary reason.
        finding_status: The seeds' finding status, of the primary reason.
        reasons: Sorted; none where the scan is clean.
        receipt_body: The receipt's complete body; none where no scanner was asked.
        receipt_sha256: Canonical digest of that body.
        scanned_population_sha256: Digest of what was, or would have been, scanned; none where nothing parsed.
        scanned_field_count: Number of fields of that population.
        compacted_output_sha256: Canonical digest of the parsed candidate.
        versions: The scanner, for the verdict's ``versions``.
    """

    outcome: Outcome
    finding_status: FindingStatus
    reasons: tuple[Reason, ...]
    receipt_body: Mapping[str, JsonValue] | None = None
    receipt_sha256: str | None = None
    scanned_population_sha256: str | None = None
    scanned_field_count: int = 0
    compacted_output_sha256: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PendingScan:
    """A scan that awaits its scanner."""

    request: ScanRequest
    population: ScanPopulation
    compacted_output_sha256: str
    versions: Mapping[str, str]


async def scan_compaction(
    candidate: Candidate | CandidateRefused,
    policy: ScanPolicy,
    pool: ScanPool,
    *,
    policy_sha256: str,
    at_ms: int | None = None,
) -> ScanResult:
    """Scan a candidate.

    Args:
        candidate: What parsed, or why it did not.
        policy: The pinned set's scan policy.
        pool: The scanner.
        policy_sha256: Digest of the pinned set's compaction policy.
        at_ms: The moment that the expiries of the policy's rules are compared with; none allows nothing.

    Returns:
        The result; a scanner that fails is a result too (DETECTOR_ERROR, DETECTOR_TIMEOUT).
    """
    begun = begin_scan(candidate, policy, pool.scanner, policy_sha256=policy_sha256, at_ms=at_ms)
    if isinstance(begun, ScanResult):
        return begun
    return conclude_scan(begun, await pool.scan(begun.request))


def begin_scan(
    candidate: Candidate | CandidateRefused,
    policy: ScanPolicy,
    scanner: ScannerManifest,
    *,
    policy_sha256: str,
    at_ms: int | None = None,
) -> PendingScan | ScanResult:
    """Check policy, population and bound in the seed's order, and make the request.

    Returns:
        The scan to submit, or the result where there is nothing to submit.
    """
    versions = {
        "scanner": scanner.scanner_version,
        "scanner_sha256": configured_sha256(scanner.scanner_sha256, policy.rules),
    }
    if isinstance(candidate, CandidateRefused):
        return _unscanned(Reason.of(ReasonCode.NOT_RUN, _ROOT, SCANNER), None, None, versions)
    # (1) The policy: of this compaction policy, complete, all roots, and for this very scanner.
    output_sha256 = candidate.compacted_output_sha256
    try:
        roots = FIELD_ROOTS if candidate.context.narrative_text is None else NARRATIVE_FIELD_ROOTS
        check_policy(policy, policy_sha256=policy_sha256, field_roots=roots)
    except PolicyError:
        return _unscanned(Reason.of(ReasonCode.POLICY_INVALID, "", SCANNER), None, output_sha256, versions)
    # (2) The population: every field of the roots, none empty.
    try:
        population = scan_population(candidate.context)
    except MalformedError:
        return _unscanned(Reason.of(ReasonCode.SCHEMA_INVALID, _ROOT, SCANNER), None, output_sha256, versions)
    try:
        check_scanner(policy, scanner)
    except DetectorError:
        return _unscanned(Reason.of(ReasonCode.DETECTOR_ERROR, "", SCANNER), population, output_sha256, versions)
    # (3) The bound, over the population's canonical bytes; (4) the request.
    try:
        request = scan_request(policy, population, at_ms=at_ms)
    except TooLargeError:
        return _unscanned(Reason.of(ReasonCode.TOO_LARGE, _ROOT, SCANNER), population, output_sha256, versions)
    return PendingScan(request, population, output_sha256, versions)


def conclude_scan(pending: PendingScan, response: ScanResponse) -> ScanResult:
    """Turn a scanner's answer into the result, believing only a receipt that is bound to this request."""
    receipt, detection = response.receipt, response.detection
    reasons: tuple[Reason, ...]
    if not _bound(receipt, pending.request):
        reasons = (Reason.of(ReasonCode.RECEIPT_BINDING_DIFFERS, "", SCANNER),)
    elif detection.failure is not None:
        reasons = (Reason.of(detection.failure.code, "", detection.failure.detector),)
    elif receipt.decision is Decision.ERROR:
        reasons = (Reason.of(ReasonCode.DETECTOR_ERROR, "", SCANNER),)
    elif not _consistent(response, pending.population):
        reasons = (Reason.of(ReasonCode.RECEIPT_BINDING_DIFFERS, "", SCANNER),)
    else:
        reasons = finding_reasons(detection.findings)
    outcome, status = _outcome(reasons)
    return ScanResult(
        outcome,
        status,
        reasons,
        receipt.body(),
        receipt.receipt_sha256,
        pending.population.sha256,
        pending.population.field_count,
        pending.compacted_output_sha256,
        pending.versions,
    )


def finding_reasons(findings: Iterable[Finding], *, root: str = _ROOT) -> tuple[Reason, ...]:
    """Return findings as reasons: distinct by category, place, detector and type, sorted, at most ``MAX_REASONS``.

    The place is the field, and in summary and narrative the stretch of it (``candidate.summary_text[3:9]``) where it
    can be masked. Every category that was found keeps at least one reason.
    """
    reasons = sorted_reasons(
        {
            Reason.of(ReasonCode(item.category.value), f"{root}.{_place(item)}", f"{item.detector}:{item.type}")
            for item in findings
        }
    )
    if len(reasons) <= MAX_REASONS:
        return reasons
    first_of_code = {reason.code: reason for reason in reversed(reasons)}
    room = MAX_REASONS - len(first_of_code)
    others = [reason for reason in reasons if first_of_code[reason.code] != reason]
    return sorted_reasons([*first_of_code.values(), *others[:room]])


def _place(finding: Finding) -> str:
    if finding.category in MASKABLE and finding.path in (SUMMARY_ROOT, NARRATIVE_FIELD):
        return f"{finding.path}[{finding.start}:{finding.end}]"
    return finding.path


def _bound(receipt: ScanReceipt, request: ScanRequest) -> bool:
    try:
        check_binding(receipt, request)
    except MalformedError:
        return False
    return True


def _consistent(response: ScanResponse, population: ScanPopulation) -> bool:
    """Say whether decision, count, findings and fields tell one story; a receipt that does not is no evidence."""
    count, found = response.receipt.finding_count, len(response.detection.findings)
    paths = {field.path for field in population.fields}
    if not all(finding.path in paths for finding in response.detection.findings):
        return False
    if response.receipt.decision is Decision.CLEAN:
        return count == 0 and found == 0
    return 0 < found <= count


def _outcome(reasons: tuple[Reason, ...]) -> tuple[Outcome, FindingStatus]:
    if not reasons:
        return Outcome.PASS, FindingStatus.NO_FINDING
    return reasons[0].meaning.outcome, reasons[0].meaning.finding_status


def _unscanned(
    reason: Reason, population: ScanPopulation | None, output_sha256: str | None, versions: Mapping[str, str]
) -> ScanResult:
    return ScanResult(
        reason.meaning.outcome,
        reason.meaning.finding_status,
        (reason,),
        scanned_population_sha256=population.sha256 if population else None,
        scanned_field_count=population.field_count if population else 0,
        compacted_output_sha256=output_sha256,
        versions=versions,
    )
