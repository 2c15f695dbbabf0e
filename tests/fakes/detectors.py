"""Detectors that do what a text tells them to: find, hang, crash, break. Worker processes import their factories."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pratique.contract.canonical import canonical_sha256
from streams.adapters.names.detector import NamesDetector
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import DetectorManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import DetectorError, LanguageUnsupportedError

SCRIPTED: Final = "tests.fakes.detectors:scripted"
CHANGED: Final = "tests.fakes.detectors:changed"
FAILING: Final = "tests.fakes.detectors:failing"
HANGING: Final = "tests.fakes.detectors:hanging"
NAMES: Final = "tests.fakes.detectors:names"

HANG: Final = "<hang>"
CRASH: Final = "<crash>"
BREAK: Final = "<break>"
REFUSE: Final = "<refuse>"
STRAY: Final = "<stray>"

_FOUND: Final = re.compile(r"<(secret|pii|injection|hidden_text)>")
_CRASH_ONCE: Final = re.compile(r"<crash unless (\S+)>")


def crash_once(flag: Path) -> str:
    """Return a text that kills the process that reads it, unless another has died of it before."""
    return f"<crash unless {flag}>"


class ScriptedDetector:
    """Finds ``<secret>`` and the like, and obeys the other marks above."""

    def __init__(self, version: str = "1") -> None:
        self._version = version

    @property
    def manifest(self) -> DetectorManifest:
        return DetectorManifest("scripted", self._version, canonical_sha256(["scripted"]), {})

    def check(self, profile: ScanProfile) -> None:
        if not {"en", "de"}.issuperset(profile.language_profiles):
            raise LanguageUnsupportedError("no such language")
        if "UNHEARD_OF" in profile.entity_types:
            raise DetectorError("no such entity type")

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002 - it is scripted
        findings = []
        for field in fields:
            _obey(field.value)
            for mark in _FOUND.finditer(field.value):
                category = Category[mark.group(1).upper()]
                findings.append(Finding(category, "scripted", "mark", field.path, mark.start(), mark.end(), 0.9))
            if STRAY in field.value:
                findings.append(Finding(Category.PII, "scripted", "stray", "elsewhere", 0, 1, 0.9))
        return findings


def _obey(text: str) -> None:
    if HANG in text:
        threading.Event().wait()
    if CRASH in text:
        os.kill(os.getpid(), signal.SIGKILL)
    once = _CRASH_ONCE.search(text)
    if once and not Path(once.group(1)).exists():
        Path(once.group(1)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if BREAK in text:
        raise RuntimeError(text)
    if REFUSE in text:
        raise DetectorError("refused")


def scripted() -> tuple[ScriptedDetector, ...]:
    """The detector at its first version."""
    return (ScriptedDetector(),)


def changed() -> tuple[ScriptedDetector, ...]:
    """The same with another version."""
    return (ScriptedDetector("2"),)


def names() -> tuple[NamesDetector, ...]:
    """The real detector by language models, alone."""
    return (NamesDetector(),)


def failing() -> tuple[ScriptedDetector, ...]:
    """Detectors that do not load."""
    raise RuntimeError("rules are gone")


def hanging() -> tuple[ScriptedDetector, ...]:
    """Detectors that never finish loading."""
    threading.Event().wait()
    return ()
