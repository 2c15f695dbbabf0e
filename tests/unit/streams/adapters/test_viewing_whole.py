"""Of a token that is torn all parts are reported; benign lists are neither too large nor hold a secret."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pratique.redacting import _masked
from streams.adapters.detectors import standard_detectors
from streams.adapters.viewing import detect
from streams.domain.policy.scan_rules import AllowEntry, ScanRules
from streams.domain.scanning.applying import apply_rules, value_sha256
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.population import Field
from tests.bench.detectors import english_profile
from tests.fakes.lists import LISTS, a_list, seeded

PATH: Final = "summary_text"
DETECTORS: Final = standard_detectors()
PROFILE: Final = english_profile()
BOTH: Final = string.ascii_letters + string.digits

MIXED: Final = re.compile("[A-Za-z][0-9]|[0-9][A-Za-z]")

Maker = Callable[[random.Random], str]


def _of(beginning: str, size: int, letters: str = BOTH) -> Maker:
    return lambda chance: beginning + "".join(chance.choices(letters, k=size))


VENDORS: Final[dict[str, Maker]] = {
    "pypi": _of("pypi-AgEIcHlwaS5vcmc", 140),
    "pypi, long": _of("pypi-AgEIcHlwaS5vcmc", 220),
    "github": _of("ghp_", 36),
    "gitlab": _of("glpat-", 20),
    "digitalocean": _of("dop_v1_", 64, "0123456789abcdef"),
    "stripe": _of("sk_live_", 24),
    "npm": _of("npm_", 36),
    "slack": lambda chance: (
        f"xoxb-{chance.randrange(10**11, 10**12)}-{chance.randrange(10**12, 10**13)}-{_of('', 24)(chance)}"
    ),
}


def found(text: str) -> list[Finding]:
    findings, failure = detect([Field(PATH, text)], PROFILE, DETECTORS)
    assert failure is None
    return findings


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(VENDORS)), st.integers(0, 2**32), st.floats(0.01, 0.99), st.sampled_from(["\n", "\r\n"]))
def test_a_token_over_two_lines_is_reported_as_a_whole(vendor: str, seed: int, part: float, between: str) -> None:
    token = VENDORS[vendor](seeded(seed))
    place = max(1, int(len(token) * part))
    assume(any(MIXED.search(half) for half in (token[:place], token[place:])))  # of letters alone it is two words
    before = "CI uploads with "
    text = f"{before}{token[:place]}{between}{token[place:]} from the runner."
    written = set(range(len(before), len(before) + len(token) + len(between)))
    written -= set(range(len(before) + place, len(before) + place + len(between)))
    covered = {place for finding in found(text) for place in range(finding.start, finding.end)}
    assert not covered & written or written <= covered


def test_masked_as_reported_nothing_of_a_torn_token_stays() -> None:
    token = VENDORS["pypi"](seeded(3))
    text = f"CI uploads with {token[:80]}\n{token[80:]} from the runner."
    masked = _masked(text, [(finding.start, finding.end) for finding in found(text)])
    assert not any(token[place : place + 8] in masked for place in range(len(token) - 8))


def test_who_allows_the_plain_part_does_not_allow_the_whole() -> None:
    token = VENDORS["pypi"](seeded(4))
    text = f"CI uploads with {token[:80]}\n{token[80:]} from the runner."
    allow = (AllowEntry("known", "SECRET", "a sample", 2, value_sha256=value_sha256(token[:80])),)
    for written, blocks in ((f"CI uploads with {token[:80]} from the runner.", False), (text, True)):
        applied = apply_rules(found(written), [Field(PATH, written)], ScanRules(allow, ()), 1)
        assert bool(applied.findings) is blocks


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("lines", [60, 400])
def test_a_benign_list_is_read_and_has_no_secret(name: str, lines: int) -> None:
    assert [finding for finding in found(a_list(name, lines)) if finding.category is Category.SECRET] == []
