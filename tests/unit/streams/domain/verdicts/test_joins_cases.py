"""Single histories of a partition that once went wrong, or nearly."""

from __future__ import annotations

from pratique.contract.records import EvidenceKind
from tests.fakes.evidence import RECEIPT_KINDS, join_key, opened, receipt
from tests.unit.streams.domain.verdicts.world import HORIZON_MS, World

KEY = join_key()


def decided_twice(world: World) -> None:
    """Let two owners propose about one request; the second proposal lost."""
    world.append(opened(KEY))
    for kind in RECEIPT_KINDS:
        world.append(receipt(kind, KEY))
    world.read(world.owner, 9)
    world.take_over()
    world.read(world.owner, 9)
    (zombie,) = world.zombies
    world.send(zombie, 1)
    world.send(world.owner, 1)
    world.serve()
    assert [record.evidence.kind for record in world.log[3:]] == [EvidenceKind.DECIDED, EvidenceKind.DECIDED]
    assert world.committed == len(world.log)
    assert len(world.published[KEY]) == 1


def contradicted(world: World) -> bool:
    return len(set(world.published[KEY])) > 1


def test_copy_of_a_losing_proposal_is_late_once_the_first_is_forgotten() -> None:
    world = World()
    decided_twice(world)
    world.now_ms += 3 * HORIZON_MS
    world.copy(4)
    world.serve()
    assert not contradicted(world)


def test_copy_of_a_losing_proposal_is_late_for_an_owner_that_just_started() -> None:
    world = World()
    decided_twice(world)
    world.now_ms += 3 * HORIZON_MS
    world.crash()
    world.copy(4)
    world.serve()
    assert not contradicted(world)


def test_copied_opened_does_not_make_a_copied_decision_the_first_after_a_restart() -> None:
    world = World()
    decided_twice(world)
    world.now_ms += 2 * HORIZON_MS - 60_000
    world.copy(0)  # still believed, and answered by repeating the verdict
    world.serve()
    world.now_ms += 2 * HORIZON_MS + 30_000
    world.crash()  # its memory reaches back to the copy, but not to the decision
    world.copy(4)
    world.serve()
    assert not contradicted(world)


def test_copied_opened_that_is_ignored_does_not_make_a_copied_decision_the_first_after_a_restart() -> None:
    world = World()
    decided_twice(world)
    world.now_ms += 3 * HORIZON_MS
    world.copy(0)
    world.serve()
    world.crash()
    world.copy(4)
    world.serve()
    assert not contradicted(world)


def test_copied_opened_never_repeats_a_copied_losing_decision() -> None:
    world = World()
    decided_twice(world)
    world.now_ms += 3 * HORIZON_MS
    world.copy(4)
    world.serve()
    world.crash()  # it remembers the copy, having never seen the first
    world.copy(0)
    world.serve()
    assert not contradicted(world)


def test_opened_between_one_and_two_horizons_finds_its_decision() -> None:
    world = World()
    decided_twice(world)
    world.now_ms += 2 * HORIZON_MS
    world.append(opened(join_key(1), requested_at=world.now_ms))  # the log goes on, and what is old is forgotten
    world.copy(0)
    world.serve()
    assert len(world.published[KEY]) == 2
    assert not contradicted(world)


def test_decision_behind_the_committed_offset_of_another_join_is_known_after_a_restart() -> None:
    world = World()
    world.append(opened(KEY))
    world.append(opened(join_key(1)))  # open for longer: the committed offset stays here
    for kind in RECEIPT_KINDS:
        world.append(receipt(kind, KEY))
    world.serve()
    world.serve()
    assert world.committed == 1
    world.crash()
    world.copy(0)
    world.serve()
    assert not contradicted(world)
    assert world.owner.joins.open_count == 1


def test_kept_partition_knows_what_another_owner_decided_in_between() -> None:
    world = World()
    world.append(opened(KEY))
    world.read(world.owner, 1)
    world.take_over()
    for kind in RECEIPT_KINDS:
        world.append(receipt(kind, KEY))
    world.serve()
    world.serve()
    (zombie,) = world.zombies
    world.expire(zombie)  # it had not read the receipts
    world.give_back(zombie)
    world.copy(0)
    world.serve()
    world.serve()
    assert not contradicted(world)


def test_request_from_before_an_outage_is_served_by_an_owner_that_kept_its_memory() -> None:
    world = World()
    world.append(opened(KEY))
    world.read(world.owner, 1)
    world.now_ms += 5 * HORIZON_MS  # nobody could append
    world.append(opened(join_key(1), requested_at=world.now_ms))
    world.read(world.owner, 1)
    world.give_back(world.owner)
    for kind in RECEIPT_KINDS:
        world.append(receipt(kind, KEY))
    world.serve()
    world.serve()
    assert len(world.published[KEY]) == 1


def test_clock_of_the_log_that_jumps_ahead_and_back_contradicts_nothing() -> None:
    world = World()
    decided_twice(world)
    world.now_ms += 9 * HORIZON_MS
    world.append(opened(join_key(1), requested_at=world.now_ms))
    world.serve()
    world.now_ms -= 9 * HORIZON_MS
    world.copy(0)
    world.serve()
    world.expire(world.owner)
    world.serve()
    assert not contradicted(world)
