"""Names, places and dates behind the detector port: language models that policy names, pinned by their files' digest.

The contract: nothing is looked for unless policy lists a model for it. A listed model that is absent, different or does
not load is a ``DetectorError`` under that policy, for every text; it never narrows what is looked for. Each model reads
what may be in its language: of a policy with several, paragraphs that are clearly in one other are not its own.

A model is loaded with the first profile that names it and then kept; that takes a second or two, and tens of MiB.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from streams.adapters.language_models import verified_folder
from streams.adapters.names import text
from streams.domain.policy.language_models import MAX_MODELS, MODEL_ONLY, LanguageModel
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import DetectorManifest
from streams.domain.scanning.population import Field
from streams.errors import ConfigurationError, DetectorError

if TYPE_CHECKING:
    from streams.adapters.names.engine import NameFinder
    from streams.domain.scanning.request import ScanProfile

NAME: Final = "names"
"""As findings and reasons carry it."""

REVISION: Final = 2
"""Raised whenever code here or beside it changes what is found; part of the manifest."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class NamesDetector:
    """Presidio's recogniser over spaCy's models. Without a policy that names one it costs nothing."""

    def __init__(self) -> None:
        # Only worker processes pay for this import, and spaCy is imported by the first model alone.
        from presidio_analyzer.nlp_engine.ner_model_configuration import (  # noqa: PLC0415
            MODEL_TO_PRESIDIO_ENTITY_MAPPING,
        )

        settings: dict[str, JsonValue] = {
            "revision": REVISION,
            "presidio-analyzer": importlib.metadata.version("presidio-analyzer"),
            "pieces": [text.PIECE, text.OVERLAP, text.RUN, text.SIGNS],
        }
        rules: dict[str, JsonValue] = dict(MODEL_TO_PRESIDIO_ENTITY_MAPPING)
        self._manifest = DetectorManifest(NAME, importlib.metadata.version("spacy"), canonical_sha256(rules), settings)
        self._finder = lru_cache(MAX_MODELS)(_loaded)

    @property
    def manifest(self) -> DetectorManifest:
        """Versions, and which of a model's labels are which entity type; the models are policy's and pinned there."""
        return self._manifest

    def check(self, profile: ScanProfile) -> None:
        """Refuse a profile whose models are not here, or that asks for what only a model finds and names none.

        Raises:
            DetectorError: It is such a profile.
        """
        asked = MODEL_ONLY.intersection(profile.entity_types)
        if asked.difference(*(model.entity_types for model in profile.models)):
            raise DetectorError("policy names an entity type that only a language model finds, and no model for it")
        for model in profile.models:
            self.finder(model)

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:
        """Return the names, places and dates in the fields.

        Raises:
            DetectorError: A model failed; its message is not passed on, it may quote the text.
        """
        found = []
        for model in profile.models:
            finder = self.finder(model)
            for field in fields:
                if _DIGEST.fullmatch(field.value):
                    continue  # no text, and there are many
                try:
                    named = finder.find(field.value, profile.language_profiles)
                except Exception:  # noqa: BLE001 - whatever a model raises means the same: not looked at
                    raise DetectorError("a language model failed") from None
                found += [
                    Finding(Category.PII, NAME, item.entity, field.path, item.start, item.end, round(item.score, 4))
                    for item in named
                ]
        return found

    def finder(self, model: LanguageModel) -> NameFinder:
        """Return a model that is exactly the pinned one, loaded.

        Raises:
            DetectorError: It is not here, or can't be loaded.
        """
        try:
            return self._finder(model)
        except ConfigurationError as error:
            raise DetectorError(str(error)) from None


def _loaded(model: LanguageModel) -> NameFinder:
    from streams.adapters.names.engine import NameFinder  # noqa: PLC0415

    return NameFinder(model, verified_folder(model))
