"""Which primary detector a scan app asks."""

from __future__ import annotations

import pytest

from pratique.errors import ConfigurationError
from streams.adapters.injection.detector import packaged
from tests.fakes.recall import ScriptedPromptSafety
from topologies.bootstrap.recall import prompt_safety, recall_outside
from topologies.settings import Settings


def test_the_packaged_model_is_asked_unless_said_otherwise() -> None:
    assert recall_outside(Settings.read({})).detector is packaged()


def test_another_one_may_be_named() -> None:
    assert isinstance(prompt_safety("tests.fakes.recall:of_demo_policy"), ScriptedPromptSafety)


def test_none_is_asked_where_none_is_named() -> None:
    assert recall_outside(Settings.read({"PRATIQUE_PROMPT_SAFETY": ""})).detector is None


@pytest.mark.parametrize("factory", ["nowhere:x", "json:nothing", "json", ":x", "json:dumps:x"])
def test_what_is_no_factory_is_refused(factory: str) -> None:
    with pytest.raises(ConfigurationError, match="PRATIQUE_PROMPT_SAFETY"):
        prompt_safety(factory)
