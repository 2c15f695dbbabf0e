"""What every primary detector of recalled memories does."""

from __future__ import annotations

import math
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.application.ports.prompt_safety import PromptSafetyDetector
from streams.domain.scanning.finding import check_name
from tests.unit.streams.domain.recall.samples import entry, find

TEXTS = ("The user prefers tea.", "x", " ", "\u200b", "\U0010ffff", "a\nb", "日本語", "a" * 65_536)


class PromptSafetyCases:
    """A subclass's ``detector`` is what is tested."""

    def test_it_says_who_it_is(self, detector: PromptSafetyDetector) -> None:
        assert check_name(detector.name) == detector.name
        assert re.fullmatch(r"[0-9A-Za-z._-]{1,128}", detector.revision)  # commands to the ledger quote it

    @pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:8].encode("unicode-escape").decode())
    def test_a_text_s_score_is_a_probability_and_always_the_same(
        self, detector: PromptSafetyDetector, text: str
    ) -> None:
        score = detector.score(text)
        assert isinstance(score, float)
        assert math.isfinite(score)
        assert 0.0 <= score <= 1.0
        assert detector.score(text) == score

    def test_any_text_has_one(self, detector: PromptSafetyDetector) -> None:
        @given(st.text(min_size=1, max_size=200))
        def holds(text: str) -> None:
            assert 0.0 <= detector.score(text) <= 1.0

        holds()

    def test_texts_may_be_scored_at_the_same_time(self, detector: PromptSafetyDetector) -> None:
        alone = [detector.score(text) for text in TEXTS]
        with ThreadPoolExecutor(4) as beside:
            assert list(beside.map(detector.score, TEXTS * 4)) == alone * 4

    def test_a_finding_can_be_made_of_it(self, detector: PromptSafetyDetector) -> None:
        given = entry()
        score = detector.score(given.content)
        assert find(given, score).stated["detector_score"] == round(score, 6)
