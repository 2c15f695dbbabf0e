"""Language models that a scan policy asks for: what is looked for by them, in which language, by which files.

The contract: an optional field ``models`` of a scan policy lists at most one model a language. Each names the entity
types that it is there for, where it is found (an installed package, or a folder), and the digest of its files; what is
not exactly that is not used. The types of ``MODEL_ONLY`` are found by nothing else, so a policy that asks for one names
a model for it: ``check_models`` refuses the others. In a language that no model is listed for, its author wants none.

Which files a model has, and whether they are there, is an adapter's question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue
from pratique.contract.document import Fields
from streams.errors import PolicyError

MODELS: Final = "models"

MODEL_ONLY: Final = frozenset({"LOCATION", "NRP", "ORGANIZATION", "PERSON"})
"""Entity types (Presidio's names) that only a language model finds; NRP is nationality, religion or political group."""

MODEL_TYPES: Final = MODEL_ONLY | {"DATE_TIME"}
"""Those that a model can be asked for. Dates in digits are found without one, in words only by one."""

MAX_MODELS: Final = 8
"""In one policy, all of which a worker keeps loaded."""

MAX_PATH_CHARACTERS: Final = 1024

_FIELDS: Final = ("language", "entity_types", "sha256")
_PLACES: Final = ("package", "path")
_PACKAGE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}")
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}")


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A model for one language.

    Attributes:
        language: ISO 639 code, one of the policy's ``language_profiles``.
        entity_types: What it is there for, of ``MODEL_TYPES``.
        sha256: Digest of its files.
        package: The installed package that holds it, which is never imported; empty where there is a path.
        path: The folder that it lies in, absolute; empty where there is a package.
    """

    language: str
    entity_types: tuple[str, ...]
    sha256: str
    package: str = ""
    path: str = ""

    def body(self) -> dict[str, JsonValue]:
        """Return the entry as policy has it."""
        body: dict[str, JsonValue] = {
            "language": self.language,
            "entity_types": list(self.entity_types),
            "sha256": self.sha256,
        }
        return body | {name: getattr(self, name) for name in _PLACES if getattr(self, name)}


def language_models(fields: Fields, where: str) -> tuple[LanguageModel, ...]:
    """Read the field ``models`` of a document that has it.

    Args:
        fields: The document's fields.
        where: How refusals call the document.

    Raises:
        PolicyError: An entry is not of its form, or a language has two.
    """
    models = tuple(_entries(fields, where))
    if len({model.language for model in models}) < len(models):
        raise fields.refusal(MODELS, "has two entries of one language")
    return models


def check_models(models: Sequence[LanguageModel], languages: Sequence[str], entity_types: Sequence[str]) -> None:
    """Refuse models that a policy's languages and entity types do not go with, and types that lack one.

    Raises:
        PolicyError: A model is for a language or a type that the policy does not have, or a type of ``MODEL_ONLY`` has
            no model.
    """
    for model in models:
        if model.language not in languages:
            raise PolicyError(f"scan policy: field {MODELS} has one for a language that is not in language_profiles")
        if not set(model.entity_types) <= set(entity_types):
            raise PolicyError(f"scan policy: field {MODELS} has one for a type that is not in entity_types")
    lacking = sorted(MODEL_ONLY.intersection(entity_types).difference(*(model.entity_types for model in models)))
    if lacking:
        raise PolicyError(
            f"scan policy: field entity_types has {lacking[0]}, which only a language model finds: name a model for it"
            f" in {MODELS} (docs/guide/security-engineer.md), or leave it out"
        )


def _entries(fields: Fields, where: str) -> Iterator[LanguageModel]:
    for index, item in enumerate(fields.sequence(MODELS, minimum=1, maximum=MAX_MODELS)):
        stated = item if isinstance(item, Mapping) else {}
        places = tuple(name for name in _PLACES if name in stated)
        entry = Fields(item, f"{where}: {MODELS}[{index}]", (*_FIELDS, *places), PolicyError)
        if len(places) != 1:
            raise entry.refusal("package", "or path has to be there, and not both")
        language = entry.text("language", max_characters=8)
        if not _LANGUAGE.fullmatch(language):
            raise entry.refusal("language", "is no language code")
        types = entry.texts("entity_types", maximum=len(MODEL_TYPES), max_characters=128)
        if not MODEL_TYPES.issuperset(types):
            raise entry.refusal("entity_types", f"are not some of {', '.join(sorted(MODEL_TYPES))}")
        yield LanguageModel(
            language,
            types,
            entry.sha256("sha256"),
            package=_package(entry) if "package" in places else "",
            path=_path(entry) if "path" in places else "",
        )


def _package(fields: Fields) -> str:
    name = fields.text("package", max_characters=128)
    if not _PACKAGE.fullmatch(name):
        raise fields.refusal("package", "is no name of an installed package")
    return name


def _path(fields: Fields) -> str:
    path = fields.text("path", max_characters=MAX_PATH_CHARACTERS)
    if not path.startswith("/"):
        raise fields.refusal("path", "is no absolute path")
    return path
