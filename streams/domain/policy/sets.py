"""The policy set: which documents belong together, under which digest.

The contract: a set is a map, ``pratique.policy-set.v1``, from document kind to content-addressed path and digest. The
set's digest is the canonical digest of its map. A tenant's standing commitments are an entry more, so that the
*effective* set of a tenant has a digest of its own, while its base (the map without that entry) is what the operator
published. Every document is canonical JSON, so a document's file digest, its canonical digest and the digest in its
path are one.

Obtaining the bytes is the policy store's; nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pratique.contract.canonical import (
    JsonValue,
    bytes_sha256,
    canonical_bytes,
    canonical_json,
    canonical_sha256,
    parse_json,
)
from pratique.contract.document import HEX64, SAFE_ID, Fields
from pratique.errors import MalformedError
from streams.domain.policy.documents import (
    MIN_DEADLINE_MS,
    commitment_snapshot,
    compaction_policy,
    field_roots,
    invariant_manifest,
    recall_policy,
    scan_policy,
)
from streams.domain.policy.model import CommitmentSnapshot, PolicySet
from streams.errors import PolicyError

SET_SCHEMA_VERSION: Final = "pratique.policy-set.v1"
CURRENT_SCHEMA_VERSION: Final = "pratique.current-policy.v1"
STANDING_SCHEMA_VERSION: Final = "pratique.standing-commitments.v1"

MAX_MAP_BYTES: Final = 16 * 1024
MAX_DOCUMENT_BYTES: Final = 2 * 1024 * 1024
"""Largest policy document, in bytes; the grammar is the largest there is."""

_CURRENT: Final = "current/"


class DocumentKind(Enum):
    """What a set is made of; the value is the key in its map."""

    COMPACTION = "compaction"
    INVARIANTS = "invariants"
    GRAMMAR = "grammar"
    SCAN = "scan"
    RECALL = "recall"
    COMMITMENTS = "commitments"


BASE_KINDS: Final = tuple(kind for kind in DocumentKind if kind is not DocumentKind.COMMITMENTS)


@dataclass(frozen=True, slots=True)
class SetMap:
    """A set's map.

    Attributes:
        documents: Digest of each document, the standing commitments' included where there are some.
        tenant_id: Whose standing commitments they are; null where there are none.
    """

    policy_id: str
    documents: Mapping[DocumentKind, str]
    tenant_id: str | None

    def path(self, kind: DocumentKind) -> str:
        """Return a document's path among the repository's targets."""
        return document_path(kind, self.documents[kind], self.tenant_id)

    @property
    def value(self) -> dict[str, JsonValue]:
        """The map as JSON."""
        return {
            "schema_version": SET_SCHEMA_VERSION,
            "policy_id": self.policy_id,
            "documents": {
                kind.value: {"path": self.path(kind), "sha256": digest} for kind, digest in self.documents.items()
            },
        }

    @property
    def sha256(self) -> str:
        """The set's digest."""
        return canonical_sha256(self.value)

    @property
    def text(self) -> str:
        """The map as canonical JSON."""
        return canonical_json(self.value)

    @property
    def base(self) -> SetMap:
        """The set as its operator published it, without a tenant's standing commitments."""
        if self.tenant_id is None:
            return self
        return SetMap(self.policy_id, {kind: self.documents[kind] for kind in BASE_KINDS}, None)

    def with_standing(self, tenant_id: str, snapshot_sha256: str) -> SetMap:
        """Return the tenant's effective set: this base and the tenant's standing commitments."""
        documents = {**self.base.documents, DocumentKind.COMMITMENTS: snapshot_sha256}
        return SetMap(self.policy_id, documents, tenant_id)


@dataclass(frozen=True, slots=True)
class StandingPointer:
    """Which standing commitments a tenant has now, and for which compaction policy."""

    tenant_id: str
    policy_id: str
    policy_sha256: str
    snapshot_sha256: str

    @property
    def value(self) -> dict[str, JsonValue]:
        """The pointer as JSON."""
        return {
            "schema_version": STANDING_SCHEMA_VERSION,
            "tenant_id": self.tenant_id,
            "policy_id": self.policy_id,
            "policy_sha256": self.policy_sha256,
            "snapshot_sha256": self.snapshot_sha256,
        }


def document_path(kind: DocumentKind, sha256: str, tenant_id: str | None = None) -> str:
    """Return the content-addressed path of a document.

    Raises:
        PolicyError: Standing commitments without a tenant.
    """
    if kind is not DocumentKind.COMMITMENTS:
        return f"{kind.value}/{sha256}.json"
    if tenant_id is None:
        raise PolicyError("policy set: standing commitments name no tenant")
    return f"tenants/{tenant_id}/{sha256}.json"


def set_path(policy_set_sha256: str) -> str:
    """Return the path of a base set's map."""
    return f"sets/{policy_set_sha256}.json"


def current_path(policy_id: str) -> str:
    """Return the path of the pointer to a policy's newest base set.

    Raises:
        PolicyError: The id is not safe in a path.
    """
    return f"{_CURRENT}{_safe(policy_id, 'policy_id')}.json"


def policy_ids(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of the policies whose pointers are among a repository's paths, in their order."""
    return tuple(path.removeprefix(_CURRENT).removesuffix(".json") for path in paths if path.startswith(_CURRENT))


def standing_path(tenant_id: str, policy_id: str) -> str:
    """Return the path of the pointer to a tenant's standing commitments under a policy.

    Raises:
        PolicyError: An id is not safe in a path.
    """
    return f"tenants/{_safe(tenant_id, 'tenant_id')}/current-{_safe(policy_id, 'policy_id')}.json"


def current_pointer(policy_id: str, policy_set_sha256: str) -> dict[str, JsonValue]:
    """Return the pointer to a policy's newest base set, as JSON."""
    return {
        "schema_version": CURRENT_SCHEMA_VERSION,
        "policy_id": policy_id,
        "policy_set_sha256": policy_set_sha256,
    }


def read_current_pointer(value: JsonValue, policy_id: str) -> str:
    """Return the digest of the base set that a policy's pointer names.

    Raises:
        PolicyError: It is no pointer, or one of another policy.
    """
    fields = Fields(value, "current policy", ("schema_version", "policy_id", "policy_set_sha256"), PolicyError)
    fields.literal("schema_version", CURRENT_SCHEMA_VERSION)
    fields.literal("policy_id", policy_id)
    return fields.sha256("policy_set_sha256")


def read_standing_pointer(value: JsonValue, tenant_id: str, policy_id: str) -> StandingPointer:
    """Read the pointer to a tenant's standing commitments.

    Raises:
        PolicyError: It is no pointer, or one of another tenant or policy.
    """
    expected = ("schema_version", "tenant_id", "policy_id", "policy_sha256", "snapshot_sha256")
    fields = Fields(value, "standing commitments", expected, PolicyError)
    fields.literal("schema_version", STANDING_SCHEMA_VERSION)
    fields.literal("tenant_id", tenant_id)
    fields.literal("policy_id", policy_id)
    return StandingPointer(tenant_id, policy_id, fields.sha256("policy_sha256"), fields.sha256("snapshot_sha256"))


def read_set_map(text: str | bytes, policy_set_sha256: str) -> SetMap:
    """Read a set's map and hold it against the set's digest.

    Raises:
        PolicyError: It is no map, not canonical, names a path that is not its digest's, or has another digest.
    """
    value = read_document(text.encode("utf-8") if isinstance(text, str) else text, policy_set_sha256, "policy set")
    fields = Fields(value, "policy set", ("schema_version", "policy_id", "documents"), PolicyError)
    fields.literal("schema_version", SET_SCHEMA_VERSION)
    documents = fields.raw("documents")
    kinds = [kind.value for kind in BASE_KINDS]
    if isinstance(documents, Mapping) and DocumentKind.COMMITMENTS.value in documents:
        kinds.append(DocumentKind.COMMITMENTS.value)
    entries = Fields(documents, "policy set: documents", kinds, PolicyError)
    digests: dict[DocumentKind, str] = {}
    tenant_id: str | None = None
    for name in kinds:
        entry = Fields(entries.raw(name), f"policy set: {name}", ("path", "sha256"), PolicyError)
        kind, digest, path = DocumentKind(name), entry.sha256("sha256"), entry.text("path", max_characters=512)
        if kind is DocumentKind.COMMITMENTS:
            parts = path.split("/")
            tenant_id = parts[1] if len(parts) == 3 and SAFE_ID.fullmatch(parts[1]) else None  # noqa: PLR2004 - tenants/<tenant>/<file>
        if path != document_path(kind, digest, tenant_id):
            raise entry.refusal("path", "is not the path of its digest")
        digests[kind] = digest
    return SetMap(fields.identifier("policy_id"), digests, tenant_id)


def read_document(document: bytes, sha256: str, name: str, *, max_bytes: int = MAX_DOCUMENT_BYTES) -> JsonValue:
    """Parse a content-addressed document.

    Raises:
        PolicyError: The bytes have another digest, or are not canonical JSON within ``max_bytes``.
    """
    if HEX64.fullmatch(sha256) is None or bytes_sha256(document) != sha256:
        raise PolicyError(f"{name}: its bytes do not have the digest it is named by")
    return read_canonical(document, name, max_bytes=max_bytes)


def read_canonical(document: bytes, name: str, *, max_bytes: int = MAX_DOCUMENT_BYTES) -> JsonValue:
    """Parse a document that must be canonical JSON.

    Raises:
        PolicyError: It is none, or larger than ``max_bytes``.
    """
    try:
        value = parse_json(document, max_bytes=max_bytes)
        canonical = canonical_bytes(value)
    except MalformedError as error:
        raise PolicyError(f"{name}: {error}") from None
    if canonical != document:
        raise PolicyError(f"{name}: is not canonical JSON")
    return value


def build_policy_set(
    set_map: SetMap,
    documents: Mapping[DocumentKind, bytes],
    *,
    version: int,
    min_deadline_ms: int = MIN_DEADLINE_MS,
) -> PolicySet:
    """Build a set from its map and its documents' bytes, every one checked on its own and against the others.

    Args:
        set_map: The map.
        documents: The bytes of every document that the map names.
        version: TUF snapshot version they were obtained under.
        min_deadline_ms: Shortest accepted deadline.

    Raises:
        PolicyError: A document is missing, has another digest, breaks its schema, or belongs to another policy.
    """
    missing = sorted(kind.value for kind in set_map.documents if kind not in documents)
    if missing:
        raise PolicyError(f"policy set: document {missing[0]} is missing")
    parsed = {
        kind: read_document(documents[kind], digest, f"{kind.value} document")
        for kind, digest in set_map.documents.items()
    }
    compaction = compaction_policy(parsed[DocumentKind.COMPACTION], min_deadline_ms=min_deadline_ms)
    invariants = invariant_manifest(parsed[DocumentKind.INVARIANTS])
    scan = scan_policy(parsed[DocumentKind.SCAN])
    standing: CommitmentSnapshot | None = None
    if DocumentKind.COMMITMENTS in parsed:
        standing = commitment_snapshot(parsed[DocumentKind.COMMITMENTS])
    _check_grammar(parsed[DocumentKind.GRAMMAR])
    if scan.field_roots != field_roots(compaction.assurance):
        raise PolicyError(f"scan policy: field field_roots is not that of assurance {compaction.assurance.value}")
    if compaction.policy_id != set_map.policy_id:
        raise PolicyError("compaction policy: field policy_id is not the policy set's")
    for name, digest in (
        ("invariant manifest", invariants.policy_sha256),
        ("scan policy", scan.policy_sha256),
        ("commitment snapshot", standing.policy_sha256 if standing else compaction.policy_sha256),
    ):
        if digest != compaction.policy_sha256:
            raise PolicyError(f"{name}: field policy_sha256 is not the compaction policy's digest")
    if scan.timeout_ms > compaction.deadline_ms:
        raise PolicyError("scan policy: field timeout_ms is longer than the compaction policy's deadline_ms")
    if standing is not None and not compaction.standing_commitments:
        raise PolicyError("policy set: has standing commitments, which the compaction policy does not apply")
    return PolicySet(
        policy_set_sha256=set_map.sha256,
        set_map=set_map.text,
        policy_id=set_map.policy_id,
        version=version,
        compaction=compaction,
        invariants=invariants,
        grammar=documents[DocumentKind.GRAMMAR],
        grammar_sha256=set_map.documents[DocumentKind.GRAMMAR],
        scan=scan,
        recall=recall_policy(parsed[DocumentKind.RECALL]),
        standing=standing,
        standing_tenant_id=set_map.tenant_id,
    )


def _check_grammar(value: JsonValue) -> None:
    # Its schema is compaction's; here it only has to say which it is.
    if not isinstance(value, Mapping) or not isinstance(value.get("schema_version"), str):
        raise PolicyError("grammar document: field schema_version is missing")


def _safe(identifier: str, name: str) -> str:
    if SAFE_ID.fullmatch(identifier) is None:
        raise PolicyError(f"{name} is no identifier of letters, digits, '.', '_', '-' (at most 128)")
    return identifier
