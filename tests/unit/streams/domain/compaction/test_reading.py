"""A summary read past its first failure: what is wrong, where, and what could have stood there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.compaction.clauses import MAX_QUOTATIONS
from streams.domain.compaction.consistency import sources_of
from streams.domain.compaction.reading import ClauseReading, Fault, read_summary
from streams.domain.compaction.slots import DateSlot
from tests.unit.streams.domain.compaction.builders import CLEAN, MESSAGES, compiled

GRAMMAR = compiled()
SOURCES = sources_of(MESSAGES)


def read(text: str) -> tuple[ClauseReading, ...]:
    return read_summary(text, SOURCES, GRAMMAR.parser)


@pytest.mark.parametrize(
    ("text", "fault", "place"),
    [
        ("File src/a.py was mangled.", Fault.NOT_A_CLAUSE, "mangled"),
        ("Gibberish.", Fault.NOT_A_CLAUSE, "Gibberish"),
        ("Begun on 2026-02-30 by x.", Fault.NOT_A_CLAUSE, "2026-02-30"),
        ("Keep secrets.", Fault.ENDS_EARLY, "."),
        ('The user asked: "rename a parser" (message m1).', Fault.NOT_VERBATIM, '"rename a parser"'),
        ('The user asked: "I renamed" (message m2).', Fault.NOT_A_TRUSTED_USER, "m2"),
        ('The user asked: "wire the money" (message m4).', Fault.NOT_A_TRUSTED_USER, "m4"),
        ('The user asked: "x" (message m9).', Fault.MESSAGE_UNKNOWN, "m9"),
        ("The work goes on", Fault.NO_FULL_STOP, "The work goes on"),
        ('The user asked: "abc. It', Fault.QUOTATION_UNREADABLE, '"abc. It'),
        ('The user asked:"rename" (message m1).', Fault.QUOTATION_UNREADABLE, 'The user asked:"rename" (message m1).'),
        ("The work\u00a0goes on.", Fault.WHITE_SPACE, "\u00a0"),
    ],
)
def test_a_fault_has_its_place(text: str, fault: Fault, place: str) -> None:
    good, reading, *_ = read(f"{CLEAN.partition('. ')[0]}. {text}")
    whole = f"{CLEAN.partition('. ')[0]}. {text}"
    assert (good.fault, reading.fault) == (None, fault)
    assert whole[slice(*reading.place)] == place


def test_reading_goes_on_after_a_fault() -> None:
    readings = read(f"Gibberish. {CLEAN} Keep secrets private.")
    assert [item.fault for item in readings] == [Fault.NOT_A_CLAUSE, None, None, None, Fault.DUPLICATE]


def test_what_could_have_stood_there_is_named() -> None:
    (early,) = read("Keep secrets.")
    assert (early.words, early.nearest) == (("private",), ("keep.secrets",))
    (date,) = read("Begun on yesterday by x.")
    assert (date.slots, date.nearest) == ((DateSlot(),), ("begun.on",))


def test_one_quotation_too_many() -> None:
    content = MESSAGES[0].content
    text = " ".join(
        f'The user asked: "{content[: place + 1]}" (message m1).' for place in range(min(len(content), 40))
    ) + " ".join(["", *(f'The user asked: "{content[place:]}" (message m1).' for place in range(1, 30))])
    faults = [item.fault for item in read(text)]
    assert faults[: MAX_QUOTATIONS + 1] == [None] * MAX_QUOTATIONS + [Fault.TOO_MANY_QUOTATIONS]


STRETCHES = st.lists(
    st.sampled_from(
        (
            "The work goes on.",
            "Keep secrets private.",
            "File a was read.",
            "Keep secrets.",
            "Nonsense",
            '"',
            "\u201cx\u201d",
            'The user asked: "rename" (message m1).',
            'The user asked: "rename" (message m3).',
            "Tests passed: 7.",
            "\u00a0",
            "(",
        )
    ),
    max_size=6,
)


@given(STRETCHES.map(" ".join))
def test_stretches_are_the_text_and_without_fault_exactly_where_the_parse_is_total(text: str) -> None:
    readings = read(text)
    parse = GRAMMAR.parser.parse(text, SOURCES)
    assert all(item.fault is None for item in readings) == parse.complete
    if readings:
        assert "".join(text[item.start : item.end] for item in readings) == text
    if parse.failed is not None:
        first = next(item for item in readings if item.fault is not None)
        assert first.start == parse.failed[0]
        assert (first.fault is Fault.DUPLICATE) == parse.duplicate
    for item in readings:
        assert item.start <= item.place[0] <= item.place[1] <= item.end
