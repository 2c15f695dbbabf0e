"""Language models at start: a scanner whose policy names one that is not here does not begin.

The contract: what a policy's ``models`` name is looked for in this process, so that the error says what to do, and
loaded once by a worker. A policy that is published later is not seen here: its every scan is DETECTOR_ERROR where a
model is missing, and ``pratique doctor`` says which.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from streams.adapters.language_models import files_sha256, located, verified_folder
from streams.adapters.names.detector import NAME
from streams.adapters.pool import WorkerPool
from streams.adapters.tuf_store import TufPolicyStore
from streams.domain.policy.model import ScanPolicy
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import ConfigurationError, PratiqueError

_LOADING_MS: Final = 60_000
_POOL: Final = "pool"


def model_digest(place: str) -> tuple[Path, str]:
    """Return the folder and the digest of a model, for a policy's ``models``.

    Args:
        place: An installed package's name, or a folder.

    Raises:
        ConfigurationError: There is no model.
    """
    folder = located(str(Path(place).resolve()) if "/" in place else place)
    return folder, files_sha256(folder)


def published(store: TufPolicyStore) -> list[ScanPolicy]:
    """Return the newest scan policies that can be read; what can't be is for whoever is asked to judge under it."""
    return list(_published(store))


def verify_models(policies: Iterable[ScanPolicy]) -> list[str]:
    """Return the language models that policies name, each of which is here.

    Raises:
        ConfigurationError: One is not.
    """
    models = sorted({model for policy in policies for model in policy.rules.models}, key=lambda item: item.language)
    return [f"{model.language}: {verified_folder(model)}" for model in models]


async def require_models(pool: WorkerPool, policies: Iterable[ScanPolicy]) -> None:
    """Have a worker load every model that policies name.

    Raises:
        ConfigurationError: One is not here, not the pinned one, or can't be loaded.
    """
    asked = [policy for policy in policies if policy.rules.models]
    await asyncio.to_thread(verify_models, asked)
    for policy in asked:
        profile = ScanProfile.of(policy, at_ms=None)
        failure = (await pool.detect([Field("start", "start")], profile, timeout_ms=_LOADING_MS)).failure
        if failure is not None and failure.detector in {NAME, _POOL}:
            raise ConfigurationError(
                "scan workers can't load a language model that policy names: see that it was made for the installed"
                " spaCy and has the labels for its entity_types"
            )


def _published(store: TufPolicyStore) -> Iterator[ScanPolicy]:
    try:
        ids = store.policy_ids()
    except PratiqueError:
        return
    for policy_id in ids:
        try:
            yield store.newest(policy_id).scan
        except PratiqueError:
            continue
