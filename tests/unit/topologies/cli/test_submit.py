"""``pratique submit``: one line out for each line in, in order, and the exit status that sums them up."""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pratique.contract.avro import decode
from pratique.contract.dsse import COMMITMENTS_TYPE, seal
from pratique.contract.records import CompactionRequested, VerdictOutcome
from pratique.contract.signing import Ed25519Signer
from pratique.errors import ConfigurationError, UnavailableError
from pratique.pinned import PolicySource
from pratique.stack import Stack
from pratique.transport import Received, Transport
from tests.fakes.kafka import FakeKafka, FakeTransport
from tests.unit.sdk.builders import (
    CANDIDATE,
    COMMITMENT_SIGNER,
    MESSAGES,
    PUBLISHER,
    STANDING,
    TASK,
    TENANT,
    FakeGateService,
    FakePolicies,
    received,
    verdict,
)
from topologies.cli.inputs import bounded_lines
from topologies.cli.submit import MAX_LINE_BYTES, submit

submit_module = importlib.import_module("topologies.cli.submit")


class Stand:
    """A stack in memory, and the command run against it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.kafka = FakeKafka()
        self.service = FakeGateService(self.kafka)
        self.transports: list[FakeTransport] = []
        self.policies = FakePolicies()
        self.missing: ConfigurationError | None = None
        stand = self

        class FakeStack(Stack):
            def transport(self) -> Transport:
                stand.transports.append(FakeTransport(stand.kafka))
                return stand.transports[-1]

            def policies(self, clock: Callable[[], int]) -> PolicySource:
                del clock
                return stand.policies

            def publisher_keys(self, tenant_id: str, key: str | Path | None = None) -> tuple[Ed25519Signer, ...]:
                del key
                if tenant_id != TENANT:
                    raise ConfigurationError(f"no key of tenant {tenant_id}")
                return (PUBLISHER,)

        def read(stack_file: Path) -> Stack:
            if stand.missing is not None:
                raise stand.missing
            return FakeStack("b:1", str(stack_file), Path(), None, None, {})

        monkeypatch.setattr(Stack, "read", read)

    def run(self, *lines: object, wait_s: float = 30.0, arguments: tuple[str, ...] = ("-",)) -> tuple[int, list[Any]]:
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        result = CliRunner().invoke(submit, [*arguments, "--wait", str(wait_s)], input=text.encode())
        assert result.exception is None or isinstance(result.exception, SystemExit)
        self.stderr = result.stderr
        return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    made = Stand(monkeypatch)
    yield made
    assert all(transport.closed for transport in made.transports)


def line(**changes: object) -> dict[str, object]:
    return {
        "kind": "compaction",
        "tenant_id": TENANT,
        "task_id": TASK,
        "source_messages": [
            {"message_id": item.message_id, "role": item.role.value, "content": item.content} for item in MESSAGES
        ],
        "candidate_json": CANDIDATE,
        **changes,
    }


def test_accepted_request_prints_its_verdict(stand: Stand) -> None:
    code, (answer,) = stand.run(line(compaction_request_id="r1"))
    assert code == 0
    assert (answer["outcome"], answer["request_id"], answer["tenant_id"]) == ("ACCEPTED", "r1", TENANT)
    assert "error" not in answer


def test_what_is_left_out_comes_from_policy_and_clock(stand: Stand) -> None:
    stand.run(line())
    value = stand.service.requests[0].value
    asked = decode(value, CompactionRequested)
    assert asked.expected_invariant_ids == ("no-exfiltration",)
    assert asked.expected_commitment_ids == ("approved-tools",)
    assert asked.policy_id == "default"
    assert asked.compaction_request_id
    assert asked.requested_at > 1_700_000_000_000
    assert asked.commitments is None


def test_commitments_are_sent_as_the_envelope_they_are(stand: Stand) -> None:
    envelope = seal(COMMITMENTS_TYPE, json.dumps(STANDING).encode(), COMMITMENT_SIGNER)
    stand.run(line(commitments=json.loads(envelope), expected_commitment_ids=["approved-tools"]))
    assert decode(stand.service.requests[0].value, CompactionRequested).commitments == envelope


def test_ids_of_commitments_that_the_line_brings_along_come_from_them(stand: Stand) -> None:
    statement = {
        "schema_version": "pratique.commitment-statement.v1",
        "tenant_id": TENANT,
        "task_id": TASK,
        "not_before": 0,
        "expires_at": 2**52,
        "snapshot": STANDING,
    }
    stand.policies.current = replace(stand.policies.current, standing=None)
    genuine, foreign = (
        json.loads(seal(COMMITMENTS_TYPE, json.dumps(statement | {"task_id": task}).encode(), COMMITMENT_SIGNER))
        for task in (TASK, "another")
    )
    stand.run(line(commitments=genuine), line(commitments=foreign), line())
    expected = [decode(item.value, CompactionRequested).expected_commitment_ids for item in stand.service.requests]
    assert expected == [("approved-tools",), (), ()]


def test_quarantine_is_a_verdict_and_exits_1(stand: Stand) -> None:
    stand.service.answer = VerdictOutcome.QUARANTINED
    code, (answer,) = stand.run(line())
    assert code == 1
    assert answer["outcome"] == "QUARANTINED"
    assert answer["reasons"][0]["code"] == "SECRET"


def test_no_verdict_in_time_is_null_and_exits_3(stand: Stand) -> None:
    stand.service.answer = None
    assert stand.run(line(), wait_s=0.05) == (3, [{"verdict": None}])


def test_strangers_verdict_is_none(stand: Stand) -> None:
    stand.service.key = COMMITMENT_SIGNER
    assert stand.run(line(), wait_s=0.05) == (3, [{"verdict": None}])


def test_answers_come_in_the_order_of_the_input(stand: Stand) -> None:
    held: list[Received] = []

    def last_first(record: Received) -> None:
        if record.topic != "compaction.requested":
            return
        held.append(record)
        if len(held) == 20:
            for earlier in reversed(held):
                assert earlier.value is not None
                stand.service.send(received(verdict(earlier.value)))

    stand.kafka.on_publish = last_first
    ids = [f"r{index}" for index in range(20)]
    code, answers = stand.run(*(line(compaction_request_id=item) for item in ids))
    assert code == 0
    assert [answer["request_id"] for answer in answers] == ids


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no JSON", "SCHEMA_INVALID"),
        ('{"kind":"compaction","kind":"compaction"}', "DUPLICATE_KEY"),
        ('{"kind":"compaction","requested_at":NaN}', "NON_FINITE"),
        ('{"kind":"recall"}', "SCHEMA_INVALID"),
        ("[" * 100, "TOO_LARGE"),
        ('"\\ud800"', "SCHEMA_INVALID"),
    ],
)
def test_refused_line_says_why_and_the_others_go_on(stand: Stand, text: str, code: str) -> None:
    status, answers = stand.run(line(compaction_request_id="r1"), text, line(compaction_request_id="r2"))
    assert status == 1
    assert [answer.get("request_id") for answer in answers] == ["r1", None, "r2"]
    assert answers[1]["code"] == code
    assert answers[1]["error"]


def test_field_of_the_wrong_type_is_named(stand: Stand) -> None:
    _, (answer,) = stand.run(line(task_id=5))
    assert "task_id" in answer["error"]


def test_request_over_the_bound_is_refused(stand: Stand) -> None:
    big = line(source_messages=[{"message_id": "m1", "role": "user", "content": "x" * (4 * 1024 * 1024)}])
    code, answers = stand.run(big, line())
    assert code == 1
    assert answers[0]["code"] == "TOO_LARGE"
    assert answers[1]["outcome"] == "ACCEPTED"


def test_tenant_without_a_key_here_is_refused(stand: Stand) -> None:
    stand.policies.others = {}
    defaults = {"expected_invariant_ids": ["a"], "expected_commitment_ids": []}
    code, answers = stand.run(line(tenant_id="other", **defaults), line())
    assert code == 1
    assert "other" in answers[0]["error"]
    assert answers[1]["outcome"] == "ACCEPTED"


def test_blank_lines_are_passed_over_and_nothing_in_is_nothing_out(stand: Stand) -> None:
    code, answers = stand.run("", line(), "   ", "")
    assert (code, len(answers)) == (0, 1)
    assert stand.run() == (0, [])


def test_worst_answer_decides_the_status(stand: Stand) -> None:
    stand.service.answer = None
    code, answers = stand.run(line(), "no JSON", wait_s=0.05)
    assert code == 3
    assert answers[0] == {"verdict": None}


def test_broker_away_exits_3_and_says_so(stand: Stand) -> None:
    stand.kafka.away = True
    code, answers = stand.run(line())
    assert (code, answers) == (3, [])
    assert stand.stderr


def test_request_that_is_not_acknowledged_is_null(stand: Stand) -> None:
    stand.kafka.acknowledges = False
    assert stand.run(line(), wait_s=0.05) == (3, [{"verdict": None}])
    assert "acknowledge" in stand.stderr


def test_policy_repository_away_exits_3(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise UnavailableError("the policy repository is out of reach")

    monkeypatch.setattr(stand.policies, "pinned", away)
    code, answers = stand.run(line())
    assert (code, answers) == (3, [])
    assert "out of reach" in stand.stderr


def test_missing_stack_is_usage(stand: Stand) -> None:
    stand.missing = ConfigurationError("is the stack up (make up)?")
    assert stand.run(line()) == (2, [])
    assert "make up" in stand.stderr


def test_missing_file_is_usage(stand: Stand, tmp_path: Path) -> None:
    assert stand.run(arguments=(str(tmp_path / "missing.jsonl"),))[0] == 2


def test_file_is_read(stand: Stand, tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_text(json.dumps(line()) + "\n" + json.dumps(line()))
    code, answers = stand.run(arguments=(str(file),))
    assert (code, len(answers)) == (0, 2)


@pytest.mark.parametrize("wait_s", [0, -1])
def test_wait_is_positive(stand: Stand, wait_s: float) -> None:
    assert stand.run(line(), wait_s=wait_s)[0] == 2


def test_lines_over_the_bound_are_passed_over_whole() -> None:
    source = io.BytesIO(b"one\n" + b"x" * 25 + b"\n\n" + b"y" * 10 + b"\n" + b"z" * 11)
    assert list(bounded_lines(source, 10)) == [b"one\n", None, b"y" * 10 + b"\n", None]
    assert MAX_LINE_BYTES > 24 * 1024 * 1024


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_verdict_that_the_terminal_has_no_letters_for_is_printed_as_json_still(
    stand: Stand, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(submit_module, "verdict_to_json", lambda item: {"request_id": f"{item.request_id} \u6f22"})
    lines = b"".join(json.dumps(line(compaction_request_id=name)).encode() + b"\n" for name in ("r1", "r2"))
    result = CliRunner(charset=encoding).invoke(submit, ["-", "--wait", "30"], input=lines)
    answers = [json.loads(text) for text in result.stdout_bytes.decode(encoding).splitlines()]
    assert (result.exit_code, answers) == (0, [{"request_id": "r1 \u6f22"}, {"request_id": "r2 \u6f22"}])
    assert stand.transports


def test_an_answer_that_fails_is_counted_and_those_after_it_are_printed(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(item: Any) -> dict[str, str]:  # noqa: ANN401 - a verdict
        if item.request_id == "r1":
            raise ValueError("d29yZA")
        return {"request_id": item.request_id}

    monkeypatch.setattr(submit_module, "verdict_to_json", broken)
    code, answers = stand.run(line(compaction_request_id="r1"), line(compaction_request_id="r2"))
    assert (code, answers) == (3, [{"verdict": None}, {"request_id": "r2"}])
    assert "ValueError" in stand.stderr
    assert "d29yZA" not in stand.stderr
