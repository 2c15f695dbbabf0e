"""A witness of the gate: every verdict, dead letter, ledger command and audit entry as it lies in the topics.

The contract: what is appended after the witness was made is seen. It judges nothing and believes nothing; it is there
to compare bytes, and to find out what became of a request that nobody answers.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Self, TypeVar

from pratique.contract.avro import decode
from pratique.contract.canonical import bytes_sha256
from pratique.contract.digests import request_sha256
from pratique.contract.ledger_records import AuditEntry
from pratique.contract.records import Verdict
from pratique.contract.topics import (
    COMPACTION_ACCEPTED,
    COMPACTION_QUARANTINED,
    DEAD_LETTER,
    QUARANTINE_AUDIT,
    QUARANTINE_COMMANDS,
)
from pratique.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from pratique.transport import Received, Transport

RecordT = TypeVar("RecordT", AuditEntry, Verdict)

POLL_S: Final = 0.2

TOPICS: Final = (COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, DEAD_LETTER, QUARANTINE_COMMANDS, QUARANTINE_AUDIT)

CODE_HEADER: Final = "pratique-dead-letter-code"


class Observer:
    """Reads verdicts, dead letters and the ledger's commands and audit in a thread of its own.

    Args:
        transport: Where to read; it is not closed here.
    """

    def __init__(self, transport: Transport) -> None:
        self._subscription = transport.subscribe(TOPICS)
        self._changed = threading.Condition()  # re-entrant, so that conditions may ask us
        self._verdicts: dict[str, list[bytes]] = defaultdict(list)
        self._dead: dict[str, list[Received]] = defaultdict(list)
        self._commands: dict[bytes, list[bytes]] = defaultdict(list)
        self._audit: dict[str, list[AuditEntry]] = defaultdict(list)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pratique-observer", daemon=True)
        self._thread.start()

    def verdicts(self, request: str) -> Sequence[bytes]:
        """Return the values of every verdict on a request, by the request's digest, in the order of the log."""
        with self._changed:
            return tuple(self._verdicts[request])

    def dead_letter(self, request: str) -> str | None:
        """Return the reason code of a request's dead letter, by the request's digest; null where there is none."""
        with self._changed:
            letters = self._dead[request]
            return None if not letters else dict(letters[0].headers)[CODE_HEADER].decode("ascii")

    def commands(self, key: bytes) -> Sequence[bytes]:
        """Return the ledger commands under a record key, as they were sent, in the order of the log."""
        with self._changed:
            return tuple(self._commands[key])

    def audited(self, command: bytes) -> Sequence[AuditEntry]:
        """Return what the audit says of a ledger command, in the order of the log."""
        with self._changed:
            return tuple(self._audit[bytes_sha256(command)])

    def wait_for(self, condition: Callable[[], bool], *, timeout_s: float) -> bool:
        """Return whether a condition on what was seen became true in time."""
        with self._changed:
            return self._changed.wait_for(condition, timeout=timeout_s)

    def wake(self) -> None:
        """Have those who wait look at their condition again: something else than a record changed it."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Stop reading."""
        self._closing.set()
        self._thread.join()
        self._subscription.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            for received in self._subscription.poll(POLL_S):
                self._keep(received)

    def _keep(self, received: Received) -> None:
        value = received.value or b""
        with self._changed:
            if received.topic == DEAD_LETTER:
                self._dead[request_sha256(value)].append(received)
            elif received.topic == QUARANTINE_COMMANDS:
                self._commands[received.key or b""].append(value)
            elif received.topic == QUARANTINE_AUDIT:
                entry = _decoded(value, AuditEntry)
                if entry is not None:
                    self._audit[entry.command_sha256].append(entry)
            else:
                verdict = _decoded(value, Verdict)
                if verdict is not None:
                    self._verdicts[verdict.request_sha256].append(value)
            self._changed.notify_all()


def _decoded(value: bytes, kind: type[RecordT]) -> RecordT | None:
    try:
        return decode(value, kind)
    except MalformedError:
        return None
