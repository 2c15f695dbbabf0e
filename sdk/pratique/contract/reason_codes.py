"""The words that reasons are made of: codes, outcomes, severities, and what a row of the reason table says.

The contract: the enumeration of codes only ever grows. ``pratique.contract.reasons`` is where to import all of it from.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Outcome(Enum):
    """The seeds' control outcome."""

    PASS = "PASS"  # noqa: S105 - an outcome, no password
    FAIL = "FAIL"
    INSUFFICIENT_DATA = "INSUFFICIENT_DATA"
    ERROR = "ERROR"


class FindingStatus(Enum):
    """The seeds' finding status."""

    NO_FINDING = "NO_FINDING"
    FINDING = "FINDING"
    UNKNOWN = "UNKNOWN"


class Severity(Enum):
    """How much a reason matters to whoever triages it; it never changes an outcome."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"


class ReasonCode(Enum):
    """Every reason code, in no order that means anything: ``REASONS`` holds order and meaning."""

    SCHEMA_INVALID = "SCHEMA_INVALID"
    DUPLICATE_KEY = "DUPLICATE_KEY"
    NON_FINITE = "NON_FINITE"
    MESSAGE_INVALID = "MESSAGE_INVALID"
    DUPLICATE_MESSAGE_ID = "DUPLICATE_MESSAGE_ID"
    SUMMARY_TOO_SHORT = "SUMMARY_TOO_SHORT"
    SOURCE_POPULATION_DIFFERS = "SOURCE_POPULATION_DIFFERS"
    CONSTRAINT_POPULATION_DIFFERS = "CONSTRAINT_POPULATION_DIFFERS"
    COMMITMENTS_MISSING = "COMMITMENTS_MISSING"
    COMMITMENTS_STALE = "COMMITMENTS_STALE"
    CLAIM_MISSING = "CLAIM_MISSING"
    CLAIM_EXTRA = "CLAIM_EXTRA"
    CLAIM_DUPLICATED = "CLAIM_DUPLICATED"
    CLAIM_DIGEST_DIFFERS = "CLAIM_DIGEST_DIFFERS"
    CLAIM_CONFLICT = "CLAIM_CONFLICT"
    CLAIM_UNSUPPORTED = "CLAIM_UNSUPPORTED"
    PREDICATE_CONFLICT = "PREDICATE_CONFLICT"
    CLAUSE_UNPARSED = "CLAUSE_UNPARSED"
    CLAUSE_DUPLICATED = "CLAUSE_DUPLICATED"
    ASSURANCE_PROBABILISTIC = "ASSURANCE_PROBABILISTIC"
    VERIFIER_EVIDENCE_DIFFERS = "VERIFIER_EVIDENCE_DIFFERS"
    RECEIPT_BINDING_DIFFERS = "RECEIPT_BINDING_DIFFERS"
    AUTHORITY_UNTRACED = "AUTHORITY_UNTRACED"
    INSTRUCTION_LAUNDERED = "INSTRUCTION_LAUNDERED"
    INJECTION = "INJECTION"
    ROLE_ASSERTION = "ROLE_ASSERTION"
    ACTION_TRIGGER = "ACTION_TRIGGER"
    HIDDEN_TEXT = "HIDDEN_TEXT"
    SECRET = "SECRET"  # noqa: S105 - a reason code, no password
    PII = "PII"
    KNOWN_FINGERPRINT = "KNOWN_FINGERPRINT"
    LANGUAGE_UNSUPPORTED = "LANGUAGE_UNSUPPORTED"
    TOO_LARGE = "TOO_LARGE"
    POPULATION_MISSING = "POPULATION_MISSING"
    POPULATION_EXTRA = "POPULATION_EXTRA"
    POPULATION_DUPLICATED = "POPULATION_DUPLICATED"
    DETECTOR_ERROR = "DETECTOR_ERROR"
    DETECTOR_TIMEOUT = "DETECTOR_TIMEOUT"
    POLICY_INVALID = "POLICY_INVALID"
    POLICY_UNAVAILABLE = "POLICY_UNAVAILABLE"
    POLICY_EXPIRED = "POLICY_EXPIRED"
    SIGNATURE_INVALID = "SIGNATURE_INVALID"
    SIGNER_NOT_AUTHORISED = "SIGNER_NOT_AUTHORISED"
    REQUEST_EXPIRED = "REQUEST_EXPIRED"
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    EVIDENCE_TIMEOUT = "EVIDENCE_TIMEOUT"
    LEDGER_VIEW_INCOMPLETE = "LEDGER_VIEW_INCOMPLETE"
    NOT_RUN = "NOT_RUN"
    UNSCANNABLE = "UNSCANNABLE"
    LEDGER_COMMAND_MALFORMED = "LEDGER_COMMAND_MALFORMED"
    LEDGER_SCOPE_INVALID = "LEDGER_SCOPE_INVALID"
    LEDGER_PARTITION_DIFFERS = "LEDGER_PARTITION_DIFFERS"
    LEDGER_GENERATION_DIFFERS = "LEDGER_GENERATION_DIFFERS"
    LEDGER_EVENT_REUSED = "LEDGER_EVENT_REUSED"
    LEDGER_COMMAND_REPLAYED = "LEDGER_COMMAND_REPLAYED"
    LEDGER_REVISION_STALE = "LEDGER_REVISION_STALE"
    LEDGER_REPLACED_UNKNOWN = "LEDGER_REPLACED_UNKNOWN"
    LEDGER_GENERATION_PARTIAL = "LEDGER_GENERATION_PARTIAL"
    LEDGER_RULE_DENIES = "LEDGER_RULE_DENIES"
    LEDGER_REVIEW_PENDING = "LEDGER_REVIEW_PENDING"
    LEDGER_REVIEW_EXPIRED = "LEDGER_REVIEW_EXPIRED"
    LINEAGE_UNKNOWN = "LINEAGE_UNKNOWN"
    LINEAGE_QUARANTINED = "LINEAGE_QUARANTINED"


@dataclass(frozen=True, slots=True)
class ReasonMeaning:
    """One row of the reason table.

    Attributes:
        rank: Position in the seed's order of checks; lower is decided earlier.
        outcome: The seeds' outcome this code stands for.
        finding_status: The seeds' finding status this code stands for.
        severity: Severity where the detector gives none.
        meaning: What was found.
        remedy: What the reader can do about it.
    """

    rank: int
    outcome: Outcome
    finding_status: FindingStatus
    severity: Severity
    meaning: str
    remedy: str
