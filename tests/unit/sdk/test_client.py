"""The client against a log in memory and a gate that answers as a case wants."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from pratique import Compaction
from pratique.context import MARKER
from pratique.contract.avro import decode
from pratique.contract.canonical import JsonValue
from pratique.contract.dsse import COMMITMENTS_TYPE, seal
from pratique.contract.records import CompactionRequested, SourceMessage, VerdictOutcome
from pratique.contract.signing import Signature, verify_ed25519
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_REQUESTED, MAX_REQUEST_BYTES
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import (
    KafkaUnavailableError,
    MalformedError,
    NoContextError,
    SignerNotAuthorisedError,
    TooLargeError,
    UnavailableError,
    VerdictRefusedError,
)
from pratique.policy.errors import PolicyExpiredError
from tests.unit.sdk.builders import (
    CANDIDATE,
    GATE,
    MESSAGES,
    NOW_MS,
    POLICY,
    PUBLISHER,
    STANDING,
    STRANGER,
    SUMMARY,
    TASK,
    commitments,
    received,
    trust,
    trusted,
    verdict,
)
from tests.unit.sdk.client_world import LONG_S, SHORT_S, SYSTEM, TAIL, World


def test_accepted_summary_is_inserted_as_data_after_the_trusted_instruction(world: World) -> None:
    answer = world.compact()
    assert answer.accepted
    assert answer.reasons == ()
    assert answer.context == [SYSTEM, {"role": "user", "content": MARKER + SUMMARY}]
    assert POLICY.instruction in SYSTEM["content"]
    assert "disclosure == never" in SYSTEM["content"]


def test_request_is_signed_over_the_bytes_as_published(world: World) -> None:
    world.compact()
    record = world.service.requests[0]
    assert record.value is not None
    verify_ed25519(
        PUBLISHER.private_key.public_key(), Signature.from_headers(record.headers), COMPACTION_REQUESTED, record.value
    )
    asked = decode(record.value, CompactionRequested)
    assert asked.source_messages == MESSAGES
    assert asked.candidate_json == CANDIDATE
    assert asked.expected_invariant_ids == ("no-exfiltration",)
    assert asked.expected_commitment_ids == ("approved-tools",)
    assert asked.requested_at == NOW_MS


def test_mappings_are_messages_too(world: World) -> None:
    plain = [{"message_id": "m1", "role": "user", "content": "Hello."}]
    world.service.answer = VerdictOutcome.QUARANTINED
    answer = world.gate.compact(plain, "{}", task_id=TASK)
    assert answer.context == [SYSTEM, {"role": "user", "content": "Hello."}]


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"message_id": "m1", "role": "system", "content": "x"}],
        [{"message_id": "m1", "role": "user"}],
        [{"message_id": "m1", "role": "user", "content": ""}],
        [{"message_id": "", "role": "user", "content": "x"}],
        [{"message_id": "m1", "role": "user", "content": 5}],
        [{"message_id": "m1", "role": "user", "content": "x", "name": "y"}],
        [{"message_id": "m1", "role": "user", "content": "x", "provenance": "HIGH"}],
        [{"message_id": "m1", "role": "user", "content": "x"}] * 2,
        [{"message_id": "m1", "role": "user", "content": "nul \x00"}],
        [{"message_id": "m1", "role": "user", "content": "lone \ud800"}],
    ],
)
def test_malformed_messages_are_refused_before_anything_is_sent(
    world: World, messages: list[dict[str, object]]
) -> None:
    with pytest.raises(MalformedError):
        world.gate.compact(messages, CANDIDATE, task_id=TASK)
    assert world.service.requests == []


def test_request_over_the_bound_is_refused_before_it_is_sent(world: World) -> None:
    message = SourceMessage("m1", MESSAGES[0].role, "x" * MAX_REQUEST_BYTES)
    with pytest.raises(TooLargeError):
        world.gate.compact([message], CANDIDATE, task_id=TASK)
    assert world.service.requests == []


def test_quarantine_keeps_the_tail_that_the_verdict_names(world: World) -> None:
    world.service.answer = VerdictOutcome.QUARANTINED
    answer = world.compact()
    assert not answer.accepted
    assert answer.reasons[0].code == "SECRET"
    assert answer.context == [SYSTEM, *TAIL]


def test_quarantine_without_a_fallback_inserts_nothing(world: World) -> None:
    world.service.answer = VerdictOutcome.QUARANTINED
    world.service.changes = {
        "fallback": None,
        "event_json": None,
        "event_sha256": None,
        "policy_set_sha256": None,
        "source_population_sha256": None,
    }
    answer = world.compact()
    assert answer.verdict is not None
    with pytest.raises(NoContextError):
        _ = answer.context


def test_no_verdict_in_time_keeps_the_tail_that_policy_bounds(world: World) -> None:
    world.service.answer = None
    answer = world.compact(SHORT_S)
    assert answer.verdict is None
    assert answer.context == [SYSTEM, *TAIL]


def test_late_verdict_changes_nothing(world: World) -> None:
    world.service.answer = None
    world.compact(SHORT_S)
    world.service.send(received(verdict(world.sent())))
    world.service.answer = VerdictOutcome.ACCEPTED
    assert world.compact().accepted
    assert world.gate.ignored == {}


def test_broker_away_is_unavailable_and_the_fallback_can_still_be_built(world: World) -> None:
    world.kafka.away = True
    with pytest.raises(KafkaUnavailableError):
        world.compact(SHORT_S)
    assert world.gate.fallback(MESSAGES, task_id=TASK) == [SYSTEM, *TAIL]


def test_request_that_is_never_acknowledged_is_unavailable(world: World) -> None:
    world.compact()
    world.kafka.away = True
    with pytest.raises(KafkaUnavailableError, match="acknowledge"):
        world.compact(SHORT_S)


def test_subscription_that_ends_fails_its_waiters_and_the_next_request_subscribes_anew(world: World) -> None:
    world.service.answer = None
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(world.compact)
        with world.kafka.changed:
            world.kafka.changed.wait_for(lambda: bool(world.service.requests), LONG_S)
        world.transport.subscriptions[0].fail(KafkaUnavailableError("gone"))
        with pytest.raises(KafkaUnavailableError, match="gone"):
            waiting.result(LONG_S)
    world.service.answer = VerdictOutcome.ACCEPTED
    assert world.compact().accepted
    assert len(world.transport.subscriptions) == 2


def test_many_requests_at_once_each_get_their_own_verdict(world: World) -> None:
    def one(index: int) -> tuple[int, Compaction]:
        message = SourceMessage("m1", MESSAGES[0].role, f"message {index}")
        candidate = world.gate.draft([message], f"summary {index}", task_id=f"task-{index}")
        return index, world.gate.compact([message], candidate, task_id=f"task-{index}")

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(40)))
    assert [answer.context[1]["content"] for _, answer in answers] == [f"{MARKER}summary {i}" for i, _ in answers]
    assert len(world.transport.subscriptions) == 1


def test_asynchronous_requests_at_once_share_the_loop(world: World) -> None:
    async def all_at_once() -> list[Compaction]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(world.gate.acompact(MESSAGES, CANDIDATE, task_id=f"task-{index}"))
                for index in range(10)
            ]
        return [task.result() for task in tasks]

    assert all(answer.accepted for answer in asyncio.run(all_at_once()))


def test_asynchronous_wait_ends_like_the_other(world: World) -> None:
    world.service.answer = None
    answer = asyncio.run(world.gate.acompact(MESSAGES, CANDIDATE, task_id=TASK, wait_s=SHORT_S))
    assert answer.verdict is None
    assert answer.context == [SYSTEM, *TAIL]
    world.kafka.away = True
    with pytest.raises(KafkaUnavailableError):
        asyncio.run(world.gate.acompact(MESSAGES, CANDIDATE, task_id=TASK, wait_s=SHORT_S))


def test_cancelled_wait_leaves_no_waiter_behind(world: World) -> None:
    world.service.answer = None

    async def cancelled() -> None:
        task = asyncio.create_task(world.gate.acompact(MESSAGES, CANDIDATE, task_id=TASK))
        while not world.service.requests:  # noqa: ASYNC110 - the service is in no loop
            await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    world.service.send(received(verdict(world.sent()), STRANGER))
    world.service.answer = VerdictOutcome.ACCEPTED
    assert world.compact().accepted
    assert world.gate.ignored == {}


def test_strangers_verdict_is_ignored_and_counted_and_the_wait_goes_on(world: World) -> None:
    world.service.key = STRANGER
    answer = world.compact(SHORT_S)
    assert answer.verdict is None
    assert world.gate.ignored == {"signer": 1}
    assert answer.context == [SYSTEM, *TAIL]


def test_genuine_verdict_after_a_forged_one_is_believed(world: World) -> None:
    world.service.answer = None
    forged_first = world.kafka.on_publish
    assert forged_first is not None

    def both(record: object) -> None:
        forged_first(record)  # type: ignore[arg-type] # the hook's own argument
        if getattr(record, "topic", None) == COMPACTION_REQUESTED:
            world.service.send(received(verdict(world.sent()), STRANGER))
            world.service.send(received(verdict(world.sent(), VerdictOutcome.QUARANTINED), GATE))

    world.kafka.on_publish = both
    answer = world.compact()
    assert answer.verdict is not None
    assert answer.verdict.outcome is VerdictOutcome.QUARANTINED
    assert world.gate.ignored == {"signer": 1}


def test_garbage_under_the_right_key_is_ignored(world: World) -> None:
    world.service.answer = VerdictOutcome.ACCEPTED
    genuine = world.kafka.on_publish
    assert genuine is not None

    def garbage_first(record: object) -> None:
        if getattr(record, "topic", None) == COMPACTION_REQUESTED:
            key = record.key  # type: ignore[attr-defined] # a received record
            world.kafka.append(COMPACTION_ACCEPTED, key, b"\xc3\x01garbage", ())
        genuine(record)  # type: ignore[arg-type] # the hook's own argument

    world.kafka.on_publish = garbage_first
    assert world.compact().accepted
    assert world.gate.ignored == {"form": 1}


def test_gate_key_that_was_rotated_since_is_found_by_one_refresh(world: World) -> None:
    world.policies.rotated = trust(trusted(STRANGER, KeyRole.GATE))
    world.service.key = STRANGER
    assert world.compact().accepted
    assert world.policies.refreshes == 1


@pytest.mark.parametrize(
    ("failure", "check"),
    [
        (PolicyExpiredError("expired"), "policy"),
        (UnavailableError("away"), "unavailable"),
        (RuntimeError("a fault of ours"), "error"),
    ],
)
def test_verdict_that_can_not_be_checked_is_not_believed_and_the_wait_goes_on(
    world: World, monkeypatch: pytest.MonkeyPatch, failure: Exception, check: str
) -> None:
    checked = world.policies.trust
    calls: list[int] = []

    def failing() -> TrustTarget:
        calls.append(1)
        if len(calls) == 2:  # the first asks whether a verdict could be checked at all
            raise failure
        return checked()

    monkeypatch.setattr(world.policies, "trust", failing)
    assert world.compact(SHORT_S).verdict is None
    assert world.gate.ignored == {check: 1}
    assert world.compact().accepted


def test_verdict_is_used_once(world: World) -> None:
    request = world.gate.request(MESSAGES, CANDIDATE, task_id=TASK)
    first = world.gate.ask(request, wait_s=LONG_S)
    assert first is not None
    context = world.gate.context(request, first)
    assert context[1]["content"] == MARKER + SUMMARY
    with pytest.raises(VerdictRefusedError, match="used"):
        world.gate.context(request, first)


def test_verdict_past_its_validity_is_not_inserted(world: World) -> None:
    request = world.gate.request(MESSAGES, CANDIDATE, task_id=TASK)
    answer = world.gate.ask(request, wait_s=LONG_S)
    assert answer is not None
    world.now_ms = answer.valid_until
    with pytest.raises(VerdictRefusedError, match="no longer"):
        world.gate.context(request, answer)


def test_pinned_set_that_was_replaced_meanwhile_is_rendered(world: World) -> None:
    newer = replace(POLICY, policy_set_sha256="7" * 64, policy_sha256="8" * 64, instruction="You are more careful.")
    world.service.policy = newer
    world.policies.others = {newer.policy_set_sha256: newer}
    assert world.compact().context[0]["content"].startswith("You are more careful.")


def test_pinned_set_that_cannot_be_had_builds_no_context(world: World) -> None:
    world.service.policy = replace(POLICY, policy_set_sha256="7" * 64)
    answer = world.compact()
    assert answer.accepted
    with pytest.raises(UnavailableError):
        _ = answer.context


def test_other_rendering_than_the_judged_one_is_not_inserted(world: World) -> None:
    world.service.changes = {"rendered_policy_sha256": "9" * 64}
    answer = world.compact()
    with pytest.raises(VerdictRefusedError, match="rendered"):
        _ = answer.context


def test_commitments_of_the_task_are_rendered(world: World) -> None:
    world.policies.current = replace(POLICY, standing=None)
    world.service.changes = {"rendered_policy_sha256": POLICY.render(STANDING).rendered_policy_sha256}
    answer = world.compact(commitments=commitments())
    assert answer.context[0] == SYSTEM
    assert decode(world.sent(), CompactionRequested).expected_commitment_ids == ("approved-tools",)


def test_no_commitments_at_all_leaves_the_question_to_the_gate_and_no_context(world: World) -> None:
    world.policies.current = replace(POLICY, standing=None)
    world.service.answer = None
    answer = world.compact(SHORT_S)
    with pytest.raises(NoContextError):
        _ = answer.context
    assert decode(world.sent(), CompactionRequested).expected_commitment_ids == ()


@pytest.mark.parametrize(
    "changes",
    [{"task_id": "task-2"}, {"tenant_id": "other"}, {"expires_at": NOW_MS}, {"not_before": NOW_MS + 1}],
)
def test_commitments_of_another_task_are_refused_before_anything_is_sent(
    world: World, changes: dict[str, JsonValue]
) -> None:
    with pytest.raises(Exception, match="commitments are"):
        world.compact(commitments=commitments(**changes))
    assert world.service.requests == []


def test_commitments_signed_by_a_publisher_are_refused(world: World) -> None:
    envelope = seal(COMMITMENTS_TYPE, b"{}", PUBLISHER)
    with pytest.raises(SignerNotAuthorisedError):
        world.compact(commitments=envelope)


def test_closed_gate_asks_nothing(world: World) -> None:
    world.gate.close()
    with pytest.raises(KafkaUnavailableError):
        world.compact()
