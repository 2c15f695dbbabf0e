"""Rows are read strictly, and what is wrong with one is said without a word of it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.errors import MalformedError, TooLargeError
from streams.domain.evaluation import rows
from streams.domain.evaluation.rows import Folder, read_row
from streams.domain.scanning.finding import Category

ROW = {
    "id": "r1",
    "source": "a/b:c.py",
    "lang": "en",
    "text": "hello",
    "label": "clean",
    "category": "docs",
    "kind": "doc",
}


def line(**changes: Any) -> bytes:  # noqa: ANN401 - whatever JSON has
    return json.dumps({key: value for key, value in (ROW | changes).items() if value is not ...}).encode()


def test_a_row_has_its_text_and_what_it_is_grouped_by() -> None:
    facts, texts = read_row(
        line(label="detect", form="generic", placeholder_like=True, obfuscation="hex"), Folder.SECRETS
    )
    assert texts == (("text", "hello"),)
    assert (facts.id, facts.detect, facts.marked, facts.categories) == ("r1", True, False, (Category.SECRET,))
    assert dict(facts.groups) == {
        "lang": "en",
        "form": "generic",
        "kind": "doc",
        "category": "docs",
        "obfuscation": "hex",
        "source": "a/b",
        "placeholder_like": "yes",
    }


def test_what_a_row_does_not_say_it_is_not_grouped_by() -> None:
    facts, _ = read_row(line(source=..., lang=..., category=..., kind=...), Folder.PII)
    assert dict(facts.groups) == {"obfuscation": "none", "source": "unknown", "placeholder_like": "no"}


@given(st.text(max_size=40))
def test_a_text_in_base64_with_spaces_is_decoded(text: str) -> None:
    encoded = base64.b64encode(text.encode()).decode()
    spaced = " ".join(encoded[at : at + 12] for at in range(0, len(encoded), 12))
    assert read_row(line(text=..., text_b64=spaced), Folder.SECRETS).texts == (("text", text),)


@pytest.mark.parametrize("changes", [{"difficulty": "hard"}, {"borderline": True}])
def test_hard_and_borderline_rows_are_marked(changes: dict[str, Any]) -> None:
    assert read_row(line(**changes), Folder.PII).facts.marked


def test_benign_rows_speak_of_every_category() -> None:
    assert read_row(line(), Folder.BENIGN).facts.categories == tuple(Category)


@pytest.mark.parametrize("disguise", sorted(rows.HIDING))
def test_benign_rows_with_hidden_characters_say_nothing_of_hidden_text(disguise: str) -> None:
    categories = read_row(line(obfuscation=disguise), Folder.BENIGN).facts.categories
    assert Category.HIDDEN_TEXT not in categories
    assert len(categories) == len(Category) - 1


@pytest.mark.parametrize(
    "wrong",
    [
        b"{",
        b"[" * 100_000,
        b"[]",
        b"\xff",
        line(id=...),
        line(id=""),
        line(id=3),
        line(label="maybe"),
        line(label=...),
        line(label=["clean"]),
        line(text=...),
        line(text=3),
        line(text_b64="aGVsbG8="),
        line(text=..., text_b64="canary!"),
        line(text=..., text_b64="/w=="),
        line(lang=1),
        line(source=[]),
        line(borderline="yes"),
        line(placeholder_like=1),
        line(obfuscation=True),
    ],
)
def test_a_row_that_is_not_of_the_format_is_refused_without_its_words(wrong: bytes) -> None:
    with pytest.raises(MalformedError) as caught:
        read_row(wrong, Folder.SECRETS)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("disguise", [["zero-width"], {"a": 1}, 3, [], {}, 0, False])
@pytest.mark.parametrize("folder", Folder)
def test_a_disguise_that_is_no_text_is_refused(disguise: object, folder: Folder) -> None:
    with pytest.raises(MalformedError, match="obfuscation"):
        read_row(line(obfuscation=disguise, label="clean"), folder)


@pytest.mark.parametrize("disguise", [None, "", ...])
@pytest.mark.parametrize("folder", [folder for folder in Folder if folder is not Folder.TRANSCRIPTS])
def test_no_disguise_is_none(disguise: object, folder: Folder) -> None:
    row = read_row(line(obfuscation=disguise, label="clean"), folder)
    assert dict(row.facts.groups)["obfuscation"] == "none"


@pytest.mark.parametrize("key", ["id", "lang", "form", "kind", "category", "obfuscation", "source"])
@pytest.mark.parametrize("letter", ["\ud800", "\x00"])
def test_a_name_that_cannot_be_written_is_refused(key: str, letter: str) -> None:
    with pytest.raises(MalformedError, match=f"row's {key}: ") as caught:
        read_row(line(**{key: f"canary{letter}"}), Folder.SECRETS)
    assert "canary" not in str(caught.value)


def test_a_transcript_has_the_contents_of_its_messages() -> None:
    messages = [{"role": "user", "content": "one"}, {"role": "assistant", "content": None}, {"content": ""}]
    facts, texts = read_row(line(messages=messages, label="detect"), Folder.TRANSCRIPTS)
    assert texts == (("messages[0].content", "one"), ("messages[2].content", ""))
    assert (facts.detect, facts.categories) == (True, (Category.INJECTION,))


@pytest.mark.parametrize(
    "messages",
    [
        ...,
        None,
        [],
        "canary",
        {"content": "canary"},
        ["canary"],
        [None],
        [{}],
        [{"role": "user"}],
        [{"content": None}],
        [{"content": ["canary"]}],
        [{"content": "fine"}, {"content": 3}],
        [{"content": "fine"}] * 3,
    ],
)
def test_a_transcript_without_messages_of_text_is_refused(messages: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_MESSAGES", 2)
    with pytest.raises(MalformedError) as caught:
        read_row(line(messages=messages), Folder.TRANSCRIPTS)
    assert "canary" not in str(caught.value)


def test_a_benign_row_is_never_to_be_detected() -> None:
    with pytest.raises(MalformedError, match="benign"):
        read_row(line(label="detect"), Folder.BENIGN)


def test_a_long_line_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_ROW_BYTES", 10)
    with pytest.raises(TooLargeError):
        read_row(line(), Folder.PII)


def test_long_names_are_cut() -> None:
    facts, _ = read_row(line(source="s" * 1_000), Folder.PII)
    assert ("source", "s" * rows.MAX_NAME_CHARACTERS) in facts.groups
