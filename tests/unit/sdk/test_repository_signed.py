"""Policy that is rightly signed, and yet none that may be rendered: the client refuses it and says where it is wrong.

Publishing checks all of this first. A signer whose tools do not is no reason to render what nobody meant.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from pratique.contract.canonical import JsonValue, bytes_sha256, canonical_bytes, canonical_sha256
from pratique.policy.errors import PolicyError
from pratique.repository import RepositoryPolicies
from streams.domain.policy.sets import (
    DocumentKind,
    SetMap,
    current_path,
    current_pointer,
    document_path,
    read_set_map,
    set_path,
)
from tests.fakes.policy import NOW_MS, PolicyWorld, make_development_set

TENANT: Final = "tenant-without-commitments"

Documents = dict[str, Any]
"""The documents that a client reads, by kind, as JSON or as whatever bytes."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("policy") / "set"
    make_development_set(directory)
    return directory


@pytest.fixture
def world(made: Path, tmp_path: Path) -> PolicyWorld:
    return PolicyWorld(Path(shutil.copytree(made, tmp_path / "set")))


def pinned(world: PolicyWorld, policy_id: str = "default") -> str:
    return RepositoryPolicies(world.reader(), world.clock).pinned(TENANT, policy_id).policy_set_sha256


def publish(world: PolicyWorld, change: Callable[[Documents], object]) -> str:
    """Publish the set with its documents changed, all of it signed by those who may; return its digest."""
    current = world.store().pin(TENANT, "default")
    kinds = (DocumentKind.COMPACTION, DocumentKind.INVARIANTS)
    digests = dict(read_set_map(current.set_map, current.policy_set_sha256).documents)
    documents = {
        kind.value: json.loads(world.target_file(document_path(kind, digests[kind])).read_bytes()) for kind in kinds
    }
    change(documents)
    targets: dict[str, bytes] = {}
    for kind in kinds:
        value = documents[kind.value]
        content = value if isinstance(value, bytes) else canonical_bytes(value)
        digests[kind] = bytes_sha256(content)
        targets[document_path(kind, digests[kind])] = content
    return publish_map(world, SetMap("default", digests, None).value, targets)


def publish_map(world: PolicyWorld, value: JsonValue, targets: Mapping[str, bytes]) -> str:
    sha256 = canonical_sha256(value)
    pointer = canonical_bytes(current_pointer("default", sha256))
    world.tuf.publish({**targets, set_path(sha256): canonical_bytes(value), current_path("default"): pointer}, NOW_MS)
    return sha256


def compaction(**changes: object) -> Callable[[Documents], object]:
    """Change the compaction policy, and have the manifest be of it."""

    def change(documents: Documents) -> None:
        documents["compaction"] |= changes
        documents["invariants"]["policy_sha256"] = canonical_sha256(documents["compaction"])

    return change


REFUSED: Final[Mapping[str, tuple[Callable[[Documents], object], str]]] = {
    "manifest of another policy": (
        lambda documents: documents["compaction"].update(summary_min_length=99),
        "invariant manifest: field policy_sha256",
    ),
    "no instruction": (compaction(trusted_instruction=None), "field trusted_instruction is no text"),
    "blank instruction": (compaction(trusted_instruction=" \n"), "field trusted_instruction is no text"),
    "no message kept": (compaction(fallback_message_count=0), "field fallback_message_count is no positive"),
    "a truth for a count": (compaction(fallback_message_count=True), "field fallback_message_count is no positive"),
    "a fraction for a count": (compaction(deadline_ms=1.5), "field deadline_ms is no positive"),
    "a text for a count": (compaction(summary_min_length="40"), "field summary_min_length is no positive"),
    "policy that is no JSON": (lambda documents: documents.update(compaction=b"{"), "compaction/.* is not JSON"),
    "policy that is no object": (lambda documents: documents.update(compaction=b"[]"), "is no JSON object"),
    "policy with a key twice": (
        lambda documents: documents.update(compaction=b'{"deadline_ms":1,"deadline_ms":2}'),
        "repeats a key",
    ),
    "manifest that is no object": (lambda documents: documents.update(invariants=b"1"), "is no JSON object"),
}


def test_what_is_changed_and_right_is_read(world: PolicyWorld) -> None:
    assert publish(world, compaction(summary_min_length=99)) == pinned(world)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_signed_and_wrong_is_refused(world: PolicyWorld, name: str) -> None:
    change, message = REFUSED[name]
    publish(world, change)
    with pytest.raises(PolicyError, match=message):
        pinned(world)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (None, "document compaction is missing"),
        ({}, "document compaction is missing"),
        ({"compaction": "5" * 64}, "document compaction is missing"),
        ({"compaction": {"sha256": "5" * 63}}, "field sha256 is no SHA-256"),
        ({"compaction": {"sha256": "A" * 64}}, "field sha256 is no SHA-256"),
        ({"compaction": {}}, "field sha256 is no SHA-256"),
    ],
)
def test_a_map_that_names_no_documents_is_refused(world: PolicyWorld, documents: JsonValue, message: str) -> None:
    publish_map(world, {"policy_id": "default", "documents": documents}, {})
    with pytest.raises(PolicyError, match=message):
        pinned(world)


def test_another_policys_set_is_refused(world: PolicyWorld) -> None:
    sha256 = pinned(world)
    world.tuf.publish({current_path("other"): canonical_bytes(current_pointer("other", sha256))}, NOW_MS)
    with pytest.raises(PolicyError, match="another policy's"):
        pinned(world, "other")
    assert pinned(world) == sha256
