"""Hidden text behind the detector port: characters that carry or hide what a reader does not see.

The contract: every finding of ``streams.domain.scanning.hidden`` is one of category HIDDEN_TEXT. It sees the text as it
stands, and no other reading of it: what is hidden is hidden there. It knows no languages apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pratique.contract.canonical import canonical_sha256
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.hidden import FEWEST_IN_WORDS, REVISION, SHORTEST_RUN, hidden_text
from streams.domain.scanning.manifest import DetectorManifest
from streams.domain.scanning.population import Field

if TYPE_CHECKING:
    from streams.domain.scanning.request import ScanProfile

NAME: Final = "hidden"


class HiddenTextDetector:
    """Looks for characters that hide text."""

    own_views: Final = True
    """What is hidden is so in the text as it stands."""

    @property
    def manifest(self) -> DetectorManifest:
        """Name, revision and thresholds."""
        settings = {"shortest_run": SHORTEST_RUN, "fewest_in_words": FEWEST_IN_WORDS}
        return DetectorManifest(NAME, str(REVISION), canonical_sha256(settings), settings)

    def check(self, profile: ScanProfile) -> None:
        """Accept any profile: characters have no language."""

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002 - no profile applies
        """Return what is hidden in each field."""
        return [
            Finding(Category.HIDDEN_TEXT, NAME, found.kind, field.path, found.start, found.end, found.score)
            for field in fields
            for found in hidden_text(field.value)
        ]
