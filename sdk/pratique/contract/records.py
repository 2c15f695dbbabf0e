"""The records of the published language as frozen values: one class an Avro record, the same names and fields.

The contract: field names and meanings are those of ``schemas/avro``; times are milliseconds since the epoch, digests
are 64 lower-case hexadecimal digits. Nothing here checks a rule: ``pratique.contract.avro`` checks form, the service
checks meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from pratique.contract.reasons import REASONS, Reason, ReasonCode, ReasonMeaning


class Role(Enum):
    """Who spoke a source message."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Provenance(Enum):
    """How far a text is trusted. Untrusted is the default, and the least of a set wins."""

    TRUSTED = "TRUSTED"
    UNTRUSTED = "UNTRUSTED"


class Origin(Enum):
    """Which kind of request a verdict answers."""

    COMPACTION = "COMPACTION"
    RECALL = "RECALL"


class EvidenceKind(Enum):
    """What a piece of evidence states, and so which role may state it."""

    OPENED = "OPENED"
    CONSISTENCY = "CONSISTENCY"
    SCAN = "SCAN"
    DECIDED = "DECIDED"


class VerdictOutcome(Enum):
    """May it enter a context."""

    ACCEPTED = "ACCEPTED"
    QUARANTINED = "QUARANTINED"


class Disposition(Enum):
    """May this recalled entry enter a context."""

    ADMITTED = "ADMITTED"
    WITHHELD = "WITHHELD"


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """A message that a summary was made from. ``content`` is never empty."""

    message_id: str
    role: Role
    content: str
    provenance: Provenance = Provenance.UNTRUSTED


@dataclass(frozen=True, slots=True)
class CompactionRequested:
    """May this summary replace these messages? ``candidate_json`` is the summarizer's exact output."""

    tenant_id: str
    task_id: str
    compaction_request_id: str
    requested_at: int
    policy_id: str
    source_messages: tuple[SourceMessage, ...]
    candidate_json: str
    expected_invariant_ids: tuple[str, ...]
    expected_commitment_ids: tuple[str, ...]
    commitments: bytes | None = None
    lineage: tuple[str, ...] = ()
    trace_context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompactionSubject:
    """What a ``CompactionRequested`` asks about, without its sources (``avro.decode_part``)."""

    tenant_id: str
    compaction_request_id: str
    candidate_json: str


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A recalled memory, with the identity it was stored under."""

    tenant_id: str
    recall_request_id: str
    entry_id: str
    memory_version: str
    content: str
    provenance: Provenance = Provenance.UNTRUSTED


@dataclass(frozen=True, slots=True)
class ExpectedEntry:
    """A row of the loader's manifest."""

    entry_id: str
    memory_version: str


@dataclass(frozen=True, slots=True)
class MemoryRecalled:
    """May these memories enter a prompt?"""

    tenant_id: str
    task_id: str
    recall_request_id: str
    requested_at: int
    policy_id: str
    entries: tuple[MemoryEntry, ...]
    expected_entries: tuple[ExpectedEntry, ...]
    trace_context: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JoinKey:
    """What makes two pieces of evidence speak of the same request (architecture, decision 5).

    ``source_population_sha256`` is null where the seed yields no digest (malformed messages).
    """

    tenant_id: str
    origin: Origin
    request_id: str
    source_population_sha256: str | None
    subject_sha256: str
    request_sha256: str

    @property
    def message_key(self) -> bytes:
        """The Kafka key: the source population's digest, or the request's where there is none."""
        return (self.source_population_sha256 or self.request_sha256).encode("ascii")


@dataclass(frozen=True, slots=True)
class StatedReason:
    """A reason as it is published. Its code may be newer than this release, so it stays text."""

    code: str
    path: str
    detector: str
    severity: str

    @classmethod
    def of(cls, reason: Reason) -> StatedReason:
        """Return the published form of a reason."""
        return cls(reason.code.value, reason.path, reason.detector, reason.severity.value)

    @property
    def meaning(self) -> ReasonMeaning | None:
        """The code's row in the reason table; null for a code that this release does not know."""
        try:
            return REASONS[ReasonCode(self.code)]
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Work:
    """A request on its way to the workers, under a pinned policy set."""

    origin: Origin
    policy_set_sha256: str
    policy_set_map: str
    opened_at: int
    request: bytes


@dataclass(frozen=True, slots=True)
class PinnedEntry:
    """A recalled entry that a verdict must speak of; no digest where it was expected but not given."""

    entry_id: str
    memory_version: str
    content_sha256: str | None


@dataclass(frozen=True, slots=True)
class Opened:
    """Intake's statement: this request is authentic, here is what it is judged under and what it needs.

    Attributes:
        policy_version: TUF version of the pinned set; 0 where none could be pinned.
        required: Evidence kinds that complete the join; empty for a refusal.
        keep_message_ids: The fallback's bounded tail; null where the seed raises before it has a context.
        trust: The least trusted source.
        deadline_ms: How long evidence is waited for.
        valid_ms: How long the verdict may be acted on, counted from ``decided_at``.
        refusal: Why intake refused it; decided at once where not empty.
    """

    task_id: str
    policy_id: str
    requested_at: int
    policy_version: int
    policy_sha256: str | None
    rendered_policy_sha256: str | None
    invariant_manifest_sha256: str | None
    commitment_snapshot_sha256: str | None
    scanner_sha256: str | None
    required: tuple[EvidenceKind, ...]
    keep_message_ids: tuple[str, ...] | None
    trust: Provenance
    deadline_ms: int
    valid_ms: int
    refusal: tuple[StatedReason, ...] = ()
    expected_entries: tuple[PinnedEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class NominatedText:
    """A text that could be put into the tenant's quarantine ledger.

    Attributes:
        path: The field that it is, as reasons name it.
        fingerprint_hmac_sha256: Its fingerprint; the text itself is nowhere in evidence.
        codes: Reason codes that this worker found in it.
        others: Its fingerprints under the other generations of the fingerprint key at hand, sorted.
    """

    path: str
    fingerprint_hmac_sha256: str
    codes: tuple[str, ...]
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CarriedText:
    """A text of the tenant's own ledger that stands there under another generation of the fingerprint key alone.

    Attributes:
        path: The field that it is, as reasons name it.
        key_generation: The generation that the ledger is being filled with.
        fingerprint_hmac_sha256: Its fingerprint under that one.
        replaces: Its fingerprint that is quarantined.
    """

    path: str
    key_generation: str
    fingerprint_hmac_sha256: str
    replaces: str


@dataclass(frozen=True, slots=True)
class Nomination:
    """What of a request a verdict may put into the tenant's quarantine ledger, under the pinned policy's rule.

    Attributes:
        key_generation: The fingerprint key's generation.
        codes: Reason codes that the rule lists; one of them must be found in a text. None where policy has no rule.
        policy_version: The policy.
        detector_version: The detector that it was judged with.
    """

    key_generation: str
    codes: tuple[str, ...]
    policy_version: str
    detector_version: str
    texts: tuple[NominatedText, ...]
    carried: tuple[CarriedText, ...] = ()


@dataclass(frozen=True, slots=True)
class Receipt:
    """A worker's statement about one request.

    Attributes:
        body_json: The seed receipt's complete body, canonical; null where the check did not come to one.
        scan_population_sha256: Digest of what was (scan) or must have been (consistency) scanned.
        scan_field_count: The number of fields of that population.
        versions: Names and versions of what judged.
        finding_ids: A recall's findings, one per entry.
        nomination: The scan worker's alone, and only where the pinned policy has a rule of automatic quarantine, or
            the fingerprint key is being rotated.
    """

    outcome: str
    finding_status: str
    reasons: tuple[StatedReason, ...]
    body_json: str | None
    receipt_sha256: str | None
    compacted_output_sha256: str | None
    scan_population_sha256: str | None
    scan_field_count: int
    versions: Mapping[str, str]
    finding_ids: tuple[str, ...] = ()
    nomination: Nomination | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """The verdict app's proposal: the signed verdict. The first valid one in log order is the verdict."""

    outcome: VerdictOutcome
    verdict: bytes
    key_id: str
    signature: bytes


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fact about one request; exactly the body that ``kind`` names is present.

    Attributes:
        opened_at: The moment of opening, which validity is compared with: intake's in OPENED, in a receipt that of the
            work it is about; null in DECIDED, and in evidence of a release before it was stated.
    """

    kind: EvidenceKind
    join_key: JoinKey
    policy_set_sha256: str | None
    opened: Opened | None = None
    receipt: Receipt | None = None
    decided: Decided | None = None
    opened_at: int | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """What one check of a verdict came to."""

    check: str
    outcome: str
    finding_status: str
    receipt_sha256: str | None


@dataclass(frozen=True, slots=True)
class EntryVerdict:
    """What a recall's verdict says of one entry."""

    entry_id: str
    memory_version: str
    content_sha256: str
    disposition: Disposition
    finding_id: str | None


@dataclass(frozen=True, slots=True)
class Fallback:
    """Which messages a quarantined compaction keeps, oldest first."""

    keep_message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LedgerView:
    """Which state of the quarantine ledger was looked at."""

    position: str
    staleness_ms: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate decided about one request.

    Attributes:
        accepted_text_sha256s: Canonical digests of the texts that it lets into a context: the summary's, then the
            narrative's; empty where it accepted none, and in verdicts of a release before they were stated.
    """

    verdict_id: str
    origin: Origin
    outcome: VerdictOutcome
    tenant_id: str
    task_id: str
    request_id: str
    policy_id: str
    policy_sha256: str | None
    policy_set_sha256: str | None
    rendered_policy_sha256: str | None
    invariant_manifest_sha256: str | None
    commitment_snapshot_sha256: str | None
    source_population_sha256: str | None
    request_sha256: str
    subject_sha256: str
    compacted_output_sha256: str | None
    trust: Provenance
    assurance: str
    checks: tuple[Check, ...]
    reasons: tuple[StatedReason, ...]
    event_json: str | None
    event_sha256: str | None
    entries: tuple[EntryVerdict, ...] | None
    fallback: Fallback | None
    ledger_view: LedgerView | None
    decided_at: int
    valid_until: int
    versions: Mapping[str, str]
    accepted_text_sha256s: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryFinding:
    """One finding about one recalled entry."""

    join_key: JoinKey
    finding_id: str
    finding_json: str
