"""Warming changes no finding, leaves nothing behind, and does without the handbook."""

from __future__ import annotations

import importlib
import sys
from typing import Never

import pytest

from streams.adapters.pii.scanner import Scanner
from streams.adapters.pii.warming import warm
from streams.adapters.presidio import PresidioDetector
from streams.domain.scanning.request import ScanProfile

TEXT = "call (212) 555-0123, write to bob@example.com, card 4111 1111 1111 1111"


@pytest.fixture(scope="module")
def recognizers() -> list[list[object]]:
    return PresidioDetector().recognizers_of(ScanProfile(("en",), ("CREDIT_CARD", "EMAIL_ADDRESS", "PHONE_NUMBER")))


def test_a_warm_scanner_finds_what_a_cold_one_does(recognizers: list[list[object]]) -> None:
    cold, warmed = Scanner(recognizers), Scanner(recognizers)
    warm(warmed)
    assert warmed.matches(TEXT) == cold.matches(TEXT)
    assert len(cold.matches(TEXT)) == 3


def test_the_handbook_is_not_kept(recognizers: list[list[object]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pydoc_data.topics", raising=False)
    warm(Scanner(recognizers))
    assert "pydoc_data.topics" not in sys.modules


def test_an_interpreter_without_one_is_no_error(
    recognizers: list[list[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(_: str) -> Never:
        raise ImportError

    monkeypatch.setattr(importlib, "import_module", absent)
    scanner = Scanner(recognizers)
    warm(scanner)
    assert len(scanner.matches(TEXT)) == 3
