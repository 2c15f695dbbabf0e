"""Presidio's recognisers, instantiated for every supported language; imported by worker processes alone.

The contract: Presidio's own catalogue, enabled in full, less what needs a model or a network. Three of its defaults
would weaken a gate and are changed: a pattern that runs out of its own time is skipped there with a log line (here the
pool's time-out ends the process instead), one of its log messages quotes the text (its logger is silenced), and the
public-suffix list is fetched at first use (here it is the packaged snapshot).
"""

from __future__ import annotations

import copy
import logging
import re
import sys
from pathlib import Path
from typing import Any, Final

import presidio_analyzer
import tldextract
import yaml
from presidio_analyzer.predefined_recognizers import EmailRecognizer, PhoneRecognizer
from presidio_analyzer.recognizer_registry.recognizers_loader_utils import RecognizerListLoader

from streams.adapters.presidio_profiles import (
    EXCLUDED_PATTERNS,
    EXCLUDED_RECOGNIZERS,
    PHONE_CONTEXT,
    PHONE_REGIONS,
    SUPPORTED_LANGUAGES,
)
from streams.errors import ConfigurationError

WEAK_PHONE_SCORE: Final = 0.3
"""Score, before context, of what is as likely a date, an amount or an order number: a context word lifts it over the
threshold."""

STRONG_PHONE_DIGITS: Final = 10
"""National numbers of fewer digits are weak: ISO dates have eight, arXiv's numbers nine."""

_NO_TIMEOUT_SECONDS: Final = 86_400
_FLAGS: Final = int(re.DOTALL | re.MULTILINE | re.IGNORECASE)
_PHONE_WINDOW: Final = re.compile(
    # Not within a word, a path, a version or a hyphenated identifier.
    r"(?<![0-9A-Za-z])(?<![0-9A-Za-z][-_/.])[+(\uff0b]{0,2}\d(?:[^\w\n,$]{0,3}\d){6,16}(?![0-9A-Za-z]|[-_][0-9A-Za-z])"
)
_DOTTED_QUAD: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_INTERNATIONAL: Final = ("+", "(+", "\uff0b", "00")
_SUFFIXES: Final = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


class OfflineEmailRecognizer(EmailRecognizer):
    """Presidio's, with the packaged suffix list in place of one fetched at first use."""

    def validate_result(self, pattern_text: str) -> bool:
        """Say whether the address ends in a public suffix."""
        return bool(_SUFFIXES(pattern_text).fqdn)


class WindowedPhoneRecognizer(PhoneRecognizer):
    """Presidio's, run only where seven digits stand together, and up to the first region that knows the number.

    A bare run of digits, or a short national number, is a number like any other: alone it scores below the threshold,
    with a context word above it.
    """

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ANN401 - untyped
        """Return the telephone numbers in a text."""
        results = []
        for window in _PHONE_WINDOW.finditer(text):
            number = window.group()
            if _DOTTED_QUAD.fullmatch(number):
                continue
            for found in self._first_region(number, entities, nlp_artifacts):
                if _is_weak(number[found.start : found.end]):
                    found.score = WEAK_PHONE_SCORE
                found.start += window.start()
                found.end += window.start()
                results.append(found)
        return results

    def _first_region(self, text: str, entities: list[str], nlp_artifacts: Any) -> list[Any]:  # noqa: ANN401 - untyped
        for region in self.supported_regions:
            one = copy.copy(self)
            one.supported_regions = (region,)
            found = PhoneRecognizer.analyze(one, text, entities, nlp_artifacts)
            if found:
                return list(found)
        return []


def _is_weak(number: str) -> bool:
    if number.startswith(_INTERNATIONAL):
        return False
    return number.isdigit() or sum(character.isdigit() for character in number) < STRONG_PHONE_DIGITS


def load_recognizers() -> tuple[tuple[str, Any], ...]:
    """Return every recogniser with its language, in an order that is always the same.

    Raises:
        ConfigurationError: This Presidio lacks something that is named here: it is not the version that was tested.
    """
    logging.getLogger("presidio-analyzer").disabled = True
    _forbid_own_timeouts()
    languages = sorted(SUPPORTED_LANGUAGES)
    loaded: list[tuple[str, Any]] = [
        (str(item.supported_language), item)
        for item in RecognizerListLoader.get(_catalogue(), languages, _FLAGS)  # type: ignore[arg-type]  # annotated wrongly
    ]
    for language in languages:
        email: Any = OfflineEmailRecognizer(supported_language=language, name="EmailRecognizer")
        phone: Any = WindowedPhoneRecognizer(
            name="PhoneRecognizer",
            supported_language=language,
            supported_regions=PHONE_REGIONS[language],
            context=list(PHONE_CONTEXT[language]),
        )
        loaded += [(language, email), (language, phone)]
    _drop_patterns([item for _, item in loaded])
    return tuple(sorted(loaded, key=lambda pair: (pair[0], pair[1].name)))


def _catalogue() -> list[dict[str, Any]]:
    folder = Path(presidio_analyzer.__file__).parent
    catalogue = yaml.safe_load((folder / "conf" / "default_recognizers.yaml").read_text(encoding="utf-8"))
    names = {entry["name"] for entry in catalogue["recognizers"]}
    replaced = {"EmailRecognizer", "PhoneRecognizer"}
    if not names >= EXCLUDED_RECOGNIZERS | replaced:
        raise ConfigurationError("this Presidio's catalogue lacks a recogniser that is replaced or left out here")
    return [
        {**entry, "enabled": True}
        for entry in catalogue["recognizers"]
        if entry["name"] not in EXCLUDED_RECOGNIZERS | replaced
    ]


def _forbid_own_timeouts() -> None:
    modules: list[Any] = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("presidio_analyzer") and hasattr(module, "REGEX_TIMEOUT_SECONDS")
    ]
    if not modules:
        raise ConfigurationError(
            "this Presidio has no REGEX_TIMEOUT_SECONDS: how it bounds a pattern's time is unknown"
        )
    for module in modules:
        module.REGEX_TIMEOUT_SECONDS = _NO_TIMEOUT_SECONDS


def _drop_patterns(recognizers: list[Any]) -> None:
    dropped = set()
    for item in recognizers:
        if hasattr(item, "patterns"):
            dropped |= {(item.name, part.name) for part in item.patterns} & EXCLUDED_PATTERNS
            item.patterns = [part for part in item.patterns if (item.name, part.name) not in EXCLUDED_PATTERNS]
    if dropped != EXCLUDED_PATTERNS:
        raise ConfigurationError("this Presidio lacks a pattern that is left out here")
