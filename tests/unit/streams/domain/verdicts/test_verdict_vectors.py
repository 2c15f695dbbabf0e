"""Equal statements give the bytes they gave in every release so far."""

from __future__ import annotations

from tests.vectors.generate_verdicts import VECTORS, render


def test_verdicts_are_the_committed_bytes() -> None:
    assert VECTORS.read_text(encoding="utf-8") == render()
