"""Filling a new generation of the fingerprint key from what is scanned: the commands that follow from a verdict.

The contract: ``carrying`` is a pure function of the verdict that the log decided on, of what the scan worker named and
of the request's identity, as ``automatic.additions`` is: however often evidence is delivered, the same bytes follow.
Each command puts a tenant's own text in under one generation in the place of what is quarantined under another. It can
put nothing else in: the ledger takes it only for an entry that stands, and where there is none under the new generation
yet; what was ever taken out there stays out. What the verdict says does not matter, since nothing is decided anew.
"""

from __future__ import annotations

import hashlib
from typing import Final

from pratique.contract.records import CarriedText, JoinKey, Nomination, Verdict
from streams.domain.quarantine.automatic import ACTOR, LIFETIME_MS, MAX_ADDITIONS
from streams.domain.quarantine.command import Command
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord, as_identifier
from streams.domain.verdicts.evidence import join_id

REASON: Final = "met again while the fingerprint key is rotated"


def carrying(verdict: Verdict, nomination: Nomination, key: JoinKey) -> tuple[Command, ...]:
    """Return what a verdict's texts carry over, at most ``MAX_ADDITIONS``, each fingerprint once.

    Args:
        verdict: The verdict that the log decided on.
        nomination: What the scan worker named of the request.
        key: The request's identity.

    Raises:
        MalformedError: The tenant, or a fingerprint, is none that a ledger key can have.
    """
    found: dict[str, Command] = {}
    for text in nomination.carried:
        if len(found) >= MAX_ADDITIONS:
            break
        if text.fingerprint_hmac_sha256 not in found:
            found[text.fingerprint_hmac_sha256] = _command(verdict, nomination, key, text)
    return tuple(found.values())


def _command(verdict: Verdict, nomination: Nomination, key: JoinKey, text: CarriedText) -> Command:
    ledger_key = LedgerKey.of(Scope.TENANT, key.tenant_id, text.fingerprint_hmac_sha256)
    request = join_id(key)
    event = hashlib.sha256(request + bytes.fromhex(ledger_key.fingerprint)).hexdigest()
    record = QuarantineRecord(
        key=ledger_key,
        revision=1,
        action=Action.ADD,
        incident_id=f"carried-{request.hex()}",
        actor_id=ACTOR,
        authentication_event_id=f"carried-{event}",
        policy_version=as_identifier(nomination.policy_version),
        detector_version=as_identifier(nomination.detector_version),
    )
    at_ms = verdict.decided_at
    return Command(record, text.key_generation, REASON, at_ms, at_ms + LIFETIME_MS, replaces=text.replaces)
