"""Who may do what: each role in each scope, for each tenant, in its period."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pratique.contract.dsse import seal
from pratique.contract.reasons import ReasonCode
from pratique.errors import SignerNotAuthorisedError
from streams.domain.quarantine.authority import authenticate, check_authority, choose_signer
from streams.domain.quarantine.command import Command, sign_command
from streams.domain.quarantine.record import Action
from streams.errors import CommandRefusedError
from tests.unit.streams.domain.quarantine.builders import KEYS, NOW, command, signer, trust

ALLOWED = {
    ("tenant-a", Action.ADD): {"curator", "service"},
    ("tenant-a", Action.REMOVE): {"curator", "service"},
    ("tenant-b", Action.ADD): {"curator-b", "service", "service-b"},
    ("tenant-b", Action.REMOVE): {"curator-b", "service", "service-b"},
    (None, Action.ADD): {"global"},
    (None, Action.REMOVE): {"global"},
}


def who(made: Command, *key_ids: str, at_ms: int = NOW) -> str:
    envelope = sign_command(made, *map(signer, key_ids))
    return check_authority(made, envelope, authenticate(envelope, trust()), trust(), at_ms)


@pytest.mark.parametrize("key_id", KEYS)
@pytest.mark.parametrize(("tenant_id", "action"), ALLOWED)
def test_only_the_roles_of_the_scope_may(tenant_id: str | None, action: Action, key_id: str) -> None:
    made = command(action, tenant_id=tenant_id)
    if key_id in ALLOWED[tenant_id, action]:
        assert who(made, key_id) == key_id
    else:
        with pytest.raises(CommandRefusedError) as refusal:
            who(made, key_id)
        assert refusal.value.code is ReasonCode.SIGNER_NOT_AUTHORISED


def test_the_gate_adds_only_what_it_carries_over() -> None:
    assert who(replace(command(Action.ADD), replaces="e" * 64), "gate") == "gate"
    with pytest.raises(CommandRefusedError):
        who(replace(command(Action.ADD, tenant_id=None), replaces="e" * 64), "gate")


def test_period_ends_at_its_last_moment() -> None:
    assert who(command(), "curator-gone", at_ms=NOW - 1) == "curator-gone"
    with pytest.raises(CommandRefusedError, match="has expired"):
        who(command(), "curator-gone", at_ms=NOW)
    with pytest.raises(CommandRefusedError, match="is not valid yet"):
        who(command(), "curator-to-come", at_ms=NOW)


def test_second_signature_counts_where_the_first_is_of_a_key_that_has_gone() -> None:
    assert who(command(), "curator-gone", "curator") == "curator"
    assert who(command(), "unknown", "curator") == "curator"


def test_known_signer_is_known_also_without_rights() -> None:
    for key_id in ("publisher", "curator-gone"):
        envelope = sign_command(command(), signer(key_id))
        assert authenticate(envelope, trust()).key_id == key_id


def test_stranger_and_forger_are_nobody() -> None:
    with pytest.raises(CommandRefusedError) as stranger:
        authenticate(sign_command(command(), signer("unknown")), trust())
    assert stranger.value.code is ReasonCode.SIGNER_NOT_AUTHORISED
    forged = sign_command(command(), signer("curator")).replace(b'"keyid":"curator"', b'"keyid":"service"')
    with pytest.raises(CommandRefusedError) as forger:
        authenticate(forged, trust())
    assert forger.value.code is ReasonCode.SIGNATURE_INVALID


@pytest.mark.parametrize("envelope", [b"", b"{}", seal("text/plain", command().payload, signer("curator"))])
def test_what_is_no_envelope_of_a_command_is_refused(envelope: bytes) -> None:
    with pytest.raises(CommandRefusedError) as refusal:
        authenticate(envelope, trust())
    assert refusal.value.code is ReasonCode.SIGNATURE_INVALID


def test_signer_is_chosen_among_those_who_may() -> None:
    assert choose_signer(command(), trust(), ["publisher", "curator-gone", "curator"], NOW) == "curator"
    with pytest.raises(SignerNotAuthorisedError):
        choose_signer(command(), trust(), ["publisher", "curator-gone"], NOW)
