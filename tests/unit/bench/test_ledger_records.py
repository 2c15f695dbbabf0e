"""The benchmark's ledger is one that the writer takes over and a rebuild builds on."""

from __future__ import annotations

import pytest

from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.errors import LedgerBrokenError
from streams.wire.ledger import Transition, change_of, read_audit, read_change, read_entry
from tests.bench.ledger_records import TENANT, TENANTS, Population, fingerprint_of, written

PARTITIONS = 4
POPULATION = Population(4_000, "g1", 1_800_000_000_000)


def loaded(count: int) -> list[tuple[LedgerPartition, bytes]]:
    states = [LedgerPartition(number, PARTITIONS, LedgerLimits(100_000, 0)) for number in range(PARTITIONS)]
    newest = [b""] * PARTITIONS
    for item in written(POPULATION, iter(range(count)), PARTITIONS):
        states[item.partition].load(item.key, read_entry(item.entry))
        newest[item.partition] = item.audit
    return list(zip(states, newest, strict=True))


def test_a_writer_takes_over_what_was_written() -> None:
    states = loaded(200)
    for state, audit in states:
        state.check(read_audit(audit) if audit else None)
    assert sum(len(state) for state, _ in states) == 200


def test_a_writer_takes_over_nothing_that_lacks_an_entry() -> None:
    lacking = POPULATION.command(199).key.partition(PARTITIONS)
    state, audit = loaded(199)[lacking][0], loaded(200)[lacking][1]
    with pytest.raises(LedgerBrokenError):
        state.check(read_audit(audit))


def test_the_audit_tells_of_each_transition() -> None:
    for number, item in enumerate(written(POPULATION, iter(range(50)), PARTITIONS)):
        change = read_change(item.audit)
        assert change == change_of(read_audit(item.audit))
        assert isinstance(change, Transition)
        assert (change.key, change.generation) == (POPULATION.command(number).key, "g1")
        assert change.record_json == POPULATION.command(number).proposed.text


def test_tenants_have_as_many_fingerprints_each_and_what_comes_after_is_everybodys() -> None:
    owners = [POPULATION.tenant(number) for number in range(POPULATION.count)]
    assert [owners.count(tenant) for tenant in (TENANTS[0], TENANTS[1], TENANTS[-1])] == [4, 4, 4]
    assert len({POPULATION.tenant(POPULATION.count + number) for number in range(len(TENANTS))}) == len(TENANTS)


@pytest.mark.parametrize("count", [32_000, 1_000_000, 3_000_000])
def test_what_is_looked_up_is_the_first_tenants_own_and_of_the_first_thousand(count: int) -> None:
    population = Population(count, "g1", 0)
    first = {fingerprint_of(number) for number in range(1000) if population.tenant(number) == TENANT}
    for number in range(100):
        asked = population.looked_up(number, 32)
        assert len(set(asked)) == 32
        assert first.issuperset(asked)
    assert population.looked_up(0, 32) != population.looked_up(1, 32) or count == 32_000
