"""What policy's rules let pass is logged and counted by the rule's name, and never by its value."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

import pytest

from streams.agents.counted import CountedPool
from streams.domain.policy.scan_rules import AllowEntry, ScanRules, Threshold
from streams.domain.scanning.applying import value_sha256
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.fakes.detectors import scripted
from tests.fakes.scanning import InlinePool

RULES = ScanRules(
    (AllowEntry("known", "SECRET", "an example", 2, value_sha256=value_sha256("<secret>")),),
    (Threshold("INJECTION", "scripted", 95),),
)


class Counted:
    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()

    def count(self, name: str, amount: int = 1, **labels: str) -> None:
        (label,) = labels.values()
        self.counts[name, label] += amount

    def gauge(self, name: str, value: float, **labels: str) -> None:
        raise AssertionError(name, value, labels)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        raise AssertionError(name, seconds, labels)


def test_uses_of_rules_are_counted_and_logged_without_values(caplog: pytest.LogCaptureFixture) -> None:
    counted = Counted()
    pool = CountedPool(InlinePool(scripted()), counted)
    profile = ScanProfile(("en",), ("X",), rules=RULES, at_ms=1)
    fields = [Field("text", "<secret> and <secret>, <injection>, <pii>")]
    with caplog.at_level(logging.INFO):
        detection = asyncio.run(pool.detect(fields, profile, timeout_ms=1))
    assert [finding.category.value for finding in detection.findings] == ["PII"]
    assert counted.counts == {("scan_allowed_total", "known"): 2, ("scan_observed_total", "INJECTION/scripted"): 1}
    assert "known" in caplog.text
    assert "<secret>" not in caplog.text


def test_nothing_is_said_where_no_rule_was_used(caplog: pytest.LogCaptureFixture) -> None:
    counted = Counted()
    pool = CountedPool(InlinePool(scripted()), counted)
    with caplog.at_level(logging.INFO):
        asyncio.run(pool.detect([Field("text", "<pii>")], ScanProfile(("en",), ("X",)), timeout_ms=1))
    assert not counted.counts
    assert not caplog.records
