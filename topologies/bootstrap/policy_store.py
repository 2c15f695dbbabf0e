"""The policy store of an app, and the keys it signs and checks with, as the newest trust target says."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path

from pratique.contract.signing import Ed25519Signer, MacSigner
from pratique.contract.trust import KeyRole, MacRole, TrustTarget
from pratique.errors import ConfigurationError
from streams.adapters.key_files import KeyFiles
from streams.adapters.tuf_store import TufPolicyStore
from streams.application.ports.log import Clock
from topologies.bootstrap.policy import policy_store
from topologies.settings import Settings


def app_policy_store(settings: Settings, name: str) -> TufPolicyStore:
    """Return the policy store of a process.

    Args:
        settings: Where the repository, its trusted root and this process's state are.
        name: What kind of process it is; each that runs has a folder of its own.

    Raises:
        ConfigurationError: A setting is missing, or the trusted root can't be read.
    """
    return policy_store(
        settings.required("policy_repository"),
        settings.path("policy_root"),
        claimed_folder(settings.path("policy_state"), name),
        refresh_ms=settings.policy_refresh_ms,
        min_deadline_ms=settings.min_deadline_ms,
    )


@cache
def claimed_folder(root: Path, name: str) -> Path:
    """Return the first folder ``name-0``, ``name-1``, … that no running process has, claimed until this one ends.

    Asked again, a process gets the one it has. Trusted metadata is kept between runs, since a rollback is noticed by
    what was trusted before; a folder named after the process would be empty at every start.

    Raises:
        ConfigurationError: The folder can't be made.
    """
    for number in count():
        folder = root / f"{name}-{number}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            claim = os.open(folder / "claim", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigurationError(f"PRATIQUE_POLICY_STATE can't be written: {error.strerror}") from None
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(claim)
        else:
            return folder  # the lock goes with the process, however it ends
    raise AssertionError("unreachable: there is always a next folder")


def mac_signer(
    keys: KeyFiles, role: MacRole, trust: Callable[[], TrustTarget], clock: Clock
) -> Callable[[], MacSigner]:
    """Return what gives a role's MAC signer of the moment.

    Raises:
        ConfigurationError: There is no such key here.
    """
    held = {signer.key_id: signer for signer in keys.mac_signers(role)}
    return lambda: held[trust().choose_mac_key(held, role, clock.wall_ms())]


def gate_signer(keys: KeyFiles, trust: Callable[[], TrustTarget], clock: Clock) -> Callable[[], Ed25519Signer]:
    """Return what gives the gate's signer of the moment.

    Raises:
        ConfigurationError: There is no such key here.
    """
    held = {signer.key_id: signer for signer in keys.signers(KeyRole.GATE)}
    return lambda: held[trust().choose_key(held, KeyRole.GATE, None, clock.wall_ms())]


def mac_secrets(keys: KeyFiles) -> dict[str, bytes]:
    """Return the secrets of every role's MAC keys: the verdict app's alone.

    Raises:
        ConfigurationError: A role's keys are missing.
    """
    return {signer.key_id: signer.secret for role in MacRole for signer in keys.mac_signers(role)}
