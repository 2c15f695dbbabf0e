"""The committed vectors are what the code makes today, and the seed's digests by hand."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from streams.domain.quarantine.authority import authenticate
from streams.domain.quarantine.command import parse_command
from streams.domain.quarantine.record import parse_record
from tests.unit.streams.domain.quarantine.builders import trust
from tests.vectors import generate_quarantine

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(generate_quarantine.PATH.read_text("utf-8"))
STEPS = [step for history in VECTORS.values() for step in history]


def test_regeneration_is_byte_identical() -> None:
    assert generate_quarantine.text() == generate_quarantine.PATH.read_text("utf-8")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["event_id"][:8])
def test_committed_step_is_read_and_its_event_id_is_the_digest_of_the_rest(step: dict[str, Any]) -> None:
    record = json.loads(step["record"])
    event_id = record.pop("event_id")
    canonical = json.dumps(record, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode()).hexdigest() == event_id == step["event_id"]
    signed = authenticate(step["envelope"].encode(), trust())
    assert signed.payload.decode() == step["payload"]
    assert parse_command(signed.payload).proposed == parse_record(step["record"])


def test_vectors_hold_an_acceptance_a_replay_and_a_refusal() -> None:
    assert [step["reason_code"] for step in VECTORS["tenant"]] == [None, None, "LEDGER_COMMAND_REPLAYED"]
    assert [step["reason_code"] for step in VECTORS["global"]] == [None, "SIGNER_NOT_AUTHORISED"]
