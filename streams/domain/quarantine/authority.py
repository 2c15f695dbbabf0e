"""Who may change the quarantine ledger: a pure function over the trust target.

The contract: two steps, since a refusal by a known signer is recorded and one by a stranger is not.

1. ``authenticate``: the envelope is one, and a key that the trust target names signed it. Role, tenant and period are
   not looked at: an expired key still says who it was.
2. ``check_authority``: a signer holds, at the moment the log took the command, a role that may do this in this scope.

======  ==================================  ============
scope   roles                               may
======  ==================================  ============
tenant  tenant curator, service (of the tenant)  add, remove
tenant  gate                                add, where it carries an entry over to another key generation
global  global curator                      add, remove
======  ==================================  ============

The gate never takes anything out of quarantine: that is a person's decision, or that of a service which speaks for
one. What it would put in by itself it asks for in a form of its own, which policy's rules limit (``automatic``). What
a command says of its actor is recorded, never believed: rights follow from the key alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pratique.contract.dsse import open_envelope
from pratique.contract.reasons import ReasonCode
from pratique.contract.trust import KeyRole, TrustedKey, TrustTarget
from pratique.errors import SignatureInvalidError, SignerNotAuthorisedError
from streams.domain.quarantine.command import COMMAND_TYPE, Command
from streams.domain.quarantine.ledger_key import Scope
from streams.domain.quarantine.record import Action
from streams.errors import CommandRefusedError

_ROLES: Final = {
    (Scope.TENANT, Action.ADD): (KeyRole.TENANT_CURATOR, KeyRole.SERVICE, KeyRole.GATE),
    (Scope.TENANT, Action.REMOVE): (KeyRole.TENANT_CURATOR, KeyRole.SERVICE),
    (Scope.GLOBAL, Action.ADD): (KeyRole.GLOBAL_CURATOR,),
    (Scope.GLOBAL, Action.REMOVE): (KeyRole.GLOBAL_CURATOR,),
}


@dataclass(frozen=True, slots=True)
class Authenticated:
    """A payload and the id of a trusted key that signed it."""

    payload: bytes
    key_id: str


def authenticate(envelope: bytes, trust: TrustTarget) -> Authenticated:
    """Return what a key that the trust target names has signed.

    Raises:
        CommandRefusedError: SIGNATURE_INVALID where it is no envelope of a command or does not verify,
            SIGNER_NOT_AUTHORISED where no key is known. Nobody is known to have sent it.
    """
    try:
        opened = open_envelope(envelope, COMMAND_TYPE, lambda key_id: _known(trust, key_id))
    except SignatureInvalidError as error:
        raise CommandRefusedError(str(error), code=ReasonCode.SIGNATURE_INVALID) from None
    except SignerNotAuthorisedError as error:
        raise CommandRefusedError(str(error), code=ReasonCode.SIGNER_NOT_AUTHORISED) from None
    return Authenticated(opened.payload, opened.key_id)


def check_authority(command: Command, envelope: bytes, signer: Authenticated, trust: TrustTarget, at_ms: int) -> str:
    """Return the id of the key that may do what the command asks for.

    Args:
        command: What is asked for.
        envelope: The envelope that it came in, for a further signature where the first is not enough.
        signer: What ``authenticate`` returned.
        trust: The trust target at its newest.
        at_ms: When the log took the command, in milliseconds since the epoch.

    Raises:
        CommandRefusedError: SIGNER_NOT_AUTHORISED: no signer holds such a role, for this tenant, at that moment.
    """
    try:
        return authorised(command, trust, signer.key_id, at_ms).key_id
    except SignerNotAuthorisedError as refusal:
        try:  # a rotation may have signed with two keys, and the one met first may be the one that has gone
            return open_envelope(
                envelope, COMMAND_TYPE, lambda key_id: authorised(command, trust, key_id, at_ms)
            ).key_id
        except (SignerNotAuthorisedError, SignatureInvalidError):
            raise CommandRefusedError(str(refusal), code=ReasonCode.SIGNER_NOT_AUTHORISED) from None


def authorised(command: Command, trust: TrustTarget, key_id: str, at_ms: int) -> TrustedKey:
    """Return a key if one of its roles may do what the command asks for.

    Raises:
        SignerNotAuthorisedError: It is unknown, or has no such role, tenant or period; the message says which, of the
            role that comes closest.
    """
    refusals: list[SignerNotAuthorisedError] = []
    for role in _ROLES[command.key.scope, command.proposed.action]:
        if role is KeyRole.GATE and command.replaces is None:
            continue
        try:
            return trust.authorised_key(key_id, role, command.key.tenant_id, at_ms)
        except SignerNotAuthorisedError as error:
            if role in _roles(trust, key_id):
                refusals.insert(0, error)
            else:
                refusals.append(error)
    raise refusals[0]


def choose_signer(command: Command, trust: TrustTarget, key_ids: list[str], at_ms: int) -> str:
    """Return which of one's own keys to sign a command with: the authorised one whose period began last.

    Raises:
        SignerNotAuthorisedError: None of them is authorised.
    """
    usable: list[TrustedKey] = []
    for key_id in key_ids:
        try:
            usable.append(authorised(command, trust, key_id, at_ms))
        except SignerNotAuthorisedError:
            continue
    if not usable:
        raise SignerNotAuthorisedError("no key at hand may do this in this scope, here and now")
    return max(usable, key=lambda key: (key.not_before_ms, key.key_id)).key_id


def _known(trust: TrustTarget, key_id: str) -> TrustedKey:
    key = trust.keys.get(key_id)
    if key is None:
        raise SignerNotAuthorisedError("key is unknown: the trust target names no such key id")
    return key


def _roles(trust: TrustTarget, key_id: str) -> frozenset[KeyRole]:
    key = trust.keys.get(key_id)
    return key.roles if key is not None else frozenset()
