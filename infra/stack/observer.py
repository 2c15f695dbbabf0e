"""A witness of the gate: every verdict and dead letter as it lies in the topics, byte for byte.

The contract: what is appended after the witness was made is seen. It judges nothing and believes nothing; it is there
to compare bytes, and to find out what became of a request that nobody answers.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING, Final, Self

from pratique.contract.avro import decode
from pratique.contract.digests import request_sha256
from pratique.contract.records import Verdict
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, DEAD_LETTER
from pratique.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from pratique.transport import Received, Transport

POLL_S: Final = 0.2

CODE_HEADER: Final = "pratique-dead-letter-code"


class Observer:
    """Reads verdict topics and dead letters in a thread of its own.

    Args:
        transport: Where to read; it is not closed here.
    """

    def __init__(self, transport: Transport) -> None:
        self._subscription = transport.subscribe((COMPACTION_ACCEPTED, COMPACTION_QUARANTINED, DEAD_LETTER))
        self._changed = threading.Condition()  # re-entrant, so that conditions may ask us
        self._verdicts: dict[str, list[bytes]] = defaultdict(list)
        self._dead: dict[str, list[Received]] = defaultdict(list)
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
            else:
                verdict = _verdict(value)
                if verdict is not None:
                    self._verdicts[verdict.request_sha256].append(value)
            self._changed.notify_all()


def _verdict(value: bytes) -> Verdict | None:
    try:
        return decode(value, Verdict)
    except MalformedError:
        return None
