"""A review topic that lost records, older states and all, is noticed by the next owner of its partition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pratique.contract import avro
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.application.ports.log import Channel
from streams.domain.quarantine.record import Action
from streams.errors import LedgerBrokenError
from streams.wire.ledger import consequences, read_audit, read_entry, read_review
from tests.unit.streams.application.test_ledger import COUNT, PARTITION
from tests.unit.streams.application.test_ledger_automatic import END, Ledger
from tests.unit.streams.domain.quarantine.automatics import AT_ONCE
from tests.unit.streams.domain.quarantine.builders import MINUTE, NOW

ENTRIES = 2
Records = list[tuple[Channel, bytes | None, bytes | None]]


@pytest.fixture
def records() -> Records:
    """Two automatic entries, of which a curator kept one."""
    ledger = Ledger(AT_ONCE)
    ledger.add(1)
    ledger.add(2)
    ledger.speak(Action.ADD, 1, 1)
    return ledger.records


def read(records: Records, *, accepts: bool = False) -> LedgerPartition:
    """Return a new owner that has read what the topics hold."""
    state = LedgerPartition(PARTITION, COUNT, LedgerLimits(100, MINUTE, accepts))
    for channel, key, value in records:
        if channel is Channel.LEDGER:
            state.load(key, read_entry(value))
        elif channel is Channel.REVIEW:
            state.load_review(key, read_review(value))
    state.check(read_audit(audits(records)[-1]))
    return state


def audits(records: Records) -> list[bytes | None]:
    return [value for channel, _, value in records if channel is Channel.AUDIT]


def without(records: Records, *lost: int) -> Records:
    """Return records without the reviews of these places."""
    places = [place for place, record in enumerate(records) if record[0] is Channel.REVIEW]
    return [record for place, record in enumerate(records) if place not in {places[index] for index in lost}]


def test_what_lost_nothing_is_taken_over(records: Records) -> None:
    assert len(read(records)) == ENTRIES


@pytest.mark.parametrize("lost", [(0, 1, 2), (1,), (2,)], ids=["all", "one entry's", "the newest of one's"])
def test_what_lost_anything_is_refused(records: Records, lost: tuple[int, ...]) -> None:
    with pytest.raises(LedgerBrokenError, match="review partition"):
        read(without(records, *lost))


@pytest.mark.parametrize(
    "change", [{"state": "EXPIRED"}, {"revision": 7}, {"changed_at": 8}], ids=["state", "revision", "moment"]
)
def test_what_tells_another_state_is_refused(records: Records, change: dict[str, Any]) -> None:
    place = max(place for place, record in enumerate(records) if record[0] is Channel.REVIEW)
    channel, key, value = records[place]
    known = read_review(value)
    assert known is not None
    with pytest.raises(LedgerBrokenError, match="review partition"):
        read([*records[:place], (channel, key, avro.encode(replace(known, **change))), *records[place + 1 :]])


def test_what_holds_more_than_the_audit_says_is_refused(records: Records) -> None:
    last = max(place for place, record in enumerate(records) if record[0] is Channel.AUDIT)
    newer = [record for place, record in enumerate(records) if place != last]
    with pytest.raises(LedgerBrokenError):
        read(newer)


def test_an_earlier_release_s_audit_is_held_to_nothing(records: Records) -> None:
    said = read_audit(audits(records)[-1])
    unstated = avro.encode(replace(said, reviews_count=-1, reviews_sum=""))
    read([*without(records, 0, 1, 2), (Channel.AUDIT, None, unstated)])


def test_an_operator_who_accepts_the_loss_has_it_written_down_once(records: Records) -> None:
    lost = without(records, 0, 1, 2)
    state = read(lost, accepts=True)
    written = [output for decision in state.ended(NOW) for output in consequences(decision, PARTITION)]
    assert [item.channel for item in written] == [Channel.AUDIT]
    said = read_audit(written[0].value)
    assert (said.accepted, said.reason_code, said.command_json) == (False, "LEDGER_REVIEWS_LOST", None)
    assert (said.reviews_count, said.heads_count) == (0, ENTRIES)
    assert not list(state.ended(END)), "what lost its record has no end any more"
    read([*lost, (Channel.AUDIT, None, written[0].value)])  # whoever comes next accepts nothing, and need not


def test_accepting_a_loss_changes_nothing_where_nothing_is_lost(records: Records) -> None:
    assert not list(read(records, accepts=True).ended(NOW))
