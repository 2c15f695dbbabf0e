"""From what an operator edits to what is published.

The contract: a policy's source is a handful of JSON documents without digests; every digest of the published ones is
computed here, and every published document is read back by the very functions that workers read it with, so that
nothing is published that a worker would refuse. Source documents:

- ``compaction``, ``recall``, ``trust``, ``grammar``: as published;
- ``invariants``: {``registry_revision``, ``records`` [{``invariant_id``, ``canonical_text``, ``canonical_predicate``,
  ``record_revision``}]};
- ``commitments`` of a tenant: {``commitment_revision``, ``records`` [{``commitment_id``, and the same three}]};
- ``scan``: as published, without ``policy_sha256``; ``scanner_version`` and ``scanner_sha256`` may be left out, and are
  then those of the scanner that the caller names, configured with the document's own rules.

Reading the source's files is an adapter's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_bytes, canonical_sha256
from pratique.contract.document import SAFE_ID, Fields
from pratique.contract.trust import TRUST_PATH, parse_trust, read_trust
from pratique.errors import MalformedError
from streams.domain.policy.documents import (
    MANIFEST_SCHEMA_VERSION,
    MAX_RECORDS,
    MIN_DEADLINE_MS,
    SNAPSHOT_SCHEMA_VERSION,
    commitment_snapshot,
    compaction_policy,
)
from streams.domain.policy.model import CommitmentSnapshot, PolicySet
from streams.domain.policy.scan_rules import configured_sha256, scan_rules
from streams.domain.policy.sets import (
    DocumentKind,
    SetMap,
    StandingPointer,
    build_policy_set,
    current_path,
    current_pointer,
    document_path,
    set_path,
    standing_path,
)
from streams.errors import PolicyError

_TEXT_FIELDS: Final = ("canonical_text", "canonical_predicate", "record_revision")


@dataclass(frozen=True, slots=True)
class ScannerIdentity:
    """Which scanner a scan policy pins: its version and the digest of its manifest."""

    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PolicySource:
    """A policy as its operator edits it, parsed.

    Attributes:
        commitments: Standing commitments by tenant.
        trust: The trust target; null where this publication leaves it as it is.
    """

    compaction: JsonValue
    invariants: JsonValue
    grammar: JsonValue
    scan: JsonValue
    recall: JsonValue
    commitments: Mapping[str, JsonValue] = field(default_factory=dict)
    trust: JsonValue = None


@dataclass(frozen=True, slots=True)
class Publication:
    """What is to be published.

    Attributes:
        policy_set: The base set, as workers will read it.
        targets: Every target's bytes, by its path.
        tenants: The tenants that have standing commitments.
    """

    policy_set: PolicySet
    targets: Mapping[str, bytes]
    tenants: tuple[str, ...]


def prepare(
    source: PolicySource,
    scanner: ScannerIdentity | None,
    *,
    min_deadline_ms: int = MIN_DEADLINE_MS,
) -> Publication:
    """Return what publishing a source means.

    Args:
        source: The source.
        scanner: The scanner that the scan policy pins where it doesn't say itself.
        min_deadline_ms: Shortest accepted deadline.

    Raises:
        PolicyError: A document says something it may not; the message names document and field.
    """
    policy = compaction_policy(source.compaction, min_deadline_ms=min_deadline_ms)
    published: dict[DocumentKind, JsonValue] = {
        DocumentKind.COMPACTION: source.compaction,
        DocumentKind.INVARIANTS: _manifest(source.invariants, policy.policy_sha256),
        DocumentKind.GRAMMAR: source.grammar,
        DocumentKind.SCAN: _scan(source.scan, policy.policy_sha256, scanner),
        DocumentKind.RECALL: source.recall,
    }
    documents = {kind: _bytes(value, kind.value) for kind, value in published.items()}
    base = SetMap(policy.policy_id, {kind: canonical_sha256(value) for kind, value in published.items()}, None)
    policy_set = build_policy_set(base, documents, version=0, min_deadline_ms=min_deadline_ms)
    targets = {base.path(kind): content for kind, content in documents.items()}
    targets[set_path(base.sha256)] = base.text.encode("utf-8")
    targets[current_path(policy.policy_id)] = canonical_bytes(current_pointer(policy.policy_id, base.sha256))
    if source.commitments and not policy.standing_commitments:
        raise PolicyError("compaction policy: field standing_commitments is false, yet tenants have standing ones")
    for tenant_id, value in source.commitments.items():
        targets |= _standing_targets(tenant_id, value, policy_set)
    if source.trust is not None:
        targets[TRUST_PATH] = trust_document(source.trust)
    return Publication(policy_set, targets, tuple(sorted(source.commitments)))


def author_snapshot(value: JsonValue, policy_sha256: str) -> CommitmentSnapshot:
    """Return the commitment snapshot of a source document, under a compaction policy.

    Raises:
        PolicyError: The source says something it may not.
    """
    return commitment_snapshot(_snapshot(value, policy_sha256))


def trust_document(value: JsonValue) -> bytes:
    """Return a trust target as it is published.

    Raises:
        PolicyError: It says something it may not.
    """
    content = _bytes(value, "trust target")
    try:
        read_trust(value, sha256=canonical_sha256(value))
    except MalformedError as error:
        raise PolicyError(str(error)) from None
    return content


def refuse_older_trust(path: str, published: bytes, offered: bytes) -> None:
    """Refuse a trust target that is not newer than the published one: it would bring back keys that were revoked.

    Args:
        path: The target's path; any but the trust target's is accepted.
        published: What is published there, verified; one that no reader reads is no hindrance.
        offered: What is to be, as ``trust_document`` returns it, other than what is published.

    Raises:
        PolicyError: Its revision is lower, or the same.
    """
    if path != TRUST_PATH:
        return
    try:
        newest = parse_trust(published).revision
    except MalformedError:
        return
    revision = parse_trust(offered).revision
    if revision < newest:
        raise PolicyError(
            f"trust target: field revision is {revision}, and {newest} is published: this source is older; get the"
            f" newest trust.json, or raise revision above {newest} if all of its keys are to count again"
        )
    if revision == newest:
        raise PolicyError(
            f"trust target: field revision is {revision}, which is published with other content; expected a higher one:"
            " get the newest trust.json, change that, and raise revision"
        )


def _standing_targets(tenant_id: str, value: JsonValue, policy_set: PolicySet) -> dict[str, bytes]:
    if SAFE_ID.fullmatch(tenant_id) is None:
        raise PolicyError("standing commitments: tenant id is no identifier of letters, digits, '.', '_', '-'")
    policy_sha256 = policy_set.compaction.policy_sha256
    document = _snapshot(value, policy_sha256)
    snapshot = commitment_snapshot(document)
    pointer = StandingPointer(tenant_id, policy_set.policy_id, policy_sha256, snapshot.snapshot_sha256)
    return {
        document_path(DocumentKind.COMMITMENTS, snapshot.snapshot_sha256, tenant_id): canonical_bytes(document),
        standing_path(tenant_id, policy_set.policy_id): canonical_bytes(pointer.value),
    }


def _manifest(value: JsonValue, policy_sha256: str) -> dict[str, JsonValue]:
    fields = Fields(value, "invariants source", ("registry_revision", "records"), PolicyError)
    return {
        "schema_version": MANIFEST_SCHEMA_VERSION,
        "policy_sha256": policy_sha256,
        "registry_revision": fields.raw("registry_revision"),
        "records": _records(fields, "invariant_id"),
    }


def _snapshot(value: JsonValue, policy_sha256: str) -> dict[str, JsonValue]:
    fields = Fields(value, "commitments source", ("commitment_revision", "records"), PolicyError)
    return {
        "schema_version": SNAPSHOT_SCHEMA_VERSION,
        "policy_sha256": policy_sha256,
        "commitment_revision": fields.raw("commitment_revision"),
        "records": _records(fields, "commitment_id"),
    }


def _records(fields: Fields, identity: str) -> list[JsonValue]:
    records: list[JsonValue] = []
    for item in fields.records("records", (identity, *_TEXT_FIELDS), minimum=1, maximum=MAX_RECORDS):
        body = {name: item.raw(name) for name in (identity, *_TEXT_FIELDS)}
        records.append({**body, "record_sha256": canonical_sha256(body)})
    return records


def _scan(value: JsonValue, policy_sha256: str, scanner: ScannerIdentity | None) -> JsonValue:
    if not isinstance(value, Mapping):
        raise PolicyError("scan source: is no JSON object")
    if "policy_sha256" in value:
        raise PolicyError("scan source: field policy_sha256 is computed; leave it out")
    document = {**value, "policy_sha256": policy_sha256}
    if "scanner_version" not in value and "scanner_sha256" not in value:
        if scanner is None:
            raise PolicyError("scan source: field scanner_sha256 is missing, and no scanner was named")
        digest = configured_sha256(scanner.sha256, scan_rules(value, "scan source"))
        document |= {"scanner_version": scanner.version, "scanner_sha256": digest}
    return document


def _bytes(value: JsonValue, name: str) -> bytes:
    try:
        return canonical_bytes(value)
    except MalformedError as error:
        raise PolicyError(f"{name} document: {error}") from None
