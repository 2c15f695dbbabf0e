"""The packaged model, and the detectors that stand in for it in tests, do what the port says."""

from __future__ import annotations

import pytest

from streams.adapters.injection.detector import packaged
from streams.application.ports.prompt_safety import PromptSafetyDetector
from tests.contracts.prompt_safety import PromptSafetyCases
from tests.fakes.recall import FakePromptSafety, ScriptedPromptSafety


class TestPackagedModel(PromptSafetyCases):
    @pytest.fixture
    def detector(self) -> PromptSafetyDetector:
        return packaged()


class TestScripted(PromptSafetyCases):
    @pytest.fixture
    def detector(self) -> PromptSafetyDetector:
        return ScriptedPromptSafety()


class TestFake(PromptSafetyCases):
    @pytest.fixture
    def detector(self) -> PromptSafetyDetector:
        return FakePromptSafety()
