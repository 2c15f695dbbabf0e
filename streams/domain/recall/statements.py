"""What the two workers state about a recall: the bodies of their receipts, built and read back.

The contract: a statement lists every entry that was given, in the request's order, with its whole identity and content
digest, so that whoever joins the evidence can derive population and subject again and hold them against the join key.
``of`` reads exactly what ``body`` writes and refuses anything else. A statement holds no content.

- ``pratique.recall-scan-receipt.v1``: one finding per entry, by id, and what else the scanner found in the entry;
- ``pratique.recall-consistency-receipt.v1``: which conflict rules of the signed grammar match each entry.

Both repeat the policy's ``partial_admission``: a quarantined recall admits an entry only where both say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue
from pratique.contract.digests import recall_subject_sha256
from pratique.contract.document import Fields
from pratique.contract.reasons import FindingStatus, Outcome
from pratique.errors import MalformedError
from streams.domain.recall.finding import Recommendation
from streams.domain.recall.population import MemoryKey, Observed
from streams.domain.recall.statement_fields import KEY, key_in, member_in, names_in

SCAN_SCHEMA: Final = "pratique.recall-scan-receipt.v1"
CONSISTENCY_SCHEMA: Final = "pratique.recall-consistency-receipt.v1"

MAX_ENTRIES: Final = 512
"""Most entries, and most expected entries, of one recall: evidence and verdict name each of them."""

MAX_RULE_IDS: Final = 4
"""Most conflict rules that are named for one entry; one is reason enough."""

_MAX_CODES: Final = 64

_COMMON: Final = (
    "schema_version",
    "policy_sha256",
    "partial_admission",
    "population_sha256",
    "subject_sha256",
    "entries",
)
_SCAN: Final = (*_COMMON, "scanner_sha256", "detector_name", "detector_revision", "ledger")
_SCAN_ENTRY: Final = (
    *KEY,
    "content_sha256",
    "codes",
    "finding_id",
    "control_status",
    "finding_status",
    "recommended_disposition",
)
_LEDGER: Final = ("generation", "position", "staleness_ms")
_CONSISTENCY: Final = (*_COMMON, "invariant_manifest_sha256", "grammar_sha256", "verifier_artifact_sha256")
_CONSISTENCY_ENTRY: Final = (*KEY, "content_sha256", "codes", "rule_ids")


@dataclass(frozen=True, slots=True)
class ScannedEntry:
    """What was found in one entry.

    Attributes:
        codes: Reason codes of everything that any detector found, or could not do; sorted.
        finding_id: The finding on ``memory.findings``.
        recommendation: The finding's; null for ERROR.
    """

    key: MemoryKey
    content_sha256: str
    codes: tuple[str, ...]
    finding_id: str
    control_status: Outcome
    finding_status: FindingStatus
    recommendation: Recommendation | None

    @property
    def observed(self) -> Observed:
        """The finding as reconciliation sees it."""
        return Observed(self.key, self.control_status, self.finding_status)

    @property
    def clean(self) -> bool:
        """Whether everything was looked at and nothing found."""
        return (
            self.control_status is Outcome.PASS and self.finding_status is FindingStatus.NO_FINDING and not self.codes
        )

    def body(self) -> dict[str, JsonValue]:
        """Return the entry as the statement lists it."""
        return {
            **self.key._asdict(),
            "content_sha256": self.content_sha256,
            "codes": list(self.codes),
            "finding_id": self.finding_id,
            "control_status": self.control_status.value,
            "finding_status": self.finding_status.value,
            "recommended_disposition": None if self.recommendation is None else self.recommendation.value,
        }


@dataclass(frozen=True, slots=True)
class LedgerState:
    """Which state of the quarantine ledger was looked at."""

    generation: str
    position: str
    staleness_ms: int


@dataclass(frozen=True, slots=True)
class ScanStatement:
    """The scan worker's statement.

    Attributes:
        policy_sha256: Digest of the recall policy.
        population_sha256: The population's, from the loader's manifest.
        detector_name: The primary detector that scored; empty where there was none.
        ledger: Null where the ledger's view did not answer.
    """

    policy_sha256: str
    partial_admission: bool
    population_sha256: str
    scanner_sha256: str
    detector_name: str
    detector_revision: str
    ledger: LedgerState | None
    entries: tuple[ScannedEntry, ...]

    @property
    def subject_sha256(self) -> str:
        """The digest of what was looked at."""
        return _subject(self.entries)

    def body(self) -> dict[str, JsonValue]:
        """Return the receipt's complete body."""
        ledger = self.ledger
        return {
            "schema_version": SCAN_SCHEMA,
            "policy_sha256": self.policy_sha256,
            "partial_admission": self.partial_admission,
            "population_sha256": self.population_sha256,
            "subject_sha256": self.subject_sha256,
            "scanner_sha256": self.scanner_sha256,
            "detector_name": self.detector_name,
            "detector_revision": self.detector_revision,
            "ledger": None
            if ledger is None
            else {
                "generation": ledger.generation,
                "position": ledger.position,
                "staleness_ms": ledger.staleness_ms,
            },
            "entries": [entry.body() for entry in self.entries],
        }

    @classmethod
    def of(cls, body: JsonValue) -> ScanStatement:
        """Read a receipt's body.

        Raises:
            MalformedError: It is none.
        """
        fields = Fields(body, "recall scan receipt", _SCAN, MalformedError)
        fields.literal("schema_version", SCAN_SCHEMA)
        detector_name = fields.raw("detector_name")
        if not isinstance(detector_name, str):
            raise fields.refusal("detector_name", "is no text")
        statement = cls(
            policy_sha256=fields.sha256("policy_sha256"),
            partial_admission=fields.boolean("partial_admission"),
            population_sha256=fields.sha256("population_sha256"),
            scanner_sha256=fields.sha256("scanner_sha256"),
            detector_name=detector_name,
            detector_revision=fields.text("detector_revision"),
            ledger=_ledger(fields.raw("ledger")),
            entries=tuple(
                map(_scanned, fields.records("entries", _SCAN_ENTRY, minimum=0, maximum=MAX_ENTRIES)),
            ),
        )
        if fields.sha256("subject_sha256") != statement.subject_sha256:
            raise fields.refusal("subject_sha256", "is not that of the entries")
        return statement


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """What the signed grammar says of one entry.

    Attributes:
        codes: PREDICATE_CONFLICT, or why the entry was not read; sorted.
        rule_ids: The conflict rules that match, in the artifact's order; at most ``MAX_RULE_IDS``.
    """

    key: MemoryKey
    content_sha256: str
    codes: tuple[str, ...]
    rule_ids: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether the entry was read and contradicts nothing."""
        return not self.codes and not self.rule_ids

    def body(self) -> dict[str, JsonValue]:
        """Return the entry as the statement lists it."""
        return {
            **self.key._asdict(),
            "content_sha256": self.content_sha256,
            "codes": list(self.codes),
            "rule_ids": list(self.rule_ids),
        }


@dataclass(frozen=True, slots=True)
class ConsistencyStatement:
    """The consistency worker's statement; fields as in ``ScanStatement``."""

    policy_sha256: str
    partial_admission: bool
    population_sha256: str
    invariant_manifest_sha256: str
    grammar_sha256: str
    verifier_artifact_sha256: str
    entries: tuple[CheckedEntry, ...]

    @property
    def subject_sha256(self) -> str:
        """The digest of what was read."""
        return _subject(self.entries)

    def body(self) -> dict[str, JsonValue]:
        """Return the receipt's complete body."""
        return {
            "schema_version": CONSISTENCY_SCHEMA,
            "policy_sha256": self.policy_sha256,
            "partial_admission": self.partial_admission,
            "population_sha256": self.population_sha256,
            "subject_sha256": self.subject_sha256,
            "invariant_manifest_sha256": self.invariant_manifest_sha256,
            "grammar_sha256": self.grammar_sha256,
            "verifier_artifact_sha256": self.verifier_artifact_sha256,
            "entries": [entry.body() for entry in self.entries],
        }

    @classmethod
    def of(cls, body: JsonValue) -> ConsistencyStatement:
        """Read a receipt's body.

        Raises:
            MalformedError: It is none.
        """
        fields = Fields(body, "recall consistency receipt", _CONSISTENCY, MalformedError)
        fields.literal("schema_version", CONSISTENCY_SCHEMA)
        statement = cls(
            policy_sha256=fields.sha256("policy_sha256"),
            partial_admission=fields.boolean("partial_admission"),
            population_sha256=fields.sha256("population_sha256"),
            invariant_manifest_sha256=fields.sha256("invariant_manifest_sha256"),
            grammar_sha256=fields.sha256("grammar_sha256"),
            verifier_artifact_sha256=fields.sha256("verifier_artifact_sha256"),
            entries=tuple(
                CheckedEntry(
                    key_in(item),
                    item.sha256("content_sha256"),
                    names_in(item, "codes", _MAX_CODES),
                    names_in(item, "rule_ids", MAX_RULE_IDS),
                )
                for item in fields.records("entries", _CONSISTENCY_ENTRY, minimum=0, maximum=MAX_ENTRIES)
            ),
        )
        if fields.sha256("subject_sha256") != statement.subject_sha256:
            raise fields.refusal("subject_sha256", "is not that of the entries")
        return statement


def _subject(entries: Sequence[ScannedEntry] | Sequence[CheckedEntry]) -> str:
    return recall_subject_sha256((item.key.entry_id, item.key.memory_version, item.content_sha256) for item in entries)


def _scanned(fields: Fields) -> ScannedEntry:
    recommendation = fields.raw("recommended_disposition")
    return ScannedEntry(
        key_in(fields),
        fields.sha256("content_sha256"),
        names_in(fields, "codes", _MAX_CODES),
        fields.sha256("finding_id"),
        member_in(fields, "control_status", Outcome),
        member_in(fields, "finding_status", FindingStatus),
        None if recommendation is None else member_in(fields, "recommended_disposition", Recommendation),
    )


def _ledger(value: JsonValue) -> LedgerState | None:
    if not isinstance(value, Mapping):
        if value is None:
            return None
        raise MalformedError("recall scan receipt: field ledger is no JSON object")
    fields = Fields(value, "recall scan receipt: ledger", _LEDGER, MalformedError)
    return LedgerState(fields.text("generation"), fields.text("position"), fields.integer("staleness_ms", minimum=0))
