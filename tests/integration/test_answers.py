"""What an agent platform gets for what it asks: its right answer, the same again for the same bytes, its own alone."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from infra.stack.paths import ROOT
from pratique.contract.avro import decode
from pratique.contract.records import CompactionRequested, Evidence, EvidenceKind, VerdictOutcome
from pratique.contract.topics import COMPACTION_REQUESTED, EVIDENCE
from tests.integration.asking import (
    MIXTURE,
    VERDICT_TOPICS,
    Question,
    Stream,
    assert_one_verdict,
    clean,
    conflicting,
    verdicts_since,
)
from tests.integration.platform import OTHER_TENANT
from tests.integration.raw import WAIT_S, Ends, Raw, until

if TYPE_CHECKING:
    from pratique.client import Gate
    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers


def test_each_kind_of_question_gets_its_answer(platform: Platform, gate: Gate) -> None:
    stream = Stream(platform, gate, 2 * len(MIXTURE))
    stream.run()
    stream.check()


@pytest.mark.parametrize("kind", [clean, conflicting])
def test_redelivered_request_gets_the_same_bytes_also_after_a_restart(
    platform: Platform, gate: Gate, kind: Callable[[Gate, str], Question]
) -> None:
    since = platform.log.ends(*VERDICT_TOPICS, COMPACTION_REQUESTED, EVIDENCE)
    question = kind(gate, uuid.uuid4().hex)
    question.check(gate.ask(question.request, wait_s=WAIT_S))

    redeliver(platform, question, since)
    await_verdicts(platform, question, since, 2)
    assert platform.terminate("verdict") == 0
    platform.launch("verdict")
    platform.await_ready("verdict")
    redeliver(platform, question, since)
    records = await_verdicts(platform, question, since, 3)

    assert_one_verdict(records)
    stated = [decode(record.value, Evidence) for record in platform.log.records(EVIDENCE, since=since)]
    kinds = [item.kind for item in stated if item.join_key.request_sha256 == question.sha256]
    assert kinds.count(EvidenceKind.OPENED) == 3
    assert kinds.count(EvidenceKind.DECIDED) == 1


def redeliver(platform: Platform, question: Question, since: Ends) -> None:
    """Append the request's record once more, as a retrying or replaying publisher would."""
    sent = next(
        record for record in platform.log.records(COMPACTION_REQUESTED, since=since) if record.value == question.value
    )
    platform.log.publish(sent.topic, sent.value, key=sent.key, headers=sent.headers)


def await_verdicts(platform: Platform, question: Question, since: Ends, count: int) -> list[Raw]:
    """Return a request's verdict records once there are so many."""
    found: list[Raw] = []

    def enough() -> bool:
        found[:] = verdicts_since(platform, since).get(question.sha256, [])
        return len(found) >= count

    until(enough, f"{count} verdicts on one request")
    assert len(found) == count
    return found


def test_two_tenants_with_the_same_messages_and_ids_do_not_meet(platform: Platform, gate: Gate) -> None:
    """Same messages, same request and task ids, at the same moment; in the first pair the same summary, too."""
    with platform.gate(OTHER_TENANT) as other:
        for kinds in ((clean, clean), (clean, conflicting), (conflicting, clean)):
            subject = uuid.uuid4().hex
            mine, theirs = (kind(asker, subject) for kind, asker in zip(kinds, (gate, other), strict=True))
            shared = {
                name: getattr(mine.request, name) for name in ("task_id", "compaction_request_id", "requested_at")
            }
            theirs = replace(theirs, request=replace(theirs.request, **shared))
            assert mine.request.source_messages == theirs.request.source_messages
            pending = [gate.publish(mine.request), other.publish(theirs.request)]
            verdicts = [item.waiter.future.result(WAIT_S) for item in pending]
            mine.check(verdicts[0])
            theirs.check(verdicts[1])
            assert verdicts[0].source_population_sha256 == verdicts[1].source_population_sha256
            assert verdicts[0].verdict_id != verdicts[1].verdict_id
            assert not gate.ignored
            assert not other.ignored


def test_same_ids_with_altered_content_are_requests_of_their_own(gate: Gate) -> None:
    subject = uuid.uuid4().hex
    first, second = clean(gate, subject), conflicting(gate, subject)
    names = ("task_id", "compaction_request_id", "requested_at")
    shared = {name: getattr(first.request, name) for name in names}
    second = replace(second, request=replace(second.request, **shared))
    first.check(gate.ask(first.request, wait_s=WAIT_S))
    second.check(gate.ask(second.request, wait_s=WAIT_S))


def test_policy_published_anew_leaves_what_is_in_flight_alone(platform: Platform) -> None:
    policy_id = f"renewed-{uuid.uuid4().hex[:8]}"
    old = platform.publish(policy_id)
    with platform.gate(policy_id=policy_id) as gate:
        question = clean(gate, uuid.uuid4().hex)
        assert platform.terminate("consistency") == 0
        before = platform.log.ends(EVIDENCE)
        pending = gate.publish(question.request)
        until(lambda: len(kinds_of(platform, question, before)) == 2, "the request is opened and scanned")
        new = platform.publish(policy_id, summary_min_length=5_000)
        platform.launch("consistency")

        verdict = pending.waiter.future.result(WAIT_S)
        question.check(verdict)
        assert verdict.policy_sha256 == old.policy_set.compaction.policy_sha256
    with platform.gate(policy_id=policy_id) as gate:  # whoever asks now is judged under the new one
        later = clean(gate, uuid.uuid4().hex)
        answer = gate.ask(later.request, wait_s=WAIT_S)
        replace(later, outcome=VerdictOutcome.QUARANTINED, codes=frozenset({"SUMMARY_TOO_SHORT"})).check(answer)
        assert answer is not None
        assert answer.policy_sha256 == new.policy_set.compaction.policy_sha256


def kinds_of(platform: Platform, question: Question, since: Ends) -> list[EvidenceKind]:
    """Return the kinds of evidence about a request, in the order of the log."""
    stated = [decode(record.value, Evidence) for record in platform.log.records(EVIDENCE, since=since)]
    return [item.kind for item in stated if item.join_key.request_sha256 == question.sha256]


def test_submit_prints_a_verdict_for_each_line_in_order(platform: Platform, gate: Gate) -> None:
    questions = [clean(gate, uuid.uuid4().hex), conflicting(gate, uuid.uuid4().hex), clean(gate, uuid.uuid4().hex)]
    lines = [json.dumps(line_of(question.request)) for question in questions]
    lines.insert(1, json.dumps({"kind": "compaction", "tenant_id": "tenant-a"}))
    done = subprocess.run(
        [sys.executable, "-m", "topologies", "submit", "-", "--wait", str(WAIT_S), "--stack", str(platform.stack_file)],
        check=False,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=platform.environment,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("outcome", "refused") for answer in answers] == [
        "ACCEPTED",
        "refused",
        "QUARANTINED",
        "ACCEPTED",
    ]
    assert done.returncode == 1, done.stderr


def line_of(request: CompactionRequested) -> dict[str, object]:
    """Return a request as `pratique submit` reads it; what it leaves out, the command fills in."""
    return {
        "kind": "compaction",
        "tenant_id": request.tenant_id,
        "task_id": request.task_id,
        "source_messages": [
            {
                "message_id": message.message_id,
                "role": message.role.value,
                "content": message.content,
                "provenance": message.provenance.value,
            }
            for message in request.source_messages
        ],
        "candidate_json": request.candidate_json,
    }
