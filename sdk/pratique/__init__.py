"""Pratique's client: ask for a verdict, check it, build the context from it.

``from pratique import Gate`` is all an agent needs. Importing the package alone loads neither Kafka nor TUF.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pratique.client import Compaction as Compaction
    from pratique.client import Gate as Gate
    from pratique.contract.records import SourceMessage as SourceMessage
    from pratique.contract.records import Verdict as Verdict
    from pratique.errors import NoContextError as NoContextError
    from pratique.errors import PratiqueError as PratiqueError
    from pratique.errors import UnavailableError as UnavailableError

__all__ = ["Compaction", "Gate", "NoContextError", "PratiqueError", "SourceMessage", "UnavailableError", "Verdict"]

_HOMES: Final = {
    "Compaction": "pratique.client",
    "Gate": "pratique.client",
    "NoContextError": "pratique.errors",
    "PratiqueError": "pratique.errors",
    "SourceMessage": "pratique.contract.records",
    "UnavailableError": "pratique.errors",
    "Verdict": "pratique.contract.records",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pratique' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
