"""Presidio's recognisers, instantiated for every supported language; imported by worker processes alone.

The contract: Presidio's own catalogue, enabled in full, less what needs a model or a network. Three of its defaults
would weaken a gate and are changed: a pattern that runs out of its own time is skipped there with a log line (here the
pool's time-out ends the process instead), one of its log messages quotes the text (its logger is silenced), and the
public-suffix list is fetched at first use (here it is the packaged snapshot).
"""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import Any, Final

import presidio_analyzer
import tldextract
import yaml
from presidio_analyzer.predefined_recognizers import EmailRecognizer
from presidio_analyzer.recognizer_registry.recognizers_loader_utils import RecognizerListLoader

from streams.adapters.pii.recognizers import TelephoneRecognizer, ZaLineRecognizer, own_recognizers
from streams.adapters.presidio_profiles import (
    EXCLUDED_PATTERNS,
    EXCLUDED_RECOGNIZERS,
    PHONE_CONTEXT,
    PHONE_REGIONS,
    SUPPORTED_LANGUAGES,
)
from streams.errors import ConfigurationError

_NO_TIMEOUT_SECONDS: Final = 86_400
_FLAGS: Final = int(re.DOTALL | re.MULTILINE | re.IGNORECASE)
_REPLACED: Final = {"EmailRecognizer", "PhoneRecognizer", "ZaMobileNumberRecognizer", "ZaTelephoneNumberRecognizer"}
_SUFFIXES: Final = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


class OfflineEmailRecognizer(EmailRecognizer):
    """Presidio's, with the packaged suffix list in place of one fetched at first use."""

    def validate_result(self, pattern_text: str) -> bool:
        """Say whether the address ends in a public suffix."""
        return bool(_SUFFIXES(pattern_text).fqdn)


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
        phone: Any = TelephoneRecognizer(language, PHONE_REGIONS[language], PHONE_CONTEXT[language])
        loaded += [(language, email), (language, phone)]
    loaded += [("en", ZaLineRecognizer(entity)) for entity in ZaLineRecognizer.LINES]
    loaded += own_recognizers(SUPPORTED_LANGUAGES)
    _drop_patterns([item for _, item in loaded])
    return tuple(sorted(loaded, key=lambda pair: (pair[0], pair[1].name)))


def _catalogue() -> list[dict[str, Any]]:
    folder = Path(presidio_analyzer.__file__).parent
    catalogue = yaml.safe_load((folder / "conf" / "default_recognizers.yaml").read_text(encoding="utf-8"))
    names = {entry["name"] for entry in catalogue["recognizers"]}
    if not names >= EXCLUDED_RECOGNIZERS | _REPLACED:
        raise ConfigurationError("this Presidio's catalogue lacks a recogniser that is replaced or left out here")
    return [
        {**entry, "enabled": True}
        for entry in catalogue["recognizers"]
        if entry["name"] not in EXCLUDED_RECOGNIZERS | _REPLACED
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
