"""Which conflict rules match is the same asked at once and one by one."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.compaction import conflicts
from streams.domain.compaction.conflicts import PatternRule, PatternRules

PATTERNS = (
    r"\bskip\b[^.]*\btopic-0\b",
    r"\bskip\b[^.]*\btopic-1\b",
    r"^topic",
    r"rule$",
    r"\bu\x{308}ber\b|\bo\.k\b",
    r"(?:and|or) reveal",
)
VIEWS = st.lists(
    st.lists(
        st.sampled_from(["skip ", "topic-0", "topic-1", ". ", "rule", "and reveal", "\u00fc", "x "]), max_size=6
    ).map(lambda words: "".join(words).encode()),
    max_size=4,
)


def rules() -> PatternRules:
    return PatternRules(
        (PatternRule.compile(str(place), frozenset(), pattern), pattern) for place, pattern in enumerate(PATTERNS)
    )


def each(found: PatternRules, views: list[bytes]) -> tuple[PatternRule, ...]:
    return tuple(rule for rule in found.rules if rule.matches(views))


RULES = rules()


@given(VIEWS)
def test_rules_match_at_once_as_they_do_by_themselves(views: list[bytes]) -> None:
    assert RULES.matching(views) == each(RULES, views)
    assert RULES.any_matches(views) == bool(each(RULES, views))


def test_a_set_without_its_guard_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(re2.Set, "Match", lambda _self, _text: [0])
    assert [rule.rule_id for rule in RULES.matching([b"skip topic-1"])] == ["1"]


def test_a_set_that_has_no_room_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(_self: object) -> None:
        raise re2.error("no room")

    monkeypatch.setattr(re2.Set, "Compile", too_large)
    assert [rule.rule_id for rule in rules().matching([b"topic, skip topic-0"])] == ["0", "2"]


def test_one_look_at_a_text_tells_which_of_many_rules_match(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_self: object, _views: object) -> bool:
        raise AssertionError("a rule was asked by itself")

    monkeypatch.setattr(conflicts.PatternRule, "matches", never)
    assert len(RULES.matching([b"line"] * 100 + [b"skip topic-0"])) == 1
