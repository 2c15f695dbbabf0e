"""How the ledger's writer takes commands together; what it does with them is tested on a real log."""

from __future__ import annotations

import itertools
from typing import Any, cast

import pytest
from confluent_kafka import Consumer
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.kafka_log import ReadRecord
from streams.adapters.ledger_writer import next_batch, within

MOST = 3


class Scripted:
    """Holds records, and may be given other partitions while it is asked for more of them."""

    def __init__(self, records: list[str], *, is_given_others: bool = False) -> None:
        self._records = records
        self._is_given_others = is_given_others
        self.fence: object = object()

    def poll(self, _seconds: float) -> str | None:
        return self._records.pop(0) if self._records else None

    def consume(self, most: int, seconds: float) -> list[str]:
        assert seconds == 0, "one record alone waits for no others"
        if self._is_given_others:
            self.fence = object()
        taken, self._records = self._records[:most], self._records[most:]
        return taken


@pytest.mark.parametrize(
    ("records", "taken"),
    [([], []), (["a"], ["a"]), (["a", "b", "c", "d"], ["a", "b", "c"])],
    ids=["none", "one", "many"],
)
def test_what_is_there_is_taken_together(records: list[str], taken: list[str]) -> None:
    assert batch(Scripted(records)) == taken


def test_record_of_an_assignment_that_ended_is_not_served() -> None:
    assert batch(Scripted(["of before", "of after"], is_given_others=True)) == ["of after"]


def batch(scripted: Scripted) -> list[Any]:
    return next_batch(cast("Consumer", scripted), MOST, lambda: scripted.fence)


@given(st.lists(st.none() | st.integers(0, 9), max_size=12), st.integers(1, 20))
def test_a_transaction_is_bounded_in_bytes_and_nothing_is_left_out(sizes: list[int | None], most: int) -> None:
    records = [
        ReadRecord("commands", 0, place, 0, None, None if size is None else b"x" * size, ())
        for place, size in enumerate(sizes)
    ]
    parts = list(within(records, most))
    assert [record for part in parts for record in part] == records
    assert all(parts)
    totals = [sum(len(record.value or b"") for record in part) for part in parts]
    assert all(total <= most or len(part) == 1 for total, part in zip(totals, parts, strict=True))
    for before, after in itertools.pairwise(parts):
        assert sum(len(record.value or b"") for record in (*before, after[0])) > most
