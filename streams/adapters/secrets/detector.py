"""Secrets that a scanner of repositories leaves out and a gate of memories may not: the detector ``secrets``.

The contract: it finds what the rule families of ``rules/`` describe, and what Kingfisher's own rules describe without
their thresholds (``relaxed``), and drops what stands where a secret would stand (``judging``), what is called a
digest (``digests``), and what rests on letters of encoded data alone (``chance``). One finding a place:
what lies within another finding is not repeated. Matching is linear in the text.

It decodes nothing and knows nothing of disguises: that is the business of the views that it is given as fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from streams.adapters.kingfisher import character_offsets
from streams.adapters.secrets.digests import is_digest
from streams.adapters.secrets.families import Families, Family, Judging, Match, load_families
from streams.adapters.secrets.judging import is_secret
from streams.adapters.secrets.relaxed import PREFIX, RelaxedCatalogue
from streams.adapters.secrets.words import FILLER, METADATA
from streams.domain.scanning.chance import Doubts
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import DetectorManifest
from streams.errors import DetectorError

if TYPE_CHECKING:
    from streams.domain.scanning.population import Field
    from streams.domain.scanning.request import ScanProfile

NAME: Final = "secrets"

REVISION: Final = 7
"""Raised whenever code here or in what it imports changes what is found; part of the manifest."""

_WARMING_BYTES: Final = 2000
SCORE: Final = 0.8
"""Of every finding: the rules say what something is, not how likely it still opens a door."""


class SecretsDetector:
    """The rule families and the relaxed catalogue behind the detector port."""

    def __init__(self) -> None:
        families = load_families()
        self._families = Families(families)
        self._catalogue = RelaxedCatalogue()
        self._manifest = _manifest(families, self._catalogue)
        self._warm()

    def _warm(self) -> None:
        """Have RE2 build its automata: workers that are forked later share them."""
        for item in files("streams.adapters.secrets").iterdir():
            if item.name.endswith(".py"):
                text = item.read_bytes()
                for start in range(0, len(text), _WARMING_BYTES):
                    self._families.warm(text[start : start + _WARMING_BYTES])

    @property
    def manifest(self) -> DetectorManifest:
        """The digest of every rule, of the words that fill in for secrets, and of the relaxed catalogue."""
        return self._manifest

    def check(self, profile: ScanProfile) -> None:
        """Secrets have no profile: the rules of every language always run."""

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002 - no profile applies
        """Return the secrets in each field.

        Raises:
            DetectorError: The engine failed; its own message is not passed on, it may quote the text.
        """
        judging = cache(is_secret)  # a text's readings hold mostly the same values; nothing is kept beyond them
        doubts = Doubts(sum(len(field.value) for field in fields))
        return [finding for field in fields for finding in self._scan(field, judging, doubts)]

    def _scan(self, field: Field, judging: Judging, doubts: Doubts) -> Iterator[Finding]:
        text = field.value.encode("utf-8")
        try:
            matches = list(self._families.matches(text, judging))
            matches += self._catalogue.matches(text)
            kept = outermost([match for match in matches if self._is_shown(match, text, judging, doubts)])
        except Exception:  # noqa: BLE001 - whatever native code raises means the same: not looked at
            raise DetectorError("secrets failed") from None
        if not kept:
            return
        offsets = character_offsets(field.value, [(match.start, match.end) for match in kept])
        for match in kept:
            yield Finding(
                Category.SECRET, NAME, match.rule, field.path, offsets[match.start], offsets[match.end], SCORE
            )

    def _is_shown(self, match: Match, text: bytes, judging: Judging, doubts: Doubts) -> bool:
        """Whether a match is no digest, and rests on more than chance."""
        if is_digest(text, match.start, match.end):
            return False
        asked = self._catalogue if match.rule.startswith(PREFIX) else self._families.rule(match.rule)

        def is_found(part: bytes, first: int) -> bool:
            wanted = Match(match.rule, match.start - first, match.end - first)
            return wanted in asked.matches(part, judging=judging)

        return doubts.confirm(text, match.start, match.end, is_found)


def outermost(matches: Sequence[Match]) -> list[Match]:
    """Return the matches that lie within no other, in the order of the text; of equal ones the first."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda item: (item.start, -item.end)):
        if not kept or match.end > kept[-1].end:
            kept.append(match)
    return kept


def _manifest(families: Sequence[Family], catalogue: RelaxedCatalogue) -> DetectorManifest:
    rules: dict[str, JsonValue] = {
        "families": [family.body for family in families],
        "catalogue": catalogue.body,
        "filler": sorted(FILLER),
        "metadata": sorted(METADATA),
    }
    settings: dict[str, JsonValue] = {
        "revision": REVISION,
        "families": len(families),
        "rules": sum(len(family.rules) for family in families),
        "catalogue_rules": catalogue.size,
    }
    return DetectorManifest(NAME, catalogue.version, canonical_sha256(rules), settings)
