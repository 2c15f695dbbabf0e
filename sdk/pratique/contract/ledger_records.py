"""The records of the quarantine ledger's topics as frozen values, as ``pratique.contract.records`` has the others'."""

from __future__ import annotations

from dataclasses import dataclass

from pratique.contract.records import Origin


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The newest revision of one fingerprint in one scope.

    Attributes:
        replaces: The fingerprint that the same content has under an earlier key generation, where it was carried over.
    """

    record_json: str
    revision: int
    event_id: str
    previous_event_id: str | None
    key_generation: str
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A transition of the ledger, or an authenticated refusal of one.

    Attributes:
        accepted: Whether what was commanded stands; with a reason code it stood already (an exact replay).
        record_json: The record that stands because of it; null where it is refused.
        command_json: The command; null where it is malformed.
        heads_count: Entries that the ledger partition holds after this one.
        heads_sum: Sum modulo 2^256 of the event ids of their newest revisions, 64 hexadecimal digits.
        retired: Key generations that the partition takes no more after this one, sorted.
        reviews_count: Automatic entries that the review partition has a record of after this one; -1 where not stated.
        reviews_sum: Sum modulo 2^256 of the digests of what became of them, 64 hexadecimal digits; empty likewise.
    """

    accepted: bool
    reason_code: str | None
    record_json: str | None
    command_sha256: str
    key_id: str
    command_partition: int
    command_offset: int
    command_json: str | None
    heads_count: int
    heads_sum: str
    retired: tuple[str, ...] = ()
    reviews_count: int = -1
    reviews_sum: str = ""


@dataclass(frozen=True, slots=True)
class AuditedChange:
    """What an ``AuditEntry`` says of the ledger's entries, without what it says of itself (``avro.decode_part``)."""

    accepted: bool
    reason_code: str | None
    record_json: str | None
    command_json: str | None


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """What became of an automatic entry of the quarantine ledger: the newest of one fingerprint of one tenant.

    Attributes:
        ledger_key: ``scope/segment/fingerprint``, the record's key.
        state: PENDING, EFFECTIVE, CONFIRMED, RELEASED or EXPIRED.
        origin: Which kind of verdict led to it.
        codes: The listed reason codes that were found.
        path: The field of the request that the text was.
        decided_at: When the verdict was decided.
        proposed_at: When the ledger's log took the command that follows from it.
        expires_at: When it ends without a curator's word.
        changed_at: When it came to this state.
        revision: The ledger entry's revision of this state; 0 where there is no entry.
    """

    ledger_key: str
    state: str
    origin: Origin
    policy_id: str
    policy_version: str
    detector_version: str
    key_generation: str
    codes: tuple[str, ...]
    verdict_id: str
    request_sha256: str
    path: str
    incident_id: str
    decided_at: int
    proposed_at: int
    expires_at: int
    changed_at: int
    revision: int
