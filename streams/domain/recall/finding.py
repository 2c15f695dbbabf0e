"""The finding about one recalled memory: ``aidefend.recalled_memory_finding.v1``, to the letter.

The contract (AID-D-001.005 G001): ``check_entry`` refuses what can't be measured; ``measured`` turns a score,
the text's signals and the quarantined fingerprints into a finding; ``unmeasured`` is the finding about an entry for
which any of that failed, so that no entry is ever without one. The keys are the seed's: eighteen for PASS, twelve for
ERROR, which has no fingerprint, score or moment.

It recommends and decides nothing; what may enter a prompt is admission's (``streams.domain.recall.admission``). The
detector's score is the caller's to obtain, from the detector that policy pins and from no request.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

from pratique.contract import digests
from pratique.contract.canonical import JsonValue, text_sha256
from pratique.contract.document import HEX64
from pratique.contract.reasons import FindingStatus, Outcome, ReasonCode
from pratique.contract.records import MemoryEntry
from pratique.errors import MalformedError, TooLargeError
from streams.domain.policy.model import RecallPolicy
from streams.domain.recall.fingerprint import FINGERPRINT_CONTRACT
from streams.domain.recall.population import MemoryKey, Observed
from streams.domain.recall.signals import Signal, text_signals
from streams.errors import DetectorError, LedgerViewIncompleteError

FINDING_SCHEMA: Final = "aidefend.recalled_memory_finding.v1"
CONTROL_ID: Final = "AID-D-001.005"

SIGNAL_RISK: Final = 30
"""What each signal of the text adds to the risk."""
HIGHEST_RISK: Final = 100
"""The risk of a known fingerprint, and of all that would exceed it."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Recommendation(Enum):
    """What the detector recommends to those who decide, the mildest first."""

    NONE = "NONE"
    REVIEW = "REVIEW"
    ESCALATE = "ESCALATE"
    QUARANTINE = "QUARANTINE"


_CODE_OF_SIGNAL: Final = {
    Signal.KNOWN_FINGERPRINT: ReasonCode.KNOWN_FINGERPRINT,
    Signal.ROLE_ASSERTION: ReasonCode.ROLE_ASSERTION,
    Signal.ACTION_TRIGGER: ReasonCode.ACTION_TRIGGER,
}


@dataclass(frozen=True, slots=True)
class EntryFinding:
    """A finding.

    Attributes:
        key: The memory it is about, as the entry itself names it.
        content_sha256: Digest of the content.
        control_status: PASS, or ERROR where something could not be measured.
        finding_status: FINDING, NO_FINDING, or UNKNOWN for ERROR.
        recommendation: What is recommended; null for ERROR.
        codes: What was found, as reason codes; INJECTION where the detector's score alone reaches review.
        stated: The seed's keys, all but ``observed_at``.
    """

    key: MemoryKey
    content_sha256: str
    control_status: Outcome
    finding_status: FindingStatus
    recommendation: Recommendation | None
    codes: frozenset[ReasonCode]
    stated: Mapping[str, JsonValue]

    @property
    def finding_id(self) -> str:
        """The finding's identity, which does not depend on when it was observed."""
        return digests.finding_id(self.stated)

    @property
    def observed(self) -> Observed:
        """The finding as reconciliation sees it."""
        return Observed(self.key, self.control_status, self.finding_status)

    def json(self, observed_at_ms: int) -> str:
        """Return the finding as it is published.

        Args:
            observed_at_ms: When it was made, milliseconds since the epoch.
        """
        if self.control_status is Outcome.ERROR:
            return digests.finding_json(self.stated)
        observed_at = (_EPOCH + timedelta(milliseconds=observed_at_ms)).isoformat()
        return digests.finding_json({**self.stated, "observed_at": observed_at})


def key_of(entry: MemoryEntry) -> MemoryKey:
    """Return what an entry says it is."""
    return MemoryKey(entry.tenant_id, entry.recall_request_id, entry.entry_id, entry.memory_version)


def check_entry(entry: MemoryEntry, policy: RecallPolicy) -> None:
    """Refuse an entry that can't be measured.

    Raises:
        MalformedError: Its identity lacks a part, or it has no content.
        TooLargeError: Its content has more characters than policy allows the detector.
    """
    if not all(key_of(entry)):
        raise MalformedError("memory's identity lacks a part", code="MESSAGE_INVALID")
    if not entry.content:
        raise MalformedError("memory has no content", code="MESSAGE_INVALID")
    if len(entry.content) > policy.maximum_content_characters:
        raise TooLargeError(f"memory has over {policy.maximum_content_characters} characters, which policy allows")


def measured(
    entry: MemoryEntry, policy: RecallPolicy, *, score: float, fingerprint: str, known: frozenset[str]
) -> EntryFinding:
    """Return the finding about an entry that was measured.

    Args:
        entry: An entry that passes ``check_entry``.
        policy: The pinned recall policy.
        score: The pinned detector's, from 0 to 1.
        fingerprint: The content's, under the current key generation.
        known: Quarantined fingerprints, the tenant's and the global ones, of the same generation.

    Raises:
        DetectorError: The score is no number from 0 to 1.
        LedgerViewIncompleteError: What is said to be quarantined is no set of fingerprints.
        MalformedError: As ``check_entry``.
        TooLargeError: As ``check_entry``.
    """
    check_entry(entry, policy)
    if not all(HEX64.fullmatch(item) for item in known):
        raise LedgerViewIncompleteError("ledger's view holds a fingerprint that is none")
    if not math.isfinite(score) or not 0.0 <= score <= 1.0:
        raise DetectorError("detector's score is no number from 0 to 1")
    signals = text_signals(entry.content)
    measured_risk = risk = round(score * 100)
    if fingerprint in known:
        signals |= {Signal.KNOWN_FINGERPRINT}
        risk = HIGHEST_RISK
    risk += SIGNAL_RISK * len(signals - {Signal.KNOWN_FINGERPRINT})
    risk = min(risk, HIGHEST_RISK)
    is_finding = bool(signals) or risk >= policy.review_score
    recommendation = _recommendation(risk, policy)
    status = FindingStatus.FINDING if is_finding else FindingStatus.NO_FINDING
    codes = {_CODE_OF_SIGNAL[signal] for signal in signals}
    if measured_risk >= policy.review_score:
        codes.add(ReasonCode.INJECTION)
    stated = _common(entry, policy, Outcome.PASS, status) | {
        "fingerprint_hmac_sha256": fingerprint,
        "fingerprint_contract": FINGERPRINT_CONTRACT,
        "detector_score": round(score, 6),
        "risk_score": risk,
        "matched_signals": sorted(signal.value for signal in signals),
        "recommended_disposition": recommendation.value,
    }
    return EntryFinding(
        key_of(entry),
        text_sha256(entry.content),
        Outcome.PASS,
        status,
        recommendation,
        frozenset(codes),
        stated,
    )


def unmeasured(entry: MemoryEntry, policy: RecallPolicy, error: Exception) -> EntryFinding:
    """Return the finding about an entry for which something failed: ERROR, which is never clean."""
    stated = _common(entry, policy, Outcome.ERROR, FindingStatus.UNKNOWN) | {"error_class": type(error).__name__}
    return EntryFinding(
        key_of(entry),
        text_sha256(entry.content),
        Outcome.ERROR,
        FindingStatus.UNKNOWN,
        None,
        frozenset({failure_code(error)}),
        stated,
    )


def failure_code(error: Exception) -> ReasonCode:
    """Return the reason code of what failed; DETECTOR_ERROR for what has none of its own."""
    try:
        return ReasonCode(getattr(error, "code", None))
    except ValueError:
        return ReasonCode.DETECTOR_ERROR


def _common(
    entry: MemoryEntry, policy: RecallPolicy, control_status: Outcome, finding_status: FindingStatus
) -> dict[str, JsonValue]:
    return {
        "schema_version": FINDING_SCHEMA,
        "control_id": CONTROL_ID,
        "control_status": control_status.value,
        "finding_status": finding_status.value,
        "entry_id": entry.entry_id,
        "tenant_id": entry.tenant_id,
        "memory_version": entry.memory_version,
        "recall_request_id": entry.recall_request_id,
        "content_sha256": text_sha256(entry.content),
        "policy_version": policy.policy_version,
        "detector_revision": policy.detector_revision,
    }


def _recommendation(risk: int, policy: RecallPolicy) -> Recommendation:
    if risk >= policy.quarantine_score:
        return Recommendation.QUARANTINE
    if risk >= policy.escalate_score:
        return Recommendation.ESCALATE
    return Recommendation.REVIEW if risk >= policy.review_score else Recommendation.NONE
