"""The demo's recalls mean what they say: distinct rows, and a text is the same to the ledger however it is written."""

from __future__ import annotations

import pytest

from infra.stack import curating, memories
from infra.stack.demo import planned
from infra.stack.memories import COURIER, Recall, disguised
from infra.stack.scenarios import ACCEPTED, Ending
from streams.domain.recall.fingerprint import fingerprint
from streams.domain.recall.signals import text_signals

RECALLS = (*memories.recalls(), curating.KNOWN, curating.CLEARED)


def test_rows_of_the_demo_are_distinct() -> None:
    rows = planned()
    assert len({row.name for row in rows}) == len({row.title for row in rows}) == len(rows)


@pytest.mark.parametrize("recall", RECALLS, ids=lambda recall: recall.name)
def test_what_is_admitted_was_brought_and_asked_for(recall: Recall) -> None:
    brought = {memory.entry_id for memory in recall.brought}
    assert set(recall.admitted) <= brought & set(recall.manifest)
    assert (set(recall.admitted) == brought) == (recall.expected == ACCEPTED)
    assert bool(recall.expected.codes) == (recall.expected.ending is not Ending.ACCEPTED)


def test_a_disguised_text_has_the_same_fingerprint_and_other_words() -> None:
    other = disguised(COURIER)
    assert other.content != COURIER.content
    assert fingerprint(other.content, b"k" * 32) == fingerprint(COURIER.content, b"k" * 32)


def test_no_memory_gives_a_signal_of_its_own() -> None:
    """So that a row shows what it says: the model alone, or the ledger alone."""
    for recall in RECALLS:
        for memory in recall.brought:
            assert not text_signals(memory.content)
