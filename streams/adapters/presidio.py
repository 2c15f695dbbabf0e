"""Personal data, by Presidio's pattern recognisers: checksums and context words, no language model.

The contract: every recogniser of Presidio's own catalogue that needs no model and fits the profile's languages runs
over every field. A language without a profile here, or an entity type that no recogniser of the profile finds, is
refused, never skipped. Nothing is fetched: the public-suffix list is the packaged snapshot.

Its `regex` engine backtracks: texts are bounded by policy, time by the pool (ADR 0007).
"""

from __future__ import annotations

import bisect
import copy
import importlib.metadata
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from streams.adapters.presidio_profiles import SUPPORTED_LANGUAGES, WEAK_CHECKSUMS
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import DetectorManifest
from streams.domain.scanning.population import Field
from streams.errors import DetectorError, LanguageUnsupportedError

if TYPE_CHECKING:
    from streams.domain.scanning.request import ScanProfile

NAME: Final = "presidio"

REVISION: Final = 1
"""Raised whenever code here or in the catalogue changes what is found; part of the manifest."""

SCORE_THRESHOLD: Final = 0.4
"""Lowest score that is a finding: what Presidio gives a weak pattern with a context word, and a telephone number.
Measured: docs/reference/scanning.md."""

CONTEXT_BOOST: Final = 0.35
CONTEXT_MINIMUM: Final = 0.4
CONTEXT_WORDS: Final = 5
"""Presidio's own context rule (``LemmaContextAwareEnhancer``): five words before the match, its boost and minimum."""

_CONTEXT_CHARACTERS: Final = 120
_RUN_CHARACTERS: Final = 64
_SEPARATOR: Final = "\n\x00\n"
"""Between fields that are scanned as one text: NUL is neither space nor word, and in no text of the language."""

_NUMBER: Final = re.compile(r"[\d\s./-]+")
_WORD: Final = re.compile(r"\w+")
_DISTRIBUTIONS: Final = ("presidio-analyzer", "regex", "phonenumbers", "tldextract")


class PresidioDetector:
    """Presidio's recognisers behind the detector port. Loading takes about three seconds of CPU time."""

    def __init__(self) -> None:
        # Only worker processes pay for this import: Presidio brings spaCy, numpy and requests along.
        from streams.adapters.presidio_catalogue import load_recognizers  # noqa: PLC0415

        self._recognizers = load_recognizers()
        self._select = lru_cache(maxsize=16)(self._selected)
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
        unsupported = [language for language in profile.language_profiles if language not in SUPPORTED_LANGUAGES]
        if unsupported or not profile.language_profiles:
            raise LanguageUnsupportedError("policy names a language without a profile; see docs/reference/scanning.md")
        found = {entity for item in self._select(profile) for entity in item.supported_entities}
        if not profile.entity_types or not found.issuperset(profile.entity_types):
            raise DetectorError("policy names an entity type that no recogniser of its languages finds")

    def supported_entity_types(self, languages: Iterable[str]) -> tuple[str, ...]:
        """Return every entity type that the profiles of these languages can find."""
        wanted = set(languages)
        return tuple(
            sorted(
                {
                    entity
                    for language, item in self._recognizers
                    if language in wanted
                    for entity in item.supported_entities
                }
            )
        )

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:
        """Return the personal data in the fields.

        Raises:
            DetectorError: A recogniser failed; its message is not passed on, it may quote the text.
        """
        text = _SEPARATOR.join(field.value for field in fields)
        results: list[Any] = []
        try:
            for recognizer in self._select(profile):
                results.extend(_analyzed(recognizer, text))
            results = _distinct(results)
        except Exception:  # noqa: BLE001 - whatever a recogniser raises means the same: not looked at
            raise DetectorError("presidio failed") from None
        return _located(results, fields)

    def _selected(self, profile: ScanProfile) -> tuple[Any, ...]:
        """Return the recognisers of a profile: one of a kind, with the context words of all its languages."""
        by_kind: dict[str, Any] = {}
        for language, item in self._recognizers:
            if language not in profile.language_profiles or not set(item.supported_entities) & set(
                profile.entity_types
            ):
                continue
            by_kind.setdefault(item.name, []).append(item)
        return tuple(_merged(by_kind[kind]) for kind in sorted(by_kind))


def _merged(items: Sequence[Any]) -> Any:  # noqa: ANN401 - the package is untyped
    """Return one recogniser in place of the same one for several languages."""
    merged = copy.copy(items[0])
    merged.context = list(dict.fromkeys(word.lower() for item in items for word in item.context or ()))
    if hasattr(merged, "supported_regions"):
        merged.supported_regions = tuple(dict.fromkeys(code for item in items for code in item.supported_regions))
    return merged


def _analyzed(recognizer: Any, text: str) -> Iterable[Any]:  # noqa: ANN401 - the package is untyped
    for result in recognizer.analyze(text, recognizer.supported_entities, None):
        if _is_piece(text, result.start, result.end):
            continue
        if recognizer.context and _has_context(text, result.start, result.end, recognizer.context):
            result.score = min(1.0, max(result.score + CONTEXT_BOOST, CONTEXT_MINIMUM))
        elif result.entity_type in WEAK_CHECKSUMS and _NUMBER.fullmatch(text, result.start, result.end):
            continue
        if result.score >= SCORE_THRESHOLD:
            yield result


def _is_piece(text: str, start: int, end: int) -> bool:
    """Say whether a match is cut out of a longer run of letters and digits that holds further digits.

    Eleven digits in the middle of a SHA-256 can pass a checksum (of digests, 3 in 100 do); they are no one's number.
    """
    before = start
    while before > max(0, start - _RUN_CHARACTERS) and text[before - 1].isascii() and text[before - 1].isalnum():
        before -= 1
    after = end
    while after < min(len(text), end + _RUN_CHARACTERS) and text[after].isascii() and text[after].isalnum():
        after += 1
    glued_before = text[before:start] if text[start].isalnum() else ""
    glued_after = text[end:after] if text[end - 1].isalnum() else ""
    return any(character.isdigit() for character in glued_before + glued_after)


def _has_context(text: str, start: int, end: int, context: Sequence[str]) -> bool:
    """Say whether a context word stands in the match or in the words before it."""
    window = text[max(0, start - _CONTEXT_CHARACTERS) : start]
    window = window[window.rfind(_SEPARATOR) + 1 :]
    words = list(_WORD.finditer(window))
    begin = words[-CONTEXT_WORDS].start() if len(words) >= CONTEXT_WORDS else 0
    nearby = (window[begin:] + text[start : min(end, start + _CONTEXT_CHARACTERS)]).lower()
    return any(word in nearby for word in context)


def _distinct(results: list[Any]) -> list[Any]:
    from presidio_analyzer import EntityRecognizer  # noqa: PLC0415 - loaded by then

    return list(EntityRecognizer.remove_duplicates(results))


def _located(results: Iterable[Any], fields: Sequence[Field]) -> list[Finding]:
    """Give each result the field it begins in; it ends there at the latest."""
    starts = [0]
    for field in fields:
        starts.append(starts[-1] + len(field.value) + len(_SEPARATOR))
    findings = []
    for result in results:
        index = bisect.bisect_right(starts, result.start) - 1
        field, offset = fields[index], starts[index]
        end = min(result.end - offset, len(field.value))
        findings.append(
            Finding(
                Category.PII,
                NAME,
                str(result.entity_type),
                field.path,
                min(result.start - offset, end),
                end,
                round(float(result.score), 4),
            )
        )
    return findings


def _manifest(recognizers: Iterable[tuple[str, Any]]) -> DetectorManifest:
    rules: list[JsonValue] = [
        {
            "language": language,
            "name": item.name,
            "entities": list(item.supported_entities),
            "context": list(item.context or ()),
            "patterns": [[part.name, part.regex, part.score] for part in getattr(item, "patterns", ())],
            "flags": int(getattr(item, "global_regex_flags", 0)),
            "regions": list(getattr(item, "supported_regions", ())),
        }
        for language, item in recognizers
    ]
    versions: dict[str, JsonValue] = {name: importlib.metadata.version(name) for name in _DISTRIBUTIONS}
    settings: dict[str, JsonValue] = {
        "score_threshold": SCORE_THRESHOLD,
        "context": [CONTEXT_WORDS, CONTEXT_BOOST, CONTEXT_MINIMUM],
        "pieces_of_runs": False,
        "revision": REVISION,
        "weak_checksums": sorted(WEAK_CHECKSUMS),
        "libraries": versions,
        "languages": sorted(SUPPORTED_LANGUAGES),
    }
    return DetectorManifest(NAME, str(versions["presidio-analyzer"]), canonical_sha256(rules), settings)
