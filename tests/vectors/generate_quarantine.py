"""Make ``quarantine.json``: commands, records and keys of the quarantine ledger, byte for byte.

Run it from the root of the repository: ``python -m tests.vectors.generate_quarantine``. A test holds the file against
it; a difference means that what is signed, recorded or looked up changed, which the published language may not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pratique.contract.avro import encode
from streams.application.ledger import LedgerLimits, LedgerPartition
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.quarantine.record import Action
from tests.unit.streams.domain.quarantine.builders import MINUTE, NOW, command, signer, trust

PATH: Final = Path(__file__).with_name("quarantine.json")
PARTITIONS: Final = 8

HISTORIES: Final[dict[str, tuple[tuple[Command, str], ...]]] = {
    "tenant": (
        (command(Action.ADD, 0), "curator"),
        (command(Action.REMOVE, 1, reason="war harmlos; geprüft"), "service"),
        (command(Action.ADD, 0), "curator"),
    ),
    "global": (
        (command(Action.ADD, 0, tenant_id=None), "global"),
        (command(Action.REMOVE, 1, tenant_id=None), "curator"),
    ),
}


@dataclass(frozen=True)
class _Sent:
    value: bytes
    key: bytes
    offset: int
    partition: int
    topic: str = "quarantine.commands"
    timestamp: int = NOW
    headers: tuple[tuple[str, bytes], ...] = ()


def _history(commands: tuple[tuple[Command, str], ...]) -> list[dict[str, Any]]:
    key = commands[0][0].key
    partition = key.partition(PARTITIONS)
    ledger = LedgerPartition(partition, PARTITIONS, LedgerLimits(10, MINUTE))
    stated = []
    for offset, (made, key_id) in enumerate(commands):
        envelope = sign_command(made, signer(key_id))
        decision = ledger.decide(_Sent(envelope, made.key.record_key, offset, partition), trust())
        stated.append(
            {
                "payload": made.payload.decode(),
                "envelope": envelope.decode(),
                "record": made.proposed.text,
                "event_id": made.proposed.event_id,
                "record_key": made.key.record_key.decode(),
                "view_key": made.key.view_key,
                "partition": partition,
                "reason_code": decision.audit.reason_code if decision.audit else None,
                "entry": encode(decision.entry).hex() if decision.entry else None,
                "audit": encode(decision.audit).hex() if decision.audit else None,
            }
        )
    return stated


def text() -> str:
    """Return the file's text."""
    vectors = {name: _history(commands) for name, commands in HISTORIES.items()}
    return json.dumps(vectors, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
