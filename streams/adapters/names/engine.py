"""Presidio's engine and recogniser for language models, over files that were verified; imported by workers alone.

The contract: a model is loaded from a folder, on the CPU, with nothing but what recognises entities; nothing is
downloaded, and no package is imported for it. What a text leaves in the model's vocabulary goes with the text.

Importing this is importing spaCy. Presidio's own modules may have been without it (``streams.adapters.slim_presidio``):
of theirs, nothing is used here that calls it.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import spacy
from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine
from presidio_analyzer.nlp_engine.ner_model_configuration import MODEL_TO_PRESIDIO_ENTITY_MAPPING
from presidio_analyzer.predefined_recognizers import SpacyRecognizer

from streams.adapters.names.text import own_text, pieces
from streams.adapters.pii.foreign import ForeignCheck
from streams.domain.policy.language_models import LanguageModel
from streams.errors import ConfigurationError

_LANGUAGES_KEPT: Final = 64
_RECOGNISER: Final = "ner"
_LISTENED_TO: Final = ("tok2vec", "transformer")


class Named(NamedTuple):
    """What a model found in a text."""

    entity: str
    start: int
    end: int
    score: float


class NameFinder:
    """One model, and what policy wants of it.

    Args:
        model: The model.
        folder: Its verified files.

    Raises:
        ConfigurationError: spaCy can't load it, or it has no label for one of the entity types.
    """

    def __init__(self, model: LanguageModel, folder: Path) -> None:
        logging.getLogger("presidio-analyzer").disabled = True  # its messages may quote what was found
        self._language = model.language
        self._types = list(model.entity_types)
        self._engine = _PinnedEngine(model.language, folder)
        try:
            self._engine.load()
        except Exception as error:  # noqa: BLE001 - spaCy raises anything over files that it can't read
            raise ConfigurationError(
                f"spaCy can't load the language model for {model.language} in {folder} ({type(error).__name__}): use"
                " one that was made for the installed spaCy"
            ) from None
        lacking = set(self._types).difference(
            MODEL_TO_PRESIDIO_ENTITY_MAPPING.get(label, "") for label in self._engine.labels
        )
        if lacking:
            raise ConfigurationError(
                f"the language model for {model.language} in {folder} finds no {min(lacking)}: take it out of the"
                " model's entity_types in policy"
            )
        self._recognizer: Any = SpacyRecognizer(supported_language=model.language, supported_entities=self._types)

    def find(self, text: str, languages: Sequence[str]) -> list[Named]:
        """Return what the model finds in a text, in order.

        Args:
            text: The text.
            languages: All of the policy's; what is clearly in another one than the model's is left out.
        """
        found: list[Named] = []
        others = [_foreign_to(language) for language in languages if language != self._language]
        for offset, piece in pieces(own_text(text, _foreign_to(self._language), others)):
            if not piece.isspace():
                found += self._in_piece(piece, offset)
        return list(_merged(sorted(found)))

    def _in_piece(self, piece: str, offset: int) -> list[Named]:
        with self._engine.get_nlp(self._language).memory_zone():
            artifacts = self._engine.process_text(piece, self._language)
            results = self._recognizer.analyze(piece, self._types, artifacts)
            return [
                Named(str(item.entity_type), item.start + offset, item.end + offset, float(item.score))
                for item in results
            ]


@lru_cache(_LANGUAGES_KEPT)
def _foreign_to(language: str) -> ForeignCheck:
    return ForeignCheck([language])


class _PinnedEngine(SpacyNlpEngine):
    """Presidio's, less downloads, accelerators, and components that recognise nothing."""

    def __init__(self, language: str, folder: Path) -> None:
        super().__init__([{"lang_code": language, "model_name": str(folder)}])
        self._pinned = language, folder
        self.labels: frozenset[str] = frozenset()

    def load(self) -> None:
        """Load the model."""
        language, folder = self._pinned
        config = spacy.util.load_config(folder / "config.cfg")
        components = config["components"]
        reads = components[_RECOGNISER]["model"].get("tok2vec", {})
        needed = {_RECOGNISER, *(_LISTENED_TO if "Listener" in str(reads.get("@architectures")) else ())}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of versions: what loads is told by the digest
            nlp: Any = spacy.load(folder, exclude=sorted(set(components) - needed))
        self.nlp: Any = {language: nlp}
        self.labels = frozenset(nlp.get_pipe(_RECOGNISER).labels)
        ignored = sorted(self.labels - set(MODEL_TO_PRESIDIO_ENTITY_MAPPING))
        self.ner_model_configuration = NerModelConfiguration(labels_to_ignore=ignored)


def _merged(found: Iterable[Named]) -> Iterator[Named]:
    """Yield what was found, each stretch of a type once: pieces overlap."""
    last: Named | None = None
    for item in found:
        if last is not None and item.entity == last.entity and item.start < last.end:
            last = last._replace(end=max(last.end, item.end))
            continue
        if last is not None:
            yield last
        last = item
    if last is not None:
        yield last
