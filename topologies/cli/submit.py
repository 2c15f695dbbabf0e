"""``pratique submit``: JSON lines in, verdicts as JSON lines out, in the order of the input.

The contract (contract page, Commands): each line is one compaction or recall (``pratique.jsonform``); it is signed,
published, and its verdict printed as a JSON object, ``{"error": …}`` where the line is refused before it is sent, and
``{"verdict": null}`` where no verdict came in time. Requests are in flight together; a verdict is printed as soon as
those before it are.

Exit 0 every request was accepted, 1 one was quarantined or refused, 2 wrong usage or configuration, 3 one got no
answer.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import FIRST_EXCEPTION, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import click

from pratique.asking import Sent
from pratique.candidate import record_ids
from pratique.client import Gate, now_in_ms, outcome
from pratique.commitments import open_commitments
from pratique.contract.canonical import JsonValue, canonical_bytes, parse_json
from pratique.contract.records import VerdictOutcome
from pratique.contract.topics import MAX_REQUEST_BYTES
from pratique.contract.trust import KeyRole
from pratique.errors import ConfigurationError, MalformedError, RefusedError, UnavailableError
from pratique.jsonform import is_recall, recall_from_json, request_from_json, verdict_to_json
from pratique.pinned import Document
from pratique.stack import STACK_FILE, Stack, TrustedSigner
from topologies.cli.inputs import bounded_lines, opened_input
from topologies.cli.output import Exit, json_text, shown, speaks

MAX_LINE_BYTES: Final = 6 * MAX_REQUEST_BYTES + 64 * 1024
"""A request's text may be escaped in JSON, at up to six bytes a character."""

IN_FLIGHT: Final = 256
"""Requests that are waited for together."""

DEFAULT_POLICY_ID: Final = "default"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request in flight, waited for until a moment of the monotonic clock."""

    pending: Sent
    until: float


_Item = _Asked | MalformedError | RefusedError


@click.command()
@click.argument(
    "source", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), default="-", metavar="[FILE|-]"
)
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Longest wait for one verdict, in seconds.",
)
@click.option(
    "--stack",
    "stack_file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=STACK_FILE,
    show_default=True,
    help="What `make up` left; the environment goes before it.",
)
@click.option("--json", "_as_json", is_flag=True, help="Accepted for uniformity: the output is JSON lines always.")
@speaks
def submit(source: Path, wait_s: float, stack_file: Path, _as_json: bool) -> None:  # noqa: FBT001 - a command line's flag
    """Sign and publish the requests in FILE and print each one's verdict."""
    with ExitStack() as opened:
        lines = opened_input(source, opened)
        submission = Submission(Stack.read(stack_file), wait_s)
        opened.callback(submission.close)
        code = submission.run(lines)
    sys.exit(code)


class Submission:
    """One run of the command.

    Args:
        stack: Where everything is.
        wait_s: Longest wait for one verdict, in seconds.
    """

    def __init__(self, stack: Stack, wait_s: float) -> None:
        self._stack = stack
        self._wait_s = wait_s
        self._policies = stack.policies(now_in_ms)
        self._gate: Gate | None = None
        self._signers: dict[tuple[KeyRole, str], TrustedSigner] = {}
        self._items: queue.Queue[_Item | None] = queue.Queue(IN_FLIGHT)
        self._code: int = Exit.DONE
        self._nobody_reads = False

    def run(self, lines: BinaryIO) -> int:
        """Submit every line and return the exit status.

        Raises:
            UnavailableError: Kafka or the policy repository is away; what was asked before is printed.
            ConfigurationError: There is no key for a tenant.
        """
        printer = threading.Thread(target=self._print_all, name="pratique-submit-print")
        printer.start()
        try:
            for line in bounded_lines(lines, MAX_LINE_BYTES):
                if self._nobody_reads:
                    break
                self._items.put(self._ask(line))
        finally:
            self._items.put(None)
            printer.join()
        return self._code

    def close(self) -> None:
        """Let go of Kafka."""
        if self._gate is not None:
            self._gate.close()

    def _ask(self, line: bytes | None) -> _Item:
        try:
            if line is None:
                raise MalformedError(f"line has over {MAX_LINE_BYTES} bytes", code="TOO_LARGE")
            value = parse_json(line, max_bytes=MAX_LINE_BYTES)
            pending = self._recalled(value) if is_recall(value) else self._compacted(value)
        except RefusedError as error:
            return error
        return _Asked(pending, time.monotonic() + self._wait_s)

    def _compacted(self, value: JsonValue) -> Sent:
        request = request_from_json(value, defaults=self._defaults(value))
        signer = self._signer(KeyRole.PUBLISHER, request.tenant_id)
        return self._gate_for(request.tenant_id, signer).publish(request, signer=signer)

    def _recalled(self, value: JsonValue) -> Sent:
        defaults: dict[str, JsonValue] = {
            "requested_at": now_in_ms(),
            "recall_request_id": str(uuid.uuid4()),
            "policy_id": DEFAULT_POLICY_ID,
        }
        request = recall_from_json(value, defaults=defaults)
        if not request.entries and not request.expected_entries:
            raise MalformedError("recall expects no entry and gives none: there is nothing to decide")
        signer = self._signer(KeyRole.LOADER, request.tenant_id)
        return self._gate_for(request.tenant_id, signer).publish_recall(request, signer=signer)

    def _defaults(self, value: JsonValue) -> Mapping[str, JsonValue]:
        """Return what stands for the fields that a line leaves out; policy is asked only for what only it knows."""
        line = value if isinstance(value, Mapping) else {}
        defaults: dict[str, JsonValue] = {
            "requested_at": now_in_ms(),
            "compaction_request_id": str(uuid.uuid4()),
            "policy_id": DEFAULT_POLICY_ID,
        }
        tenant_id, policy_id = line.get("tenant_id"), line.get("policy_id", DEFAULT_POLICY_ID)
        asks = {"expected_invariant_ids", "expected_commitment_ids"} - line.keys()
        if asks and isinstance(tenant_id, str) and isinstance(policy_id, str):
            policy = self._policies.pinned(tenant_id, policy_id)
            defaults["expected_invariant_ids"] = list(record_ids(policy.manifest, "invariant_id"))
            snapshot = policy.standing if line.get("commitments") is None else self._stated(line, tenant_id)
            defaults["expected_commitment_ids"] = list(record_ids(snapshot, "commitment_id")) if snapshot else []
        return defaults

    def _stated(self, line: Mapping[str, JsonValue], tenant_id: str) -> Document | None:
        """Return the commitments that a line brings along; null where they may not be used, which the gate will say."""
        envelope, task_id = line.get("commitments"), line.get("task_id")
        try:
            return open_commitments(
                canonical_bytes(envelope),
                self._policies.trust(),
                tenant_id=tenant_id,
                task_id=task_id if isinstance(task_id, str) else "",
                now_ms=now_in_ms(),
            )
        except RefusedError:
            return None

    def _signer(self, role: KeyRole, tenant_id: str) -> TrustedSigner:
        signer = self._signers.get((role, tenant_id))
        if signer is None:
            keys_of = self._stack.loader_keys if role is KeyRole.LOADER else self._stack.publisher_keys
            try:
                keys = keys_of(tenant_id)
            except ConfigurationError as error:
                raise RefusedError(str(error)) from None
            signer = self._signers[role, tenant_id] = TrustedSigner(keys, self._policies, tenant_id, now_in_ms, role)
        return signer

    def _gate_for(self, tenant_id: str, signer: TrustedSigner) -> Gate:
        if self._gate is None:
            self._gate = Gate(
                transport=self._stack.transport(),
                policies=self._policies,
                signer=signer,
                tenant_id=tenant_id,
                policy_id=DEFAULT_POLICY_ID,
            )
        return self._gate

    def _print_all(self) -> None:
        while (item := self._items.get()) is not None:
            if self._nobody_reads:
                continue
            try:
                code, answer = self._answer(item)
            except Exception as error:  # noqa: BLE001 - whatever it is, it counts, and those after it are printed
                code, answer = Exit.UNKNOWN, {"verdict": None}
                self._complain(_unexpected(error))
            self._code = max(self._code, code)
            self._print(answer)

    def _print(self, answer: JsonValue) -> None:
        try:
            click.echo(json_text(answer, separators=(",", ":")))
        except OSError:
            self._nobody_reads, self._code = True, Exit.UNKNOWN
        except Exception as error:  # noqa: BLE001 - the same
            self._code = Exit.UNKNOWN
            self._complain(_unexpected(error))

    def _complain(self, text: str) -> None:
        with suppress(OSError, ValueError):  # nobody may read that either
            click.echo(f"pratique: {shown(text)}", err=True)

    def _answer(self, item: _Item) -> tuple[Exit, JsonValue]:
        if isinstance(item, RefusedError):
            return Exit.NO, {"error": str(item), "code": getattr(item, "code", None)}
        wait(item.pending.futures, max(0.0, item.until - time.monotonic()), FIRST_EXCEPTION)
        if self._gate is not None:
            self._gate.forget(item.pending)
        try:
            verdict = outcome(item.pending)
        except UnavailableError as error:
            self._complain(str(error))
            return Exit.UNKNOWN, {"verdict": None}
        except RefusedError as error:
            return Exit.NO, {"error": str(error), "code": getattr(error, "code", None)}
        if verdict is None:
            return Exit.UNKNOWN, {"verdict": None}
        accepted = verdict.outcome is VerdictOutcome.ACCEPTED
        return Exit.DONE if accepted else Exit.NO, verdict_to_json(verdict)


def _unexpected(error: Exception) -> str:
    """Say what kind of error it is; its text may hold content."""
    return f"unexpected {type(error).__qualname__} with an answer: a fault of this program"
