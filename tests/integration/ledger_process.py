"""``python -m tests.integration.ledger_process FILE``: one ledger writer in a process, made to be interrupted.

FILE is JSON: where the broker is, how the topics are called, and at which step of which transaction the process sends
itself a signal. It ends with the status that ``pratique run ledger`` would end with.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pratique.errors import RefusedError
from streams.adapters.ledger_writer import LedgerTopics, LedgerWriter, WriterTimes
from streams.adapters.prometheus import PrometheusMetrics
from streams.application.ledger import LedgerLimits
from tests.integration.kafka_container import SHORT_SESSION_MS
from tests.unit.streams.domain.quarantine.automatics import AT_ONCE
from tests.unit.streams.domain.quarantine.builders import trust

LOG = logging.getLogger("ledger-process")


def main() -> None:
    """Run a writer until SIGTERM."""
    given: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    logging.basicConfig(level="INFO", format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr)
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    seen = 0

    def reached(step: str) -> None:
        nonlocal seen
        seen += step == given["step"]
        if step == given["step"] and seen == given["transaction"]:
            os.kill(os.getpid(), given["signal"])

    known = trust(given["now_ms"])
    try:
        writer = LedgerWriter(
            {"bootstrap.servers": given["bootstrap"]},
            LedgerTopics(**given["topics"]),
            given["group"],
            f"{given['group']}.{os.getpid()}",
            times=WriterTimes(SHORT_SESSION_MS, given["transaction_timeout_ms"], given["batch_records"]),
            limits=LedgerLimits(
                given["entries_per_tenant"], 60_000, accepts_lost_reviews=given["accepts_lost_reviews"]
            ),
            trust=lambda: known,
            rules=lambda *_: AT_ONCE if given["automatic"] else None,
            now_ms=lambda: time.time_ns() // 1_000_000 + given["ahead_ms"],
            metrics=PrometheusMetrics({"app": "ledger"}),
            is_stopping=stopping.is_set,
            on_ready=lambda: Path(given["ready"]).touch(),
            reached=reached,
        )
        writer.run()
    except RefusedError as error:
        sys.stderr.write(f"refused: {error}\n")
        os._exit(1)
    except Exception:
        LOG.exception("ending without committing")
        os._exit(70)
    writer.close()


if __name__ == "__main__":
    main()
