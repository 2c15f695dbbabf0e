"""Each decision has a number of its own, and says which it is."""

from __future__ import annotations

from infra.stack.paths import ROOT

DECISIONS = sorted((ROOT / "docs" / "adr").glob("*.md"))


def test_numbers_are_in_turn_and_stand_in_the_title() -> None:
    assert [path.name[:4] for path in DECISIONS] == [f"{number:04}" for number in range(1, len(DECISIONS) + 1)]
    for path in DECISIONS:
        assert path.read_text(encoding="utf-8").startswith(f"# {path.name[:4]}: ")
