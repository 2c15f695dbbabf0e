"""Every digest of the published language: its preimage, what is escaped, and a vector.

The contract: preimages are written out here, byte for byte, and not taken from the code; a test holds each against the
function that computes it. ``docs/reference/digests.md`` is made from this table.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Form(Enum):
    """How a value becomes the bytes that are hashed."""

    CANONICAL = "canonical JSON, no ASCII escaping"
    ASCII = "JSON in canonical separators, with ASCII escaping"
    TEXT = "the text itself in UTF-8, unquoted"
    BYTES = "the bytes as they are"


@dataclass(frozen=True, slots=True)
class Digest:
    """One row.

    Attributes:
        name: The field that carries it.
        of: What it is a digest of.
        preimage: What exactly is hashed.
        form: How that becomes bytes.
        source: Where it is specified.
        example: The bytes that are hashed in the vector; they are UTF-8 text unless ``form`` says bytes.
        key: HMAC key of the vector; none for a plain SHA-256.
    """

    name: str
    of: str
    preimage: str
    form: Form
    source: str
    example: bytes
    key: bytes | None = None

    @property
    def value(self) -> str:
        """The vector's digest."""
        if self.key is not None:
            return hmac.digest(self.key, self.example, "sha256").hex()
        return hashlib.sha256(self.example).hexdigest()


G1: Final = "AID-I-004.008 G001"
G2: Final = "AID-I-004.008 G002"
G3: Final = "AID-I-004.008 G003"
RECALL_G1: Final = "AID-D-001.005 G001"
RECALL_G2: Final = "AID-D-001.005 G002"
CONTRACT: Final = "Pratique"

MESSAGE_1: Final = '{"content":"Prüfe das Deployment, danke 🙂","message_id":"m1","role":"user"}'.encode()
MESSAGE_2: Final = b'{"content":"{\\"status\\":\\"ok\\"}","message_id":"m2","role":"tool"}'


def _sha(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


_PREDICATE: Final = "deny(secret_disclosure)"
_RECORD: Final = (
    '{"canonical_predicate":"deny(secret_disclosure)","canonical_text":"Gib keine Schlüssel preis.",'
    '"invariant_id":"SAFETY-1","record_revision":1}'
).encode()
_COMMITMENT: Final = (
    b'{"canonical_predicate":"allow(approved_tools)","canonical_text":"Use approved tools only.",'
    b'"commitment_id":"COMMIT-1","record_revision":2}'
)
_POLICY: Final = "4" * 64


def _with_digest(record: bytes) -> bytes:
    return record[:-1] + b',"record_sha256":"' + _sha(record).encode() + b'"}'


_MANIFEST: Final = (
    b'{"policy_sha256":"%b","records":[%b],"registry_revision":3,"schema_version":"aidefend.invariant-manifest.v3"}'
    % (_POLICY.encode(), _with_digest(_RECORD))
)
_SNAPSHOT: Final = (
    b'{"commitment_revision":1,"policy_sha256":"%b","records":[%b],"schema_version":"aidefend.commitment-snapshot.v3"}'
    % (_POLICY.encode(), _with_digest(_COMMITMENT))
)


def _constraint(kind: str, identifier: str, text: str, predicate: str, record: bytes) -> bytes:
    return (
        f'{{"canonical_predicate":"{predicate}","canonical_predicate_sha256":"{_sha(predicate.encode())}",'
        f'"canonical_record_sha256":"{_sha(record)}","canonical_text":"{text}","constraint_id":"{identifier}",'
        f'"constraint_type":"{kind}"}}'
    ).encode()


_BLOCK: Final = (
    b'{"commitment_snapshot_sha256":"%b","constraints":[%b,%b],"invariant_manifest_sha256":"%b","policy_sha256":"%b",'
    b'"schema_version":"aidefend.rehydrated-policy-block.v3"}'
    % (
        _sha(_SNAPSHOT).encode(),
        _constraint("INVARIANT", "SAFETY-1", "Gib keine Schlüssel preis.", _PREDICATE, _RECORD),
        _constraint("COMMITMENT", "COMMIT-1", "Use approved tools only.", "allow(approved_tools)", _COMMITMENT),
        _sha(_MANIFEST).encode(),
        _POLICY.encode(),
    )
)
_CLAIM: Final = (
    f'{{"canonical_predicate_sha256":"{_sha(_PREDICATE.encode())}","canonical_record_sha256":"{_sha(_RECORD)}",'
    f'"constraint_id":"SAFETY-1","constraint_type":"INVARIANT","preserved_predicate":"{_PREDICATE}",'
    '"status":"PRESERVED"}'
).encode()
_SCANNED: Final = (
    '{"retained_policy_commitment_ids":["COMMIT-1"],"retained_safety_invariant_ids":["SAFETY-1"],'
    f'"source_message_sha256s":["{_sha(MESSAGE_1)}"],"summary_text":"Das Deployment läuft."}}'
).encode()
_ACCEPTANCE: Final = (
    '{"compacted_output_sha256":"' + "9" * 64 + '","consistency_receipt_sha256":"' + "8" * 64 + '","outcome":"ACCEPTED"'
    ',"policy_sha256":"' + _POLICY + '","schema_version":"aidefend.context-compaction-acceptance.v1",'
    '"secret_scan_receipt_sha256":"' + "7" * 64 + '","source_population_sha256":"' + "1" * 64 + '",'
    '"task_id":"task-1","tenant_id":"tenant-a"}'
).encode()

_EVIDENCE: Final = (
    f'{{"complete_clause_parse":true,"constraint_id":"SAFETY-1","constraint_type":"INVARIANT",'
    f'"parsed_clause_population_sha256":"{"a" * 64}","predicate_sha256":"{_sha(_PREDICATE.encode())}",'
    f'"rule":"keep.secrets","status":"PRESERVED","summary_sha256":"{"b" * 64}"}}'
).encode()
_RESULT: Final = (
    f'{{"bounded_rule_id":"keep.secrets","canonical_predicate_sha256":"{_sha(_PREDICATE.encode())}",'
    f'"canonical_record_sha256":"{_sha(_RECORD)}","claim_status":"PRESERVED","constraint_id":"SAFETY-1",'
    f'"constraint_type":"INVARIANT","evidence_sha256":"{_sha(_EVIDENCE)}","verification_status":"PRESERVED"}}'
).encode()
_SCAN_REQUEST: Final = (
    f'{{"entity_types":["SECRET"],"fields":[{{"path":"summary_text","value":"Das Deployment läuft."}}],'
    f'"language_profiles":["de"],"policy_sha256":"{_POLICY}","policy_version":"1","scanned_field_count":1,'
    f'"scanned_population_sha256":"{_sha(_SCANNED)}","scanner_sha256":"{"7" * 64}","scanner_version":"kingfisher/1",'
    '"schema_version":"aidefend.compaction-secret-scan-request.v1"}'
).encode()

_FINDING: Final = (
    b'{"content_sha256":"%b","control_id":"AID-D-001.005","control_status":"ERROR","detector_revision":"1",'
    b'"entry_id":"entry-\\u00fc","error_class":"DetectorTimeoutError","finding_status":"UNKNOWN","memory_version":"v1",'
    b'"policy_version":"7","recall_request_id":"recall-1","schema_version":"aidefend.recalled_memory_finding.v1",'
    b'"tenant_id":"tenant-a"}' % (b"d" * 64)
)

_CONFIGURATION: Final = (
    b'{"actions":{"INJECTION":[{"detector":"injection","minimum_score":85}]},"manifest_sha256":"%b",'
    b'"schema_version":"pratique.scanner-configuration.v1"}' % (b"7" * 64)
)

DIGESTS: Final[tuple[Digest, ...]] = (
    Digest(
        "source_message_sha256s[i]",
        "one source message",
        "the message record `{message_id, role, content}`, nothing else: provenance is left out",
        Form.CANONICAL,
        G1,
        MESSAGE_1,
    ),
    Digest(
        "source_population_sha256",
        "the source messages of a compaction",
        "the list of the message digests, in order",
        Form.CANONICAL,
        G1,
        b'["%b","%b"]' % (_sha(MESSAGE_1).encode(), _sha(MESSAGE_2).encode()),
    ),
    Digest(
        "source_population_sha256 (recall)",
        "the entries a recall is expected to have",
        "the sorted list of `[tenant_id, recall_request_id, entry_id, memory_version]` from the loader's manifest",
        Form.ASCII,
        RECALL_G1,
        b'[["tenant-a","recall-1","entry-1","v3"],["tenant-a","recall-1","entry-\\u00fc","v1"]]',
    ),
    Digest(
        "subject_sha256",
        "a candidate, which need not parse",
        "`candidate_json` exactly as it was sent",
        Form.TEXT,
        CONTRACT,
        b'{"summary_text": "Das Deployment l\\u00e4uft."}',
    ),
    Digest(
        "subject_sha256 (recall)",
        "the recalled contents",
        "the sorted list of `[entry_id, memory_version, content_sha256]`",
        Form.CANONICAL,
        CONTRACT,
        b'[["entry-1","v3","%b"],["entry-2","v1","%b"]]' % (_sha(b"plain").encode(), _sha("Ünïcode".encode()).encode()),
    ),
    Digest(
        "request_sha256",
        "a request",
        "the record's value as published, from the marker `C3 01` on; headers and key are left out",
        Form.BYTES,
        CONTRACT,
        b"\xc3\x01\x00\x01\x02\x03\x04\x05\x06\x07\xff",
    ),
    Digest(
        "compacted_output_sha256",
        "a candidate that parsed",
        "the parsed JSON of `candidate_json`",
        Form.CANONICAL,
        G1,
        '{"summary_text":"Das Deployment läuft."}'.encode(),
    ),
    Digest(
        "compacted_summary_sha256",
        "a candidate's summary",
        "the JSON string `summary_text`, quotes and JSON's own escapes included",
        Form.CANONICAL,
        G2,
        '"Das Deployment läuft."'.encode(),
    ),
    Digest(
        "narrative_sha256",
        "a candidate's narrative (profile with untrusted narrative)",
        "the JSON string `narrative_text`, quotes and JSON's own escapes included",
        Form.CANONICAL,
        CONTRACT,
        '"Das Deployment läuft."'.encode(),
    ),
    Digest(
        "accepted_text_sha256s[i]",
        "a text that a verdict lets in: the summary, then the narrative where there is one; none where it accepts none",
        "the JSON string of the text: `compacted_summary_sha256`, then `narrative_sha256`",
        Form.CANONICAL,
        CONTRACT,
        '"Das Deployment läuft."'.encode(),
    ),
    Digest(
        "authority_artifact_sha256",
        "what finds untraced claims: the word tables and the code that reads them",
        "`{authority_version, tables}`, one object a language with each kind's words as the table writes them",
        Form.CANONICAL,
        CONTRACT,
        b'{"authority_version":"1","tables":[{"language":"en","person":"user"}]}',
    ),
    Digest(
        "canonical_predicate_sha256",
        "a constraint's predicate",
        "`canonical_predicate`",
        Form.TEXT,
        G2,
        _PREDICATE.encode(),
    ),
    Digest(
        "record_sha256 (invariant)",
        "an invariant's record",
        "`{invariant_id, canonical_text, canonical_predicate, record_revision}`",
        Form.CANONICAL,
        G2,
        _RECORD,
    ),
    Digest(
        "record_sha256 (commitment)",
        "a commitment's record",
        "`{commitment_id, canonical_text, canonical_predicate, record_revision}`",
        Form.CANONICAL,
        G2,
        _COMMITMENT,
    ),
    Digest(
        "invariant_manifest_sha256",
        "the invariant manifest",
        "`{schema_version, policy_sha256, registry_revision, records}`, each record with its `record_sha256`",
        Form.CANONICAL,
        G2,
        _MANIFEST,
    ),
    Digest(
        "commitment_snapshot_sha256",
        "the commitment snapshot",
        "`{schema_version, policy_sha256, commitment_revision, records}`, each record with its `record_sha256`",
        Form.CANONICAL,
        G2,
        _SNAPSHOT,
    ),
    Digest(
        "rendered_policy_sha256",
        "the rehydrated policy block",
        "the block's text, which is itself canonical JSON; constraints are invariants, then commitments, in order",
        Form.TEXT,
        G2,
        _BLOCK,
    ),
    Digest(
        "claim_population_sha256",
        "the claims of a candidate",
        "the list of claims, in the order of the expected constraints",
        Form.CANONICAL,
        G2,
        b"[" + _CLAIM + b"]",
    ),
    Digest(
        "evidence_sha256",
        "what the verifier found about one constraint",
        "`{constraint_type, constraint_id, predicate_sha256, summary_sha256, parsed_clause_population_sha256, "
        "complete_clause_parse, rule, status}`; the clause population is null where the parse is not total",
        Form.CANONICAL,
        G2,
        _EVIDENCE,
    ),
    Digest(
        "result_population_sha256",
        "the verifier's results",
        "the list of results, one per expected constraint, in order",
        Form.CANONICAL,
        G2,
        b"[" + _RESULT + b"]",
    ),
    Digest(
        "grammar_sha256",
        "the clause grammar",
        "the document as published, which is canonical JSON",
        Form.CANONICAL,
        CONTRACT,
        b'{"schema_version":"pratique.clause-grammar.v1"}',
    ),
    Digest(
        "verifier_artifact_sha256",
        "what decides: the grammar and the code that reads it",
        "`{grammar_sha256, verifier_version}`",
        Form.CANONICAL,
        G2,
        b'{"grammar_sha256":"%b","verifier_version":"1"}' % (b"a" * 64),
    ),
    Digest(
        "scanned_population_sha256",
        "what of a candidate is scanned",
        "the four roots `summary_text`, `retained_safety_invariant_ids`, `retained_policy_commitment_ids`, "
        "`source_message_sha256s`; with a narrative also `narrative_text`",
        Form.CANONICAL,
        G3,
        _SCANNED,
    ),
    Digest(
        "request_sha256 (scan receipt)",
        "a scan request; not the request that is judged",
        "`{schema_version, policy_version, policy_sha256, scanner_version, scanner_sha256, language_profiles, "
        "entity_types, scanned_population_sha256, scanned_field_count, fields}`",
        Form.CANONICAL,
        G3,
        _SCAN_REQUEST,
    ),
    Digest(
        "receipt_sha256",
        "a receipt",
        "the receipt's complete body (`body_json` is that canonical JSON)",
        Form.CANONICAL,
        f"{G2}, {G3}",
        b'{"decision":"CLEAN","finding_count":0}',
    ),
    Digest(
        "event_sha256",
        "the seed's audit event; of a recall, the roll-up of its findings",
        "`event_json`, which is canonical JSON",
        Form.CANONICAL,
        G1,
        _ACCEPTANCE,
    ),
    Digest(
        "policy_sha256",
        "the compaction policy document alone; of a recall, the recall policy document",
        "the document as published, which is canonical JSON",
        Form.CANONICAL,
        CONTRACT,
        b'{"fallback_message_count":6,"policy_id":"default"}',
    ),
    Digest(
        "policy_set_sha256",
        "the whole pinned policy set",
        "the set's map `{schema_version, policy_id, documents}` from document kind to `{path, sha256}`; a tenant's "
        "standing commitments are one kind more",
        Form.CANONICAL,
        CONTRACT,
        b'{"documents":{},"policy_id":"default","schema_version":"pratique.policy-set.v1"}',
    ),
    Digest(
        "verdict_id",
        "what was decided on",
        "`{schema_version: pratique.decision.v1, opened_sha256, receipt_sha256s, expired}`, where the digests are of "
        "the evidence values as consumed",
        Form.CANONICAL,
        CONTRACT,
        b'{"expired":false,"opened_sha256":"%b","receipt_sha256s":{"CONSISTENCY":"%b","SCAN":"%b"},'
        b'"schema_version":"pratique.decision.v1"}' % (b"a" * 64, b"b" * 64, b"c" * 64),
    ),
    Digest(
        "scanner_sha256",
        "the scanner",
        "the manifest of every detector, version, rule and model",
        Form.CANONICAL,
        CONTRACT,
        b'{"detectors":[]}',
    ),
    Digest(
        "scanner_sha256 (with rules)",
        "the scanner under a policy that has `allow`, `actions` or `models`",
        "`{schema_version, manifest_sha256, allow, actions, models}`, what policy does not have left out",
        Form.CANONICAL,
        CONTRACT,
        _CONFIGURATION,
    ),
    Digest(
        "models[i].sha256",
        "a language model that a scan policy names",
        "`{schema_version, files}`; `files` from each file's path in the model's folder to the SHA-256 of its bytes",
        Form.CANONICAL,
        CONTRACT,
        b'{"files":{"config.cfg":"%b"},"schema_version":"pratique.language-model.v1"}' % _sha(b"[nlp]\n").encode(),
    ),
    Digest(
        "content_sha256",
        "a recalled memory",
        "`content`",
        Form.TEXT,
        RECALL_G1,
        "Ünïcode".encode(),
    ),
    Digest(
        "fingerprint_hmac_sha256",
        "a text, over case, compatibility forms and whitespace (fingerprint v1)",
        "the text in NFKC, case-folded, split at whitespace and joined by single spaces; HMAC-SHA256 under a secret "
        "key of at least 32 bytes (the vector's is 32 bytes of `k`)",
        Form.TEXT,
        RECALL_G1,
        "ünïcode fi strasse".encode(),
        b"k" * 32,
    ),
    Digest(
        "finding_id",
        "a finding about a recalled memory, whenever it was made",
        "the finding's object without `observed_at` (`finding_json` is that object with it)",
        Form.ASCII,
        CONTRACT,
        _FINDING,
    ),
    Digest(
        "event_id",
        "a transition of the quarantine ledger",
        "the record `aidefend.recall_quarantine.v2` without its `event_id`",
        Form.ASCII,
        RECALL_G2,
        b'{"action":"add","actor_id":"curator-1","authentication_event_id":"login-1","detector_version":"injection.v1",'
        b'"fingerprint_hmac_sha256":"%b","incident_id":"INC-7","policy_version":"3","revision":1,'
        b'"schema_version":"aidefend.recall_quarantine.v2","scope":"tenant","tenant_id":"tenant-a"}' % (b"f" * 64),
    ),
)
