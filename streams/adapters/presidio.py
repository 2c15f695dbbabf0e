"""Personal data, by Presidio's pattern recognisers: checksums and context words, no language model.

What a policy's language models find is ``streams.adapters.names``'.

The contract: every recogniser of Presidio's own catalogue that needs no model and fits the profile's languages runs
over every field. A language without a profile here, or an entity type that no recogniser of the profile finds, is
refused, never skipped; so is a field with a stretch in a script that no language of the profile has, or clearly in
another language than the profile's. Nothing is fetched: the public-suffix list is the packaged snapshot.

Its `regex` engine backtracks: texts are bounded by policy, time by the pool (ADR 0007).
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from streams.adapters.pii import context, foreign, judgement
from streams.adapters.pii.scripts import LEAST_LETTERS, LEAST_SIGNS
from streams.adapters.pii.words import EXTRA_WORDS, WORDS_INSTEAD
from streams.adapters.presidio_profiles import SUPPORTED_LANGUAGES
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import DetectorManifest
from streams.domain.scanning.population import Field
from streams.errors import DetectorError, LanguageUnsupportedError

if TYPE_CHECKING:
    from streams.adapters.pii.scanner import Scanner
    from streams.domain.scanning.request import ScanProfile

NAME: Final = "presidio"

REVISION: Final = 5
"""Raised whenever code here or beside it changes what is found; part of the manifest."""

_DISTRIBUTIONS: Final = ("presidio-analyzer", "regex", "phonenumbers", "tldextract")


class PresidioDetector:
    """Presidio's recognisers behind the detector port. Loading takes about three seconds of CPU time."""

    def __init__(self) -> None:
        # Only worker processes pay for this import: Presidio brings spaCy, numpy and requests along.
        from streams.adapters.presidio_catalogue import load_recognizers  # noqa: PLC0415

        self._recognizers = load_recognizers()
        self._select = lru_cache(maxsize=16)(self._selected)
        self._found = lru_cache(maxsize=16)(self._found_in)
        self._foreign = lru_cache(maxsize=16)(foreign.ForeignCheck)
        self._covers = lru_cache(maxsize=16)(self._covered)
        self._manifest = _manifest(self._recognizers)

    @property
    def manifest(self) -> DetectorManifest:
        """Versions of Presidio and what it stands on, and the digest of every pattern, score and context word."""
        return self._manifest

    def check(self, profile: ScanProfile) -> None:
        """Refuse a profile with a language or an entity type that nothing here covers.

        Raises:
            LanguageUnsupportedError: A language has no profile.
            DetectorError: An entity type is found by no recogniser of these languages.
        """
        if not SUPPORTED_LANGUAGES.issuperset(profile.language_profiles) or not profile.language_profiles:
            raise LanguageUnsupportedError("policy names a language without a profile; see docs/reference/scanning.md")
        others = {kind for model in profile.models for kind in model.entity_types}  # those are another detector's
        own = tuple(kind for kind in profile.entity_types if kind not in others) if others else profile.entity_types
        if (own or not others) and not self._covers(profile.language_profiles, own):
            raise DetectorError("policy names an entity type that no recogniser of its languages finds")

    def _covered(self, languages: tuple[str, ...], entity_types: tuple[str, ...]) -> bool:
        return bool(entity_types) and self._found(frozenset(languages)).issuperset(entity_types)

    def supported_entity_types(self, languages: Iterable[str]) -> tuple[str, ...]:
        """Return every entity type that the profiles of these languages can find."""
        return tuple(sorted(self._found(frozenset(languages))))

    def _found_in(self, languages: frozenset[str]) -> frozenset[str]:
        return frozenset(
            entity
            for language, item in self._recognizers
            if language in languages
            for entity in item.supported_entities
        )

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:
        """Return the personal data in the fields.

        Raises:
            LanguageUnsupportedError: A field holds a stretch in a script or language that the profile lacks.
            DetectorError: A recogniser failed; its message is not passed on, it may quote the text.
        """
        scanner = self.scanner(profile)
        languages = self._foreign(profile.language_profiles)
        findings = []
        for field in fields:
            if languages.is_foreign(field.value):
                raise LanguageUnsupportedError("a field holds text in no language of the policy")
            try:
                found = scanner.matches(field.value)
            except Exception:  # noqa: BLE001 - whatever a recogniser raises means the same: not looked at
                raise DetectorError("presidio failed") from None
            findings += [
                Finding(Category.PII, NAME, item.entity, field.path, item.start, item.end, round(item.score, 4))
                for item in found
            ]
        return findings

    def scanner(self, profile: ScanProfile) -> Scanner:
        """Return what scans for a profile; it is kept for a while."""
        return self._select(profile)

    def recognizers_of(self, profile: ScanProfile) -> list[list[Any]]:
        """Return a profile's recognisers, of each kind one for every language that it has."""
        by_kind: dict[str, list[Any]] = {}
        for language, item in self._recognizers:
            if language in profile.language_profiles and set(item.supported_entities) & set(profile.entity_types):
                by_kind.setdefault(item.name, []).append(item)
        return [by_kind[kind] for kind in sorted(by_kind)]

    def _selected(self, profile: ScanProfile) -> Scanner:
        """Return the scanner of a profile: one recogniser of a kind, with the context words of all its languages."""
        from streams.adapters.pii.scanner import Scanner  # noqa: PLC0415 - only worker processes load engines
        from streams.adapters.pii.warming import warm  # noqa: PLC0415

        scanner = Scanner(self.recognizers_of(profile))
        warm(scanner)
        return scanner


def _manifest(recognizers: Iterable[tuple[str, Any]]) -> DetectorManifest:
    rules: list[JsonValue] = [
        {
            "language": language,
            "name": item.name,
            "entities": list(item.supported_entities),
            "context": list(item.context or ()),
            "patterns": [[part.name, part.regex, part.score] for part in getattr(item, "patterns", ())],
            "flags": int(getattr(item, "global_regex_flags", 0)),
            "alone": [getattr(item, "alone", False), getattr(item, "alone_punctuated", None)],
            "regions": list(getattr(item, "supported_regions", ())),
        }
        for language, item in recognizers
    ]
    versions: dict[str, JsonValue] = {name: importlib.metadata.version(name) for name in _DISTRIBUTIONS}
    settings: dict[str, JsonValue] = {
        "score_threshold": judgement.SCORE_THRESHOLD,
        "context": [context.WORDS_BEFORE, context.WORDS_BEHIND, judgement.CONTEXT_BOOST, judgement.CONTEXT_MINIMUM],
        "form_minimum": judgement.FORM_MINIMUM,
        "pieces_of_runs": False,
        "revision": REVISION,
        "any_identifier": sorted(judgement.ANY_IDENTIFIER),
        "as_written": sorted(judgement.AS_WRITTEN),
        "extra_words": {entity: list(words) for entity, words in EXTRA_WORDS.items()},
        "words_instead": {entity: list(words) for entity, words in WORDS_INSTEAD.items()},
        "foreign_scripts": [LEAST_LETTERS, LEAST_SIGNS],
        "foreign_languages": foreign.settings(),
        "needs_a_word": sorted(judgement.NEEDS_A_WORD),
        "libraries": versions,
        "languages": sorted(SUPPORTED_LANGUAGES),
    }
    return DetectorManifest(NAME, str(versions["presidio-analyzer"]), canonical_sha256(rules), settings)
