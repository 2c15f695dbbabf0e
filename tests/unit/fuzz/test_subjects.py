"""What is fuzzed holds for what hypothesis draws, and for every input that showed a fault before."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pratique.contract.reasons import Outcome
from tests.fuzz import subjects
from tests.fuzz.inputs import ANY, FRAGMENTS, text_of
from tests.fuzz.subjects import SUBJECTS, FoundError

FOUND = json.loads(Path(subjects.__file__).with_name("found.json").read_text(encoding="utf-8"))
DRAWN = {"candidate": 40, "summary": 60, "narrative": 40, "authority": 100, "quotations": 60, "request": 100}
"""Examples of each: those that check whole requests take some milliseconds."""


@pytest.mark.parametrize("name", sorted(SUBJECTS))
def test_holds_for_what_is_drawn(name: str) -> None:
    @settings(max_examples=DRAWN[name])
    @given(st.binary(max_size=120) | st.sampled_from(SUBJECTS[name].seeds))
    def holds(data: bytes) -> None:
        SUBJECTS[name].run(data)

    holds()


@pytest.mark.parametrize("name", sorted(SUBJECTS))
def test_holds_for_seeds_and_for_what_was_found(name: str) -> None:
    for data in (*SUBJECTS[name].seeds, *map(base64.b64decode, FOUND.get(name, ()))):
        SUBJECTS[name].run(data)


def test_bytes_are_words() -> None:
    assert text_of(b"ab\x80") == f"ab{FRAGMENTS[0]}"
    assert text_of(bytes([ANY, 1, 0xF6, 0x42])) == "\U0001f642"


def test_a_fault_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "untraced", lambda _text, _sources: [])
    with pytest.raises(FoundError):
        subjects.authority(b"a")
    monkeypatch.setattr(subjects, "occurring", lambda _stretches, _texts: frozenset())
    with pytest.raises(FoundError):
        subjects.quotations(b"ab\x1exabx")
    monkeypatch.setattr(subjects, "_outcome", lambda *_: Outcome.PASS)
    for name in ("summary", "narrative"):
        with pytest.raises(FoundError):
            SUBJECTS[name].run(b"\0\0\x40x")
