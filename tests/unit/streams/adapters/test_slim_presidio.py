"""What is left out is not loaded, does nothing, and can be imported again afterwards."""

from __future__ import annotations

import importlib
import importlib.util
import sys

import pytest

from streams.adapters import slim_presidio
from streams.adapters.slim_presidio import without_spacy
from streams.errors import ConfigurationError


@pytest.fixture(autouse=True)
def left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slim_presidio, "_LEFT_OUT", ("models_for_languages",))


def test_what_is_left_out_has_every_name_and_does_nothing() -> None:
    with without_spacy():
        tokens = importlib.import_module("models_for_languages.tokens")
        registry = importlib.import_module("models_for_languages.util").registry

        def registered() -> None:
            """Stay as it is."""

        assert registry.tokenizers("name")(registered) is registered
        assert tokens.Doc | None
        with pytest.raises(ConfigurationError):
            tokens.Doc("text")
        assert not hasattr(tokens, "__wrapped__")
    assert not [name for name in sys.modules if name.startswith("models_for_languages")]
    assert importlib.util.find_spec("models_for_languages") is None


def test_what_is_loaded_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slim_presidio, "_LEFT_OUT", ("json",))
    before = sys.modules["json"]
    with without_spacy():
        assert importlib.import_module("json") is before
    assert sys.modules["json"] is before


def test_other_modules_are_imported_as_ever() -> None:
    with without_spacy():
        assert importlib.util.find_spec("json.tool") is not None
