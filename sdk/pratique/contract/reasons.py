"""Reason codes: why a request was quarantined, in words that someone can act on.

The contract: an append-only enumeration. Each code maps to the seeds' (outcome, finding status) and says what to do.
``Reason`` values sort in the seed's order of checks, so the first of a sorted list is the primary one. Nothing in a
reason is content: ``path`` names a field of our own schema, never a key or value that a stranger chose.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import total_ordering
from typing import Final


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


_FAIL: Final = (Outcome.FAIL, FindingStatus.FINDING)
_LACKS: Final = (Outcome.INSUFFICIENT_DATA, FindingStatus.UNKNOWN)
_ERROR: Final = (Outcome.ERROR, FindingStatus.UNKNOWN)

# In the seed's order: who asks, what is asked about, which policy, the candidate's form, its sources, its constraints,
# its claims, its text, its evidence, its scan; then what the gate itself could not do.
_TABLE: Final[tuple[tuple[ReasonCode, tuple[Outcome, FindingStatus], Severity, str, str], ...]] = (
    (
        ReasonCode.SIGNATURE_INVALID,
        _ERROR,
        Severity.HIGH,
        "The signature does not verify over the bytes as published.",
        "Sign the exact value bytes for the topic they are sent to; check that nothing re-encodes them on the way.",
    ),
    (
        ReasonCode.SIGNER_NOT_AUTHORISED,
        _ERROR,
        Severity.HIGH,
        "The key is unknown, expired, or not authorised for this tenant and role.",
        "Use a key that the trust target scopes to the tenant and role, or have the security engineer publish one.",
    ),
    (
        ReasonCode.REQUEST_EXPIRED,
        _ERROR,
        Severity.LOW,
        "The request was made too long ago, or in the future.",
        "Send a new request under a new request id; check the publisher's clock.",
    ),
    (
        ReasonCode.QUOTA_EXCEEDED,
        _ERROR,
        Severity.LOW,
        "The tenant has more requests under way than its quota allows.",
        "Slow down and retry under a new request id, or have the operator raise the quota.",
    ),
    (
        ReasonCode.MESSAGE_INVALID,
        _ERROR,
        Severity.MEDIUM,
        "A source message or an identity is empty or malformed.",
        "Give every message an id and non-empty content; a tool call without text is its canonical JSON.",
    ),
    (
        ReasonCode.DUPLICATE_MESSAGE_ID,
        _ERROR,
        Severity.MEDIUM,
        "Two source messages share an id.",
        "Give each source message an id of its own.",
    ),
    (
        ReasonCode.POLICY_INVALID,
        _ERROR,
        Severity.HIGH,
        "A document of the policy set verifies but says something it may not.",
        "Run `pratique policy verify` on the repository and publish a corrected set.",
    ),
    (
        ReasonCode.POLICY_UNAVAILABLE,
        _ERROR,
        Severity.HIGH,
        "A document of the policy set could not be obtained as its metadata describes it.",
        "Run `pratique policy verify`; restore the target whose bytes differ from its metadata or are missing.",
    ),
    (
        ReasonCode.POLICY_EXPIRED,
        _ERROR,
        Severity.HIGH,
        "The policy repository's metadata has expired.",
        "Have the holder of the timestamp key publish fresh metadata (`pratique policy publish`).",
    ),
    (
        ReasonCode.COMMITMENTS_MISSING,
        _LACKS,
        Severity.HIGH,
        "The request brings no commitments and the policy names no standing ones.",
        "Attach the task's signed commitment envelope (`pratique policy sign-commitments`).",
    ),
    (
        ReasonCode.COMMITMENTS_STALE,
        _ERROR,
        Severity.HIGH,
        "The commitments are for another policy, tenant or task, or are not valid now.",
        "Sign the commitments again for this task under the current policy.",
    ),
    (
        ReasonCode.DUPLICATE_KEY,
        _FAIL,
        Severity.MEDIUM,
        "The candidate repeats a JSON key.",
        "Have the summarizer emit each key once; structured output helps.",
    ),
    (
        ReasonCode.NON_FINITE,
        _FAIL,
        Severity.MEDIUM,
        "The candidate holds NaN or an infinite number.",
        "Have the summarizer emit the candidate schema; it has no numbers.",
    ),
    (
        ReasonCode.SCHEMA_INVALID,
        _FAIL,
        Severity.MEDIUM,
        "The candidate is not the closed candidate schema.",
        "Have the summarizer emit exactly the fields of the candidate schema, nothing else.",
    ),
    (
        ReasonCode.SUMMARY_TOO_SHORT,
        _FAIL,
        Severity.MEDIUM,
        "The summary is shorter than the policy's `summary_min_length`.",
        "Summarise more fully, or have the security engineer lower the bound.",
    ),
    (
        ReasonCode.SOURCE_POPULATION_DIFFERS,
        _FAIL,
        Severity.HIGH,
        "The digests the candidate names are not those of the source messages, in order.",
        "Compute `source_message_sha256s` from the messages that were summarised; drop, add or reorder none.",
    ),
    (
        ReasonCode.CONSTRAINT_POPULATION_DIFFERS,
        _FAIL,
        Severity.HIGH,
        "The retained constraint ids are not those the policy and the task expect, in order.",
        "List every invariant and commitment id, in manifest and snapshot order.",
    ),
    (
        ReasonCode.CLAIM_DUPLICATED,
        _FAIL,
        Severity.MEDIUM,
        "A constraint is claimed twice.",
        "Emit one claim per constraint.",
    ),
    (
        ReasonCode.CLAIM_EXTRA,
        _FAIL,
        Severity.HIGH,
        "A claim names a constraint that the policy does not have.",
        "Claim only what the manifest and the commitments hold.",
    ),
    (
        ReasonCode.CLAIM_MISSING,
        _LACKS,
        Severity.HIGH,
        "A constraint has no claim.",
        "Emit one claim for every invariant and commitment.",
    ),
    (
        ReasonCode.CLAIM_DIGEST_DIFFERS,
        _FAIL,
        Severity.HIGH,
        "A claim's record digest, predicate digest or predicate text is not the policy's.",
        "Copy digests and predicate from the pinned policy; check which policy version the summarizer saw.",
    ),
    (
        ReasonCode.CLAIM_CONFLICT,
        _FAIL,
        Severity.HIGH,
        "The summarizer itself reports a conflict with a constraint.",
        "Keep the history; look at what the summary says about that constraint.",
    ),
    (
        ReasonCode.CLAIM_UNSUPPORTED,
        _LACKS,
        Severity.MEDIUM,
        "The summarizer reports that it could not support a constraint.",
        "Summarise again with the constraint's preservation clause.",
    ),
    (
        ReasonCode.PREDICATE_CONFLICT,
        _FAIL,
        Severity.HIGH,
        "The summary says something that conflicts with a constraint.",
        "Treat the sources as suspect: a constraint was negated or narrowed. Keep the history.",
    ),
    (
        ReasonCode.ASSURANCE_PROBABILISTIC,
        _LACKS,
        Severity.MEDIUM,
        "Only probabilistic evidence was found; that never passes.",
        "Use clauses of the signed grammar.",
    ),
    (
        ReasonCode.CLAUSE_DUPLICATED,
        _LACKS,
        Severity.LOW,
        "A clause stands twice in the summary.",
        "Say each clause once.",
    ),
    (
        ReasonCode.CLAUSE_UNPARSED,
        _LACKS,
        Severity.MEDIUM,
        "Part of the summary is not a clause of the signed grammar, or a constraint's preservation clause is missing.",
        "Write the summary in the grammar's clauses and include each constraint's preservation clause.",
    ),
    (
        ReasonCode.AUTHORITY_UNTRACED,
        _FAIL,
        Severity.HIGH,
        "The summary claims a person's wish that no trusted user message holds.",
        "Quote the user's message verbatim, or leave the claim out.",
    ),
    (
        ReasonCode.INSTRUCTION_LAUNDERED,
        _FAIL,
        Severity.HIGH,
        "An instruction from an untrusted source stands in the summary as if it were the agent's own.",
        "Treat the sources as suspect; keep the history and look for the planted text.",
    ),
    (
        ReasonCode.VERIFIER_EVIDENCE_DIFFERS,
        _ERROR,
        Severity.HIGH,
        "The verifier's evidence does not cover what was to be verified, or its artifact is not the pinned one.",
        "Check that every worker runs the release and grammar that the policy pins.",
    ),
    (
        ReasonCode.RECEIPT_BINDING_DIFFERS,
        _ERROR,
        Severity.HIGH,
        "A receipt speaks of another candidate, policy, population or scanner.",
        "Check that every worker runs the pinned release; look for a compromised worker.",
    ),
    (
        ReasonCode.SECRET,
        _FAIL,
        Severity.HIGH,
        "A credential was found.",
        "Remove or mask the value at the named path, revoke the credential, and resubmit under a new request id.",
    ),
    (
        ReasonCode.PII,
        _FAIL,
        Severity.HIGH,
        "Personal data of a type the policy lists was found.",
        "Remove or mask it at the named path and resubmit under a new request id.",
    ),
    (
        ReasonCode.INJECTION,
        _FAIL,
        Severity.HIGH,
        "Text that tries to steer the model was found.",
        "Treat the source as hostile; quarantine its fingerprint.",
    ),
    (
        ReasonCode.ROLE_ASSERTION,
        _FAIL,
        Severity.MEDIUM,
        "Text asserts the authority of a system, developer or administrator role.",
        "Treat the source as suspect.",
    ),
    (
        ReasonCode.ACTION_TRIGGER,
        _FAIL,
        Severity.MEDIUM,
        "Text holds a token that triggers an unsafe action.",
        "Treat the source as suspect.",
    ),
    (
        ReasonCode.HIDDEN_TEXT,
        _FAIL,
        Severity.HIGH,
        "Text that a person would not see was found.",
        "Treat the source as hostile; remove the hidden characters.",
    ),
    (
        ReasonCode.KNOWN_FINGERPRINT,
        _FAIL,
        Severity.HIGH,
        "The text is quarantined already.",
        "Look at it with `pratique ledger show`; a curator can release it.",
    ),
    (
        ReasonCode.POPULATION_MISSING,
        _LACKS,
        Severity.HIGH,
        "An expected record was not given or not scanned.",
        "Recall again; check the loader's manifest.",
    ),
    (
        ReasonCode.POPULATION_EXTRA,
        _LACKS,
        Severity.HIGH,
        "A record was given that nobody expected.",
        "Recall again; check the loader's manifest and tenant.",
    ),
    (
        ReasonCode.POPULATION_DUPLICATED,
        _ERROR,
        Severity.HIGH,
        "A record was given twice.",
        "Recall each record once.",
    ),
    (
        ReasonCode.TOO_LARGE,
        _ERROR,
        Severity.MEDIUM,
        "A size or nesting bound is exceeded.",
        "Summarise less at once, or have the security engineer raise the signed bound.",
    ),
    (
        ReasonCode.LANGUAGE_UNSUPPORTED,
        _ERROR,
        Severity.MEDIUM,
        "The text or the policy names a language that no detector here covers.",
        "Add the language's profile to the scan policy and its detector to the workers.",
    ),
    (
        ReasonCode.DETECTOR_ERROR,
        _ERROR,
        Severity.HIGH,
        "A detector failed, or is not the one the policy pins.",
        "Look at the scan workers' health; retry under a new request id.",
    ),
    (
        ReasonCode.DETECTOR_TIMEOUT,
        _ERROR,
        Severity.MEDIUM,
        "A detector did not finish in the policy's `timeout_ms`.",
        "Retry under a new request id with a smaller summary; look at the scan workers' load.",
    ),
    (
        ReasonCode.UNSCANNABLE,
        _LACKS,
        Severity.MEDIUM,
        "The content is opaque (encrypted, say) and can't be checked.",
        "Use a compaction whose output is plain text.",
    ),
    (
        ReasonCode.LEDGER_VIEW_INCOMPLETE,
        _ERROR,
        Severity.HIGH,
        "The quarantine ledger's view is behind, partial or malformed.",
        "Run `pratique ledger verify`, then `pratique ledger rebuild`.",
    ),
    (
        ReasonCode.NOT_RUN,
        _ERROR,
        Severity.LOW,
        "A check did not run because an earlier one left it nothing to check.",
        "Mend the primary reason.",
    ),
    (
        ReasonCode.EVIDENCE_TIMEOUT,
        _ERROR,
        Severity.MEDIUM,
        "The evidence was not complete by the deadline.",
        "Look at lag and health of the workers; retry under a new request id.",
    ),
    # Of commands to the quarantine ledger alone; no verdict has them.
    (
        ReasonCode.LEDGER_COMMAND_MALFORMED,
        _ERROR,
        Severity.MEDIUM,
        "A ledger command is signed but is not the command schema in canonical form.",
        "Send it with `pratique ledger add` or `remove`, or sign exactly the fields of the schema.",
    ),
    (
        ReasonCode.LEDGER_SCOPE_INVALID,
        _ERROR,
        Severity.HIGH,
        "A ledger command names an unknown scope, or a tenant that does not go with the scope.",
        "Name the tenant with scope `tenant`, and none with scope `global`.",
    ),
    (
        ReasonCode.LEDGER_PARTITION_DIFFERS,
        _ERROR,
        Severity.HIGH,
        "A ledger command lies under another key, or in another partition, than its scope and fingerprint have.",
        "Key it `scope/segment/fingerprint` and send it to the murmur2 partition of `scope/segment`.",
    ),
    (
        ReasonCode.LEDGER_GENERATION_DIFFERS,
        _ERROR,
        Severity.HIGH,
        "A ledger command names another key generation than the entry's.",
        "Fingerprint the content anew under the current generation of the key.",
    ),
    (
        ReasonCode.LEDGER_EVENT_REUSED,
        _ERROR,
        Severity.HIGH,
        "A ledger command gives an event that was recorded already another content.",
        "Look at the entry with `pratique ledger show`; send a new command at its next revision.",
    ),
    (
        ReasonCode.LEDGER_COMMAND_REPLAYED,
        _ERROR,
        Severity.MEDIUM,
        "A ledger command was applied before, so it changes nothing now.",
        "If the change is wanted again, sign a new command at the entry's next revision.",
    ),
    (
        ReasonCode.LEDGER_REVISION_STALE,
        _ERROR,
        Severity.LOW,
        "A ledger command expects another revision than the entry's newest.",
        "Read the entry again with `pratique ledger show` and decide anew.",
    ),
)

REASONS: Final[dict[ReasonCode, ReasonMeaning]] = {
    code: ReasonMeaning(rank, outcome, status, severity, meaning, remedy)
    for rank, (code, (outcome, status), severity, meaning, remedy) in enumerate(_TABLE)
}


@total_ordering
@dataclass(frozen=True, slots=True)
class Reason:
    """Why one thing was not accepted.

    Attributes:
        code: What was found.
        path: The field it was found in, in our schema's words (``candidate.summary_text``); empty for the whole.
        detector: Who found it (``kingfisher``, ``presidio``, ``grammar``, ``gate`` …).
        severity: How much it matters.
    """

    code: ReasonCode
    path: str
    detector: str
    severity: Severity

    @classmethod
    def of(cls, code: ReasonCode, path: str = "", detector: str = "gate") -> Reason:
        """Return a reason with the table's severity."""
        return cls(code, path, detector, REASONS[code].severity)

    @property
    def meaning(self) -> ReasonMeaning:
        """The code's row in the table."""
        return REASONS[self.code]

    def __lt__(self, other: Reason) -> bool:
        return self._order() < other._order()

    def _order(self) -> tuple[int, str, str, str]:
        return (REASONS[self.code].rank, self.path, self.detector, self.severity.value)


def sorted_reasons(
    reasons: frozenset[Reason] | set[Reason] | tuple[Reason, ...] | list[Reason],
) -> tuple[Reason, ...]:
    """Return the distinct reasons in the seed's order; the first is the primary one."""
    return tuple(sorted(set(reasons)))
