"""Presidio without spaCy: much of what a scan worker would load at its start is for language models.

The contract: within ``without_spacy``, what imports spaCy gets names that stand for nothing, and nothing of it is
loaded; after it, an import of spaCy is one of spaCy again. Pattern recognisers name its classes in annotations alone.
What calls such a name fails there and then: no model is ever taken for one that found nothing. Whoever
loads a model imports spaCy itself, and finds all of it.

It changes nothing where spaCy is loaded already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from streams.errors import ConfigurationError

_LEFT_OUT: Final = ("spacy", "thinc")


@contextmanager
def without_spacy() -> Iterator[None]:
    """Import what is imported within without spaCy, unless that is loaded."""
    if any(name in sys.modules for name in _LEFT_OUT):
        yield
        return
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _is_left_out(name)]:
            del sys.modules[name]


def _is_left_out(name: str) -> bool:
    return name.partition(".")[0] in _LEFT_OUT


class _Finder(MetaPathFinder, Loader):
    """Finds an empty module for every one that is left out."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the protocol's
        target: ModuleType | None = None,  # noqa: ARG002 - the protocol's
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if _is_left_out(name) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Nothing(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is nothing."""


class _Nothing(ModuleType):
    """A module in which every name stands for nothing."""

    def __getattr__(self, name: str) -> _Kind:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Kind(name, (_Absent,), {})


class _Kind(type):
    """What a class that is not there is registered with, by decorators, is not registered."""

    def __getattr__(cls, name: str) -> Callable[..., Callable[[Any], Any]]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: lambda registered: registered


class _Absent(metaclass=_Kind):
    """A class that is not there."""

    def __init__(self, *_: object, **__: object) -> None:
        raise ConfigurationError("a language model is wanted in a process that was started without any")
