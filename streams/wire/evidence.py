"""Evidence between bytes and values, authenticated by the role that states it.

The contract: ``EvidenceWriter`` states one role's evidence under that role's MAC key. ``EvidenceReader`` returns a
``Stated`` only if the bytes are one Evidence record, the MAC verifies under a key of the role that may state that
kind, the body is the kind's, and the record lies in its join key's partition. Everything else is refused and says
why; refused evidence is counted and ignored, never decisive (architecture, decision 9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract import avro
from pratique.contract.canonical import bytes_sha256
from pratique.contract.partitioning import partition_of
from pratique.contract.records import Evidence, EvidenceKind
from pratique.contract.signing import MacSigner, Signature, verify_mac
from pratique.contract.topics import EVIDENCE
from pratique.contract.trust import MacRole, TrustTarget
from pratique.errors import MalformedError, SignerNotAuthorisedError, TooLargeError
from streams.application.ports.log import Channel, LogRecord, Output
from streams.domain.verdicts.evidence import Stated

ROLE_OF_KIND: Final[Mapping[EvidenceKind, MacRole]] = {
    EvidenceKind.OPENED: MacRole.INTAKE,
    EvidenceKind.CONSISTENCY: MacRole.CONSISTENCY,
    EvidenceKind.SCAN: MacRole.SCAN,
    EvidenceKind.DECIDED: MacRole.VERDICT,
}
"""The one role that may state each kind."""


MAX_STATEMENT_BYTES: Final = 256 * 1024
"""Most that a piece of evidence may have beside a receipt's body and a verdict, in bytes.

A verdict repeats what OPENED and receipts say, except for the bodies. Bounded so, it fits its topics, whatever a worker
that was taken over states.
"""

_WARM_UP_BYTES: Final = frozenset(
    bytes([2 * list(EvidenceKind).index(kind)]) for kind in (EvidenceKind.OPENED, EvidenceKind.DECIDED)
)


@dataclass(frozen=True, slots=True)
class EvidenceWriter:
    """States evidence under a role's key.

    Attributes:
        signer: Returns the role's signer of the moment; keys rotate while apps run.
    """

    signer: Callable[[], MacSigner]

    def write(self, evidence: Evidence) -> Output:
        """Return the record that states the evidence, keyed into its request's partition."""
        value = avro.encode(evidence)
        signature = self.signer().sign(EVIDENCE, value)
        return Output(Channel.EVIDENCE, evidence.join_key.message_key, value, signature.headers)


@dataclass(frozen=True, slots=True)
class EvidenceReader:
    """Reads evidence that its role stated.

    Attributes:
        secrets: MAC secrets by key id.
        trust: The newest trust target, which says which role each key id belongs to.
        partition_count: Partitions of the evidence topic.
    """

    secrets: Mapping[str, bytes]
    trust: Callable[[], TrustTarget]
    partition_count: int

    def read(self, record: LogRecord) -> Stated:
        """Return the authenticated statement of a record.

        Raises:
            MalformedError: The value is no Evidence, or its body is not its kind's.
            TooLargeError: It says more than a verdict could repeat.
            SignatureInvalidError: The MAC is missing or does not verify.
            SignerNotAuthorisedError: The key is not one of the role that may state this kind, or the record lies
                outside its partition.
        """
        evidence = avro.decode(record.value, Evidence)
        value = record.value or b""
        signature = Signature.from_headers(record.headers)
        self.trust().authorised_mac_key(signature.key_id, ROLE_OF_KIND[evidence.kind], record.timestamp)
        secret = self.secrets.get(signature.key_id)
        if secret is None:
            raise SignerNotAuthorisedError("no secret is held for this MAC key id; hand the new key to the verdict app")
        verify_mac(secret, signature, EVIDENCE, value)
        _check_body(evidence)
        _check_size(evidence, value)
        if partition_of(evidence.join_key.message_key, self.partition_count) != record.partition:
            raise SignerNotAuthorisedError("evidence lies in another partition than its join key's")
        return Stated(evidence, bytes_sha256(value), record.offset, record.timestamp)


def may_matter_later(value: bytes | None) -> bool:
    """Say whether a value, should it be Evidence, is an OPENED or a DECIDED, without decoding it.

    The kind is the record's first field: one zigzag byte after the header. A warm-up reads a horizon of evidence for
    these alone; what passes here is still authenticated.
    """
    return value is not None and value[avro.HEADER_BYTES : avro.HEADER_BYTES + 1] in _WARM_UP_BYTES


def _check_body(evidence: Evidence) -> None:
    bodies = (evidence.opened is not None, evidence.receipt is not None, evidence.decided is not None)
    expected = {
        EvidenceKind.OPENED: (True, False, False),
        EvidenceKind.CONSISTENCY: (False, True, False),
        EvidenceKind.SCAN: (False, True, False),
        EvidenceKind.DECIDED: (False, False, True),
    }[evidence.kind]
    if bodies != expected:
        raise MalformedError(f"evidence of kind {evidence.kind.value} carries another kind's body")
    if evidence.opened_at is not None and evidence.kind is EvidenceKind.DECIDED:
        raise MalformedError("a decision says when its request was opened")


def _check_size(evidence: Evidence, value: bytes) -> None:
    if len(value) <= MAX_STATEMENT_BYTES:
        return
    receipt = evidence.receipt
    body = 0 if receipt is None or receipt.body_json is None else len(receipt.body_json.encode("utf-8"))
    size = len(value) - body - (0 if evidence.decided is None else len(evidence.decided.verdict))
    if size > MAX_STATEMENT_BYTES:
        raise TooLargeError(f"evidence states {size} bytes beside its body, {MAX_STATEMENT_BYTES} are allowed")
