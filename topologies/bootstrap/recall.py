"""What a recall's scan asks beside the scanner: the primary detector, the ledger's view, the fingerprint keys.

The contract: what is not configured is null, and the scan answers ERROR for every entry; nothing is ever taken to be
clean because nobody was there to ask.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import cast

from pratique.errors import ConfigurationError
from streams.application.fingerprinting import KeysByView
from streams.application.ports.prompt_safety import PromptSafetyDetector
from streams.application.ports.quarantine import FingerprintKeys, QuarantineView
from topologies.bootstrap.ledger_view import fingerprint_keys, quarantine_view
from topologies.settings import Settings


@dataclass(frozen=True, slots=True)
class RecallOutside:
    """What there is; null where it is not configured: view and keys where no Redis is."""

    detector: PromptSafetyDetector | None
    view: QuarantineView | None
    keys: FingerprintKeys | None


def recall_outside(settings: Settings) -> RecallOutside:
    """Return what a recall's scan asks.

    Raises:
        ConfigurationError: Something is configured and can't be had.
    """
    detector = prompt_safety(settings.prompt_safety)
    if not settings.redis_url:
        return RecallOutside(detector, None, None)
    view = quarantine_view(settings)
    return RecallOutside(detector, view, KeysByView(fingerprint_keys(settings), view))


def prompt_safety(factory: str) -> PromptSafetyDetector | None:
    """Return the primary detector that a factory makes; null where none is named.

    Args:
        factory: ``module:function``.

    Raises:
        ConfigurationError: There is no such factory, or it can't make one.
    """
    if not factory:
        return None
    module, _, name = factory.partition(":")
    try:
        made = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError, ValueError):
        raise ConfigurationError(f"PRATIQUE_PROMPT_SAFETY: {factory} is no factory of a primary detector") from None
    return cast("PromptSafetyDetector", made)
