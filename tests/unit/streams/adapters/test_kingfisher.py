"""Kingfisher behind the port: what it finds, where, and what a text cannot do to it."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.kingfisher import KingfisherDetector, character_offsets
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.fakes.tokens import token

PROFILE = ScanProfile(("en",), ("EMAIL_ADDRESS",))
SECRET = token("digitalocean")


@cache
def detector() -> KingfisherDetector:
    return KingfisherDetector()


def find(*texts: str) -> list[Finding]:
    return detector().scan([Field(f"field[{index}]", text) for index, text in enumerate(texts)], PROFILE)


@pytest.mark.parametrize("before", ["", "It was ", "Prüfe 🙂 日本語: "])
def test_a_token_is_found_at_its_characters(before: str) -> None:
    text = f"{before}{SECRET} and so on"
    found = find("Nothing here.", text)
    assert {(item.category, item.detector, item.path) for item in found} == {
        (Category.SECRET, "kingfisher", "field[1]")
    }
    assert {text[item.start : item.end] for item in found} == {SECRET}


def test_base64_is_looked_through() -> None:
    encoded = base64.b64encode(SECRET.encode()).decode()
    assert find(f"The note says {encoded}.")
    assert find(f"The note says {base64.b64encode(encoded.encode()).decode()}.")


def test_no_comment_switches_a_rule_off() -> None:
    assert find(f"{SECRET} # kingfisher:ignore  gitleaks:allow  nosec")


def test_digests_and_prose_are_no_secrets() -> None:
    digests = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(1_000)]
    assert find("The deployment is done and the tests are green.", *digests) == []


def test_nothing_of_the_value_is_in_a_finding() -> None:
    assert SECRET not in repr(find(SECRET))


def test_the_same_text_gives_the_same_findings() -> None:
    assert find(SECRET, SECRET) == find(SECRET, SECRET)


def test_the_manifest_is_the_same_for_every_instance() -> None:
    assert KingfisherDetector().manifest == detector().manifest
    assert detector().manifest.settings["inline_ignores"] is False


@given(st.text(st.characters(codec="utf-8"), max_size=30), st.data())
def test_byte_offsets_become_character_offsets(text: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(text))
    spans = data.draw(st.lists(st.tuples(ends, ends), max_size=5))
    in_bytes = [tuple(len(text[:offset].encode()) for offset in span) for span in spans]
    offsets = character_offsets(text, [(start, end) for start, end in in_bytes])
    assert [(offsets[start], offsets[end]) for start, end in in_bytes] == spans


def test_an_offset_beyond_the_end_is_the_end() -> None:
    assert character_offsets("é", [(0, 99)]) == {0: 0, 99: 1}
    assert character_offsets("e", [(0, 99)]) == {0: 0, 99: 1}
