"""Which scanner this is: every detector with its version, rules and settings, under one digest.

The contract: ``scanner_sha256`` changes when anything that can change a finding does. Policy pins it, so a worker
with other rules, another model, or none at all answers ERROR and never CLEAN (contract, Digests).

It says nothing about the machine: the same detectors give the same digest everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from pratique.errors import MalformedError
from streams.domain.scanning.views.limits import REVISION as VIEWS_REVISION

MANIFEST_SCHEMA_VERSION: Final = "pratique.scanner-manifest.v1"
_ENTRY_KEYS: Final = frozenset({"name", "version", "rules_sha256", "settings"})


@dataclass(frozen=True, slots=True)
class DetectorManifest:
    """One detector's entry.

    Attributes:
        name: The detector's name, as its findings carry it.
        version: Version of the engine behind it.
        rules_sha256: Canonical digest of its rules or model.
        settings: Everything else that decides what it finds; JSON.
    """

    name: str
    version: str
    rules_sha256: str
    settings: Mapping[str, JsonValue]

    def body(self) -> dict[str, JsonValue]:
        """Return the entry as the manifest lists it."""
        return {
            "name": self.name,
            "version": self.version,
            "rules_sha256": self.rules_sha256,
            "settings": dict(self.settings),
        }


@dataclass(frozen=True)  # without slots: a cached property needs a place
class ScannerManifest:
    """All detectors of a scanner, by name, and how texts are read for them.

    Attributes:
        detectors: By name.
        views: Revision of the readings that detectors are given beside the text itself.
    """

    detectors: tuple[DetectorManifest, ...]
    views: int = VIEWS_REVISION

    @classmethod
    def of(cls, entries: Sequence[DetectorManifest]) -> ScannerManifest:
        """Return the manifest of a set of detectors, which has no order.

        Raises:
            MalformedError: No detector at all, or two of one name.
        """
        names = {entry.name for entry in entries}
        if not entries or len(names) != len(entries):
            raise MalformedError("a scanner needs detectors, each with a name of its own")
        return cls(tuple(sorted(entries, key=lambda entry: entry.name)))

    @property
    def scanner_version(self) -> str:
        """The detectors and their versions, for people."""
        return " ".join(f"{entry.name}/{entry.version}" for entry in self.detectors)

    @cached_property
    def scanner_sha256(self) -> str:
        """What policy pins; asked for with every job."""
        return canonical_sha256(self.body())

    def body(self) -> dict[str, JsonValue]:
        """Return the manifest's canonical document."""
        return {
            "schema_version": MANIFEST_SCHEMA_VERSION,
            "detectors": [entry.body() for entry in self.detectors],
            "views": self.views,
        }


def read_manifest(body: JsonValue) -> ScannerManifest:
    """Read a manifest that a worker states about itself.

    Raises:
        MalformedError: It is not a ``pratique.scanner-manifest.v1`` document.
    """
    if not isinstance(body, Mapping) or body.get("schema_version") != MANIFEST_SCHEMA_VERSION:
        raise MalformedError("scanner manifest is not of its schema version")
    listed = body.get("detectors")
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise MalformedError("scanner manifest lists no detectors")
    views = body.get("views")
    if type(views) is not int:
        raise MalformedError("scanner manifest does not say how texts are read")
    return replace(ScannerManifest.of([_entry(item) for item in listed]), views=views)


def _entry(item: JsonValue) -> DetectorManifest:
    if not isinstance(item, Mapping) or set(item) != _ENTRY_KEYS:
        raise MalformedError("detector entry is not of its closed form")
    name, version, rules, settings = (item[key] for key in ("name", "version", "rules_sha256", "settings"))
    if not (isinstance(name, str) and isinstance(version, str) and isinstance(rules, str)):
        raise MalformedError("detector entry is not of its closed form")
    if not isinstance(settings, Mapping):
        raise MalformedError("detector entry is not of its closed form")
    return DetectorManifest(name, version, rules, settings)
