"""Every test that the threat model names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = sorted(set(re.findall(r"`(tests/[\w/.]+\.py)(?:::(\w+))?`", (ROOT / "docs" / "threat-model.md").read_text())))


def test_the_threat_model_names_tests() -> None:
    assert len(NAMED) > 10


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_named_test_exists(path: str, name: str) -> None:
    source = ROOT / path
    assert source.is_file(), path
    text = source.read_text(encoding="utf-8")
    if name:
        assert f"def {name}(" in text
    else:  # a file of tests, or one whose tests a state machine makes
        assert "def test_" in text or ".TestCase" in text
