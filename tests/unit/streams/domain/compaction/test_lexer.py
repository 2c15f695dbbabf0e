"""The tokenizer: its rules, and that spans are always the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.compaction.lexer import Quotation, RawClause, Unread, lex


def tokens(text: str) -> list[list[str | Quotation]]:
    clauses, stopped_at = read(text)
    assert stopped_at is None
    return [list(clause.tokens) for clause in clauses]


def read(text: str) -> tuple[list[RawClause], int | None]:
    items = list(lex(text))
    clauses = [item for item in items if isinstance(item, RawClause)]
    unread = [item.start for item in items if isinstance(item, Unread)]
    assert items[: len(clauses)] == clauses
    assert len(unread) <= 1
    return clauses, unread[0] if unread else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One two. Three.", [["One", "two"], ["Three"]]),
        (" One\r\n\ttwo .\n", [["One", "two"]]),
        ("File src/a.py was read.", [["File", "src/a.py", "was", "read"]]),
        ("Version 1.2.3 (final).", [["Version", "1.2.3", "(", "final", ")"]]),
        ("a, b: c; d! e?.", [["a", ",", "b", ":", "c", ";", "d", "!", "e", "?"]]),
        ("((x)).", [["(", "(", "x", ")", ")"]]),
        ("It isn't so.", [["It", "isn't", "so"]]),
        ("End.).", [["End", ".", ")"]]),
        ("..", [["."]]),
        (". .", [[], []]),
        ('Said "a. b (c)".', [["Said", Quotation("a. b (c)")]]),
        ('("a", "b").', [["(", Quotation("a"), ",", Quotation("b"), ")"]]),
        ('Said \u201ca "b" c\u201d.', [["Said", Quotation('a "b" c')]]),
        ('Said "". Next.', [["Said", Quotation("")], ["Next"]]),
    ],
)
def test_tokens(text: str, expected: list[list[str | Quotation]]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "stopped_at"),
    [
        ("", 0),
        ("   ", 0),
        ("One", 0),
        ("One. Two", 4),
        ('One. Said "two. Three.', 4),
        ('One. Said"two".', 4),
        ('One. Said "two"three.', 4),
        ('One. Said "two"(three).', 4),
        ('One. Said "two".three.', 4),
        ('One. "a""b".', 4),
        ('One. f("a").', 4),
        ('One. \u201ca".', 4),
        ("One.\u00a0Two.", 4),
        ("One. Two\u2028three.", 4),
        ("One. Two\x0bthree.", 4),
        ("One.Two", 0),
        ("One. " + '"a" ' * 600 + ".", 4),
    ],
)
def test_where_reading_ends(text: str, stopped_at: int) -> None:
    assert read(text)[1] == stopped_at


@given(st.text(alphabet='ab.(),:"\u201c\u201d \n\u00a0', max_size=60))
def test_spans_are_the_text(text: str) -> None:
    clauses, stopped_at = read(text)
    end = 0
    for clause in clauses:
        assert clause.start == end
        end = clause.end
    assert end == (len(text) if stopped_at is None else stopped_at)


@given(st.lists(st.text(alphabet="ab(", min_size=1, max_size=5), min_size=1, max_size=5))
def test_white_space_is_one(words: list[str]) -> None:
    assert tokens(" ".join(words) + ".") == tokens("\n\t".join(words) + " .")


@pytest.mark.parametrize("part", ["\u201c", '" ', "(", ".", ". ", ") ", "a."])
def test_cost_is_linear(part: str) -> None:
    """A quadratic reader would need minutes for this."""
    text = part * (300_000 // len(part))
    assert len(read(text)[0]) <= len(text)
