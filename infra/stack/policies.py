"""Further policies beside the default one in a demo policy repository, and what an attacker does to one of them.

The contract: a variant is the default policy's source under another id, published by the same roles as `pratique policy
publish` does it; trust stays as it is. Publish before the apps start, or they learn of it at their next refresh.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from infra.stack.processes import write_json
from pratique.contract.canonical import JsonValue
from pratique.errors import ConfigurationError
from streams.domain.policy.scan_rules import NO_RULES, scan_rules
from topologies.bootstrap.policy import Publication, ScannerIdentity, publish_policy

SCAN_TARGETS: Final = "scan/"


def publish_variant(
    policy: Path,
    policy_id: str,
    *,
    min_deadline_ms: int,
    recall: Mapping[str, JsonValue] | None = None,
    scan: Mapping[str, JsonValue] | None = None,
    **changes: JsonValue,
) -> Publication:
    """Publish the default policy under another id, pinning the scanner that the default policy pins.

    Args:
        policy: Folder of the policy set, as ``pratique policy init`` lays it out.
        policy_id: The variant's id.
        min_deadline_ms: Shortest deadline that is accepted here (``PRATIQUE_MIN_DEADLINE_MS`` of the apps).
        recall: Fields of the recall policy to change.
        scan: Fields of the scan policy to change.
        **changes: Fields of the compaction policy to change, ``deadline_ms`` for one.

    Raises:
        ConfigurationError: The folder holds no such set, or it can't be written.
        PolicyError: The variant says something it may not.
    """
    with tempfile.TemporaryDirectory(prefix="pratique-policy-") as folder:
        source = Path(folder)
        shutil.copytree(policy / "source", source, dirs_exist_ok=True, ignore=shutil.ignore_patterns("trust.json"))
        compaction = _read(source / "compaction.json")
        write_json(source / "compaction.json", {**compaction, "policy_id": policy_id, **changes})
        write_json(source / "recall.json", {**_read(source / "recall.json"), **(recall or {})})
        write_json(source / "scan.json", {**_read(source / "scan.json"), **(scan or {})})
        publication, _ = publish_policy(
            policy / "repository",
            policy / "tuf-keys",
            source,
            scanner=_pinned_scanner(policy),
            min_deadline_ms=min_deadline_ms,
        )
    if publication is None:
        raise TypeError("a source was given, so something was published")
    return publication


def weaken_scan_policy(policy: Path, publication: Publication) -> Path:
    """Do as an attacker who can write the repository's files but has no key: have the scan look for less.

    The metadata still verifies; the target's bytes are no longer those that it names.

    Returns:
        The file that was changed.
    """
    (name,) = [path for path in publication.targets if path.startswith(SCAN_TARGETS)]
    (file,) = (policy / "repository" / "targets" / SCAN_TARGETS).glob(f"*.{name.removeprefix(SCAN_TARGETS)}")
    document = _read(file)
    document["entity_types"] = document["entity_types"][:1]
    write_json(file, document)
    return file


def _pinned_scanner(policy: Path) -> ScannerIdentity:
    """Return the scanner itself, from a published scan policy without rules: with them, its digest is another."""
    for path in (policy / "repository" / "targets" / SCAN_TARGETS).glob("*.json"):
        document = _read(path)
        if scan_rules(document, "scan policy") == NO_RULES:
            return ScannerIdentity(document["scanner_version"], document["scanner_sha256"])
    raise ConfigurationError(f"{policy} has no published scan policy without rules; publish the default one first")


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document
