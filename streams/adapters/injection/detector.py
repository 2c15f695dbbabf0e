"""The injection model behind the two ports that ask it: the scanner's ``Detector``, and ``PromptSafetyDetector``.

The contract: a field that the scanner is given and that scores at least ``FINDING_SCORE`` has one finding, at the
window that scored highest or, where a rule decides, at what the rule matched. The threshold is a setting in the
scanner's manifest, so policy pins it with the model. For recalled memories the score itself is the answer, and
thresholds are the recall policy's.

It knows no languages apart: a profile never narrows it, and what it can't read well is in its card.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from pratique.contract.canonical import JsonValue
from streams.adapters.injection.scorer import Scorer, load_scorer
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import DetectorManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile

NAME: Final = "injection"
"""As findings and reasons carry it."""

REVISION: Final = 4
"""Of the code that reads texts; one that scores a text otherwise has another number."""

FINDING_SCORE: Final = 0.25
"""Score from which a summary is found to steer: chosen so that honest summaries practically never reach it (card)."""

_DIGESTS: Final = "source_message_sha256s["
_SHA256: Final = re.compile(r"[0-9a-f]{64}")


class InjectionDetector:
    """Looks for text that tries to steer a model.

    Args:
        scorer: A loaded model; the packaged one where null.

    Raises:
        ConfigurationError: The packaged model can't be read.
    """

    def __init__(self, scorer: Scorer | None = None) -> None:
        self._scorer = scorer or load_scorer()
        settings: dict[str, JsonValue] = {"finding_score": FINDING_SCORE, "reads": REVISION}
        self._manifest = DetectorManifest(NAME, self._scorer.version, self._scorer.sha256, settings)

    own_views: Final = True
    """Its model has learnt from its own readings."""

    @property
    def manifest(self) -> DetectorManifest:
        """Name, model and threshold."""
        return self._manifest

    def check(self, profile: ScanProfile) -> None:
        """Accept any profile: the model has one for all languages."""

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002 - one for all
        """Return one finding for each field that scores enough."""
        findings = []
        for field in fields:
            if field.path.startswith(_DIGESTS) and _SHA256.fullmatch(field.value):
                continue  # no text, and there are many; elsewhere 64 digits may be a text of 32 characters
            found = self._scorer.assess(field.value)
            if found.score >= FINDING_SCORE:
                findings.append(
                    Finding(Category.INJECTION, NAME, found.kind, field.path, found.start, found.end, found.score)
                )
        return findings


class PromptSafety:
    """The primary detector of recalled memories.

    Args:
        scorer: A loaded model.
    """

    name = NAME

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    @property
    def revision(self) -> str:
        """What policy pins: the model by name and digest, and how it is read."""
        return f"{self._scorer.revision}.{REVISION}"

    def score(self, text: str) -> float:
        """Return how likely a text is to steer a model, 0 to 1."""
        return self._scorer.assess(text).score


@cache
def packaged() -> PromptSafety:
    """Return the packaged model as a primary detector: the default of ``PRATIQUE_PROMPT_SAFETY``.

    Raises:
        ConfigurationError: It can't be read.
    """
    return PromptSafety(load_scorer())
