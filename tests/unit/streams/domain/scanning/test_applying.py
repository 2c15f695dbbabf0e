"""Rules on findings: what is allowed, what is observed, and that everything else blocks."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.policy.scan_rules import NO_RULES, AllowEntry, ScanRules, Threshold
from streams.domain.scanning.applying import Applied, apply_rules, value_sha256
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.population import Field

NOW = 1_000
TEXT = "the key is Ab12-cd, really"
VALUE = (11, 18)
FOUND = Finding(Category.SECRET, "kingfisher", "a.rule", "summary_text", *VALUE, 0.9)
ENTRY = AllowEntry("known", "SECRET", "an example", NOW + 1, value_sha256=value_sha256("Ab12-cd"))


def applied(rules: ScanRules, *findings: Finding, at_ms: int | None = NOW, text: str = TEXT) -> Applied:
    return apply_rules(findings, [Field("summary_text", text)], rules, at_ms)


def allows(entry: AllowEntry, finding: Finding = FOUND, *, at_ms: int | None = NOW, text: str = TEXT) -> bool:
    result = applied(ScanRules((entry,)), finding, at_ms=at_ms, text=text)
    assert (result.findings == ()) is (result.allowed == {entry.id: 1})
    return not result.findings


def test_without_rules_everything_blocks() -> None:
    assert applied(NO_RULES, FOUND) == Applied((FOUND,), {}, {})


def test_an_entry_allows_the_value_whose_digest_it_names() -> None:
    assert allows(ENTRY)
    assert not allows(replace(ENTRY, value_sha256=value_sha256("ab12-cd")))
    assert not allows(ENTRY, text="the key is Ab12-ce, really")


def test_a_value_is_the_same_however_unicode_writes_it() -> None:
    assert value_sha256("\u212b1 ") == value_sha256("\u00c51")


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        (r"[A-Za-z0-9]+-[a-z]+", True),
        (r"Ab12", False),
        (r"b12-cd", False),
        (r"(?i)ab12.*", True),
        (r"Ab12-cd, .*", False),
    ],
)
def test_a_pattern_has_to_match_the_whole_value_and_nothing_else(pattern: str, *, allowed: bool) -> None:
    assert allows(replace(ENTRY, value_sha256="", pattern=pattern)) is allowed


@pytest.mark.parametrize(
    "entry",
    [
        replace(ENTRY, category="PII"),
        replace(ENTRY, detector="another"),
        replace(ENTRY, type="another.rule"),
        replace(ENTRY, expires_ms=NOW),
        replace(ENTRY, expires_ms=NOW - 1),
    ],
)
def test_an_entry_of_something_else_or_of_the_past_allows_nothing(entry: AllowEntry) -> None:
    assert not allows(entry)


@pytest.mark.parametrize("entry", [replace(ENTRY, detector="kingfisher"), replace(ENTRY, type="a.rule")])
def test_an_entry_may_name_detector_and_type(entry: AllowEntry) -> None:
    assert allows(entry)


def test_without_a_moment_nothing_is_allowed() -> None:
    assert not allows(ENTRY, at_ms=None)


def test_a_value_in_a_disguise_is_never_allowed() -> None:
    assert not allows(ENTRY, replace(FOUND, detail="base64"))


def test_below_its_detectors_score_a_finding_is_only_observed() -> None:
    rules = ScanRules(thresholds=(Threshold("INJECTION", "injection", 85),))
    high = Finding(Category.INJECTION, "injection", "plain", "summary_text", 0, 5, 0.85)
    low = replace(high, score=0.84)
    assert applied(rules, low, high) == Applied((high,), {}, {"INJECTION/injection": 1})
    other = replace(low, detector="another")
    assert applied(rules, other).findings == (other,)


def test_each_use_of_an_entry_is_counted() -> None:
    again = replace(FOUND, type="another.rule")
    assert applied(ScanRules((ENTRY,)), FOUND, again).allowed == {"known": 2}


@given(
    st.lists(
        st.builds(
            Finding,
            st.sampled_from(Category),
            st.sampled_from(["kingfisher", "injection"]),
            st.just("t"),
            st.just("summary_text"),
            st.integers(0, 5),
            st.integers(5, 20),
            st.floats(0, 1),
            st.sampled_from(["", "base64"]),
        ),
        max_size=12,
    ),
    st.lists(
        st.builds(
            AllowEntry,
            st.uuids().map(str),
            st.sampled_from(["SECRET", "PII", "INJECTION"]),
            st.just("r"),
            st.integers(1, 2 * NOW),
            pattern=st.sampled_from(["the.*", ".*k.*", "[a-z ]+"]),
        ),
        max_size=4,
        unique_by=lambda entry: entry.id,
    ),
)
def test_every_finding_blocks_or_is_counted_once(findings: list[Finding], entries: list[AllowEntry]) -> None:
    rules = ScanRules(tuple(entries), (Threshold("INJECTION", "injection", 50),))
    result = applied(rules, *findings)
    counted = sum(result.allowed.values()) + sum(result.observed.values())
    assert len(result.findings) + counted == len(findings)
    for finding in findings:
        value = TEXT[finding.start : finding.end]
        low = finding.category is Category.INJECTION and finding.detector == "injection" and finding.score < 0.5
        known = not finding.detail and any(
            entry.expires_ms > NOW and entry.category == finding.category.value and re.fullmatch(entry.pattern, value)
            for entry in entries
        )
        assert (finding in result.findings) is not (low or known)
