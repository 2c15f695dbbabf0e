"""Rotating the fingerprint key: begin, fill, switch, retire.

The contract: each step looks at the ledger topic itself, refuses what would leave a quarantined text unrecognised, and
says what to do first. None of them is what safety rests on: a look-up asks under every generation at hand, and is told
that the view is incomplete where the view has entries of another one; the ledger's writer retires nothing that is not
carried over (``streams.domain.quarantine.generation``).

A fingerprint can't be computed without its content. ``fill`` is given the content again: from incident records, from
the memory that it was found in, from wherever it is kept.
"""

from __future__ import annotations

import base64
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Final

from redis import Redis

from pratique.contract.document import SAFE_ID
from pratique.contract.topics import QUARANTINE_COMMANDS, QUARANTINE_LEDGER
from pratique.errors import ConfigurationError, MalformedError, RefusedError, SignerNotAuthorisedError
from pratique.keyfiles import write_private_file
from streams.adapters.fingerprint_keys import CURRENT, fingerprint_directory
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_keys import Pointer
from streams.adapters.redis_ledger import RedisLedger, ViewMaintenance
from streams.adapters.wrapped_keys import WRAPPED_SUFFIX, WrapAlgorithm, wrap
from streams.application.fingerprinting import fingerprints
from streams.application.ports.quarantine import FingerprintKey
from streams.domain.quarantine.generation import uncovered
from streams.domain.quarantine.ledger_key import LedgerKey
from streams.domain.quarantine.record import Action, parse_record
from streams.domain.quarantine.transition import Head
from topologies.bootstrap.ledger_commands import (
    Audited,
    Curator,
    Intent,
    Sealed,
    audit_ends,
    await_audited,
    send,
)
from topologies.bootstrap.ledger_state import ledger_log, partition_entries, read_heads
from topologies.bootstrap.ledger_view import fingerprint_keys
from topologies.settings import Settings

SECRET_BYTES: Final = 32
WRAP_ALGORITHMS: Final = tuple(algorithm.value for algorithm in WrapAlgorithm)
"""How a secret can be wrapped; the first unless something else is said."""

Progress = Callable[[int, int], None]


def _silent(*_: int) -> None:
    """Tell nobody of progress."""


@dataclass(frozen=True, slots=True)
class GenerationState:
    """Where one generation of the fingerprint key stands.

    Attributes:
        generation: Its name.
        state: ``current``, ``following``, ``retired``, or ``old``.
        is_here: Whether its key is at hand.
        entries: Its entries in the ledger.
        quarantined: Those that are quarantined.
        left: Those of them that are carried over to no other generation; what ``fill`` is for.
    """

    generation: str
    state: str
    is_here: bool
    entries: int
    quarantined: int
    left: int


@dataclass(frozen=True, slots=True)
class Left:
    """A quarantined entry that is carried over to no other generation; its incident says whose content it is."""

    key: LedgerKey
    generation: str
    incident_id: str
    actor_id: str


class Carried(Enum):
    """What became of one entry of content that was presented again."""

    CARRIED = "carried over"
    ALREADY = "carried over already"
    UNKNOWN = "not quarantined under a generation that is here"
    NO_KEY = "no curator's key for its scope is here"
    REFUSED = "refused by the ledger"
    OPEN = "sent, and nothing is known of it yet"


@dataclass(frozen=True, slots=True)
class Filled:
    """What became of content that was presented again.

    Attributes:
        counts: Entries by what became of them; a text that is not quarantined counts as one.
        left: Entries that are still to be carried over.
    """

    counts: Mapping[Carried, int]
    left: int


@dataclass(frozen=True, slots=True)
class Retirements:
    """What became of a generation's retirement.

    Attributes:
        codes: By partition, the reason code of its refusal; empty where it is retired, null where nothing is known yet.
    """

    codes: Mapping[int, str | None]

    @property
    def is_done(self) -> bool:
        """Whether every partition has retired it."""
        return all(code == "" for code in self.codes.values())


def new_generation(
    settings: Settings,
    generation: str,
    public_key: Path | None,
    algorithm: str = WRAP_ALGORITHMS[0],
) -> Path:
    """Make a generation's secret and write it to the key directory; return the file.

    Args:
        settings: Where the key directory is.
        generation: The generation's name.
        public_key: PEM file of the public key to wrap it with; plain, and private to its owner, where null.
        algorithm: How it is wrapped, one of ``WRAP_ALGORITHMS``.

    Raises:
        ConfigurationError: The directory is not set or has it already, the name is none, or the public key can't be
            used.
    """
    if SAFE_ID.fullmatch(generation) is None:
        raise ConfigurationError("a key generation is named by letters, digits, '.', '_', '-' (at most 128)")
    folder = fingerprint_directory(settings.path("keys"))
    held = [
        file.name.rpartition(".")[0] for pattern in ("*.key", f"*{WRAPPED_SUFFIX}") for file in folder.glob(pattern)
    ]
    if generation in held:
        raise ConfigurationError(f"key generation {generation} is in {folder} already; name another one")
    secret = secrets.token_bytes(SECRET_BYTES)
    if public_key is None:
        file, content = folder / f"{generation}.key", base64.b64encode(secret) + b"\n"
    else:
        try:
            public = public_key.read_bytes()
        except OSError as error:
            raise ConfigurationError(f"{public_key} can't be read: {error.strerror}") from None
        file, content = (
            folder / f"{generation}{WRAPPED_SUFFIX}",
            wrap(generation, secret, public, WrapAlgorithm(algorithm)),
        )
    if len(held) == 1 and not (folder / CURRENT).exists():
        _name_current(folder, held[0])  # where there is no view, nothing else would say which of the two it is
    write_private_file(file, content)
    return file


def status(settings: Settings, progress: Progress = _silent) -> list[GenerationState]:
    """Return where every generation stands, that has entries or a key here, ordered by name.

    Raises:
        ConfigurationError: A setting, password or key is missing.
        UnavailableError: Redis or the broker does not answer.
        LedgerBrokenError: A topic holds what is no record of it.
    """
    pointer = _pointer(settings)
    with ledger_log(settings) as log:
        heads, retired = read_heads(log, progress)
    held = {key.generation for key in fingerprint_keys(settings).held()}
    entries = Counter(head.key_generation for head in heads.values())
    quarantined = Counter(head.key_generation for head in heads.values() if head.quarantined)
    states = dict.fromkeys(retired, "retired") | {pointer.following: "following", pointer.generation: "current"}
    names = (held | set(entries) | set(states)) - {""}
    return [
        GenerationState(
            name,
            states.get(name, "old"),
            name in held,
            entries[name],
            quarantined[name],
            0 if name == (pointer.following or pointer.generation) else len(uncovered(heads.items(), name)),
        )
        for name in sorted(names)
    ]


def left(settings: Settings) -> list[Left]:
    """Return the entries that are still to be carried over, ordered by scope, tenant and fingerprint.

    Raises:
        ConfigurationError: A setting or password is missing.
        UnavailableError: Redis or the broker does not answer.
    """
    pointer = _pointer(settings)
    with ledger_log(settings) as log:
        heads, _ = read_heads(log)
        keys = set(_left(heads, pointer.following or pointer.generation))
        entries = [
            (parse_record(entry.record_json), entry.key_generation)
            for partition in range(log.partition_count(QUARANTINE_LEDGER) if keys else 0)
            for entry in partition_entries(log, partition)
        ]
    found = [
        Left(record.key, made, record.incident_id, record.actor_id) for record, made in entries if record.key in keys
    ]
    return sorted(found, key=lambda item: item.key.record_key)


def begin(settings: Settings, generation: str) -> None:
    """Say that entries are carried over to a generation from now on.

    Raises:
        ConfigurationError: A setting or password is missing, or the generation's key is not here.
        RefusedError: The generation is current or retired already, another rotation is under way, or look-ups were made
            to read something else meanwhile.
        UnavailableError: Redis or the broker does not answer.
    """
    pointer = _pointer(settings)
    if generation not in {key.generation for key in fingerprint_keys(settings).held()}:
        raise ConfigurationError(
            f"the key of generation {generation} is not here: make it (`pratique ledger keys new`), and "
            "give it to every scan process and curator before anything is carried over"
        )
    if generation == pointer.generation:
        raise RefusedError(f"key generation {generation} is current already")
    if pointer.following not in ("", generation):
        raise RefusedError(f"entries are being carried over to {pointer.following}: end that rotation first")
    with ledger_log(settings) as log:
        _, retired = read_heads(log)
    if generation in retired:
        raise RefusedError(f"key generation {generation} is retired; make one with another name")
    _maintenance(settings).flip(replace(pointer, following=generation), before=pointer)


def fill(
    settings: Settings,
    contents: Iterable[str],
    *,
    tenant_id: str | None,
    incident_id: str,
    reason: str,
    wait_s: float,
    progress: Progress = _silent,
) -> Filled:
    """Carry over the entries of content that is presented again, in every scope that it is quarantined in.

    Args:
        settings: Where everything is.
        contents: The texts.
        tenant_id: Only entries of this tenant; null for those of every tenant and the global ones.
        incident_id: The incident that the transitions are recorded under.
        reason: Why, in words; no content.
        wait_s: Longest wait for what the ledger says of the commands, in seconds.
        progress: Told how many commands were judged, of how many.

    Raises:
        ConfigurationError: A setting, password or key is missing.
        RefusedError: No rotation is under way.
        UnavailableError: Redis, the broker or the policy repository does not answer.
    """
    pointer = _pointer(settings)
    if not pointer.following:
        raise RefusedError("no rotation is under way: `pratique ledger keys begin GENERATION` first")
    keys = fingerprint_keys(settings).held()
    if pointer.following not in {key.generation for key in keys}:
        raise ConfigurationError(f"the key of generation {pointer.following} is not here")
    with ledger_log(settings) as log:
        count = log.partition_count(QUARANTINE_COMMANDS)
        heads, _ = read_heads(log)
        curator, counts = Curator(settings), Counter[Carried]()
        commands: dict[LedgerKey, Sealed] = {}
        for new, old in _to_carry(contents, keys, heads, pointer.following, counts):
            if new in commands or (tenant_id is not None and new.tenant_id != tenant_id):
                continue
            intent = Intent(Action.ADD, new, pointer.following, incident_id, reason, replaces=old.fingerprint)
            before = heads.get(new)
            try:
                commands[new] = curator.sign(intent, 0 if before is None else before.revision, count)
            except (ConfigurationError, SignerNotAuthorisedError):
                counts[Carried.NO_KEY] += 1
        ends = audit_ends(log, list(commands.values()))
        send(settings, list(commands.values()))
        until = time.monotonic() + wait_s
        found = await_audited(log, list(commands.values()), ends, until=until, progress=progress)
        counts.update(_outcome(found.get(item.sha256)) for item in commands.values())
        heads, _ = read_heads(log)
    return Filled({kind: counts[kind] for kind in Carried if counts[kind]}, len(_left(heads, pointer.following)))


def switch(settings: Settings) -> Pointer:
    """Make the generation that was filled the current one, in one step; return what look-ups read.

    Raises:
        ConfigurationError: A setting or password is missing.
        RefusedError: No rotation is under way, entries are left to be carried over, or look-ups were made to read
            something else meanwhile.
        UnavailableError: Redis or the broker does not answer.
    """
    pointer = _pointer(settings)
    if not pointer.following:
        raise RefusedError("no rotation is under way: `pratique ledger keys begin GENERATION` first")
    with ledger_log(settings) as log:
        heads, _ = read_heads(log)
    missing = _left(heads, pointer.following)
    if missing:
        raise RefusedError(
            f"generation {pointer.following} is partial: {len(missing)} quarantined entries are not carried over: see "
            "`pratique ledger keys left`, then fill them in, or release them"
        )
    following = replace(pointer, generation=pointer.following, following="")
    _maintenance(settings).flip(following, before=pointer)
    if settings.keys:
        _name_current(fingerprint_directory(Path(settings.keys)), following.generation)
    return following


def retire(
    settings: Settings,
    generation: str,
    *,
    reason: str,
    actor_id: str | None,
    wait_s: float,
    progress: Progress = _silent,
) -> Retirements:
    """Retire a generation in every partition of the ledger; return what became of it there.

    Raises:
        ConfigurationError: A setting, password or key is missing.
        RefusedError: The generation is current or being filled, or entries of it are carried over to no other.
        SignerNotAuthorisedError: No global curator's key is here.
        UnavailableError: Redis, the broker or the policy repository does not answer.
    """
    pointer = _pointer(settings)
    if generation in (pointer.generation, pointer.following):
        raise RefusedError(f"key generation {generation} is in use: `pratique ledger keys switch` to another one first")
    with ledger_log(settings) as log:
        heads, _ = read_heads(log)
        missing = uncovered(heads.items(), generation)
        if missing:
            raise RefusedError(
                f"{len(missing)} quarantined entries of generation {generation} are carried over to no other: see "
                "`pratique ledger keys left`, then fill them in, or release them"
            )
        curator = Curator(settings)
        count = log.partition_count(QUARANTINE_COMMANDS)
        commands = [curator.retire(generation, partition, reason, actor_id) for partition in range(count)]
        ends = audit_ends(log, commands)
        send(settings, commands)
        found = await_audited(log, commands, ends, until=time.monotonic() + wait_s, progress=progress)
    return Retirements({item.partition: _code(found.get(item.sha256)) for item in commands})


def _to_carry(
    contents: Iterable[str],
    keys: Sequence[FingerprintKey],
    heads: Mapping[LedgerKey, Head],
    following: str,
    counts: Counter[Carried],
) -> Iterator[tuple[LedgerKey, LedgerKey]]:
    """Yield the entries to be made and those they replace; count the texts for which there is nothing to do."""
    by_mark: dict[str, list[LedgerKey]] = {}
    for key, head in heads.items():
        if head.quarantined and head.key_generation != following:
            by_mark.setdefault(key.fingerprint, []).append(key)
    covered = {(key.place, head.replaces) for key, head in heads.items() if head.quarantined and head.replaces}
    for content in contents:
        try:
            marks = fingerprints(content, keys)
        except MalformedError:
            counts[Carried.UNKNOWN] += 1
            continue
        known = [key for mark in marks.values() for key in by_mark.get(mark, ())]
        if not known:
            counts[Carried.UNKNOWN] += 1
        for key in known:
            if (key.place, bytes.fromhex(key.fingerprint)) in covered:
                counts[Carried.ALREADY] += 1
            else:
                yield LedgerKey(key.scope, key.segment, marks[following]), key


def _left(heads: Mapping[LedgerKey, Head], following: str) -> list[LedgerKey]:
    generations = {head.key_generation for head in heads.values()} - {following}
    return [key for generation in sorted(generations) for key in uncovered(heads.items(), generation)]


def _outcome(audited: Audited | None) -> Carried:
    if audited is None:
        return Carried.OPEN
    return Carried.CARRIED if audited.entry.accepted else Carried.REFUSED


def _code(audited: Audited | None) -> str | None:
    if audited is None:
        return None
    return "" if audited.entry.accepted else audited.entry.reason_code


def _pointer(settings: Settings) -> Pointer:
    client = _client(settings, RedisIdentity.LOOKUP)
    return RedisLedger(client, client).pointer()


def _maintenance(settings: Settings) -> ViewMaintenance:
    return ViewMaintenance(_client(settings, RedisIdentity.MAINTENANCE))


def _client(settings: Settings, identity: RedisIdentity) -> Redis:
    directory = Path(settings.keys) if settings.keys else None
    return connect(settings.required("redis_url"), identity, directory, os.environ)


def _name_current(folder: Path, generation: str) -> None:
    """Write which generation is current, for whoever has no view to ask; in one step."""
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f".{CURRENT}.new"
    written.write_text(generation + "\n", "utf-8")
    written.replace(folder / CURRENT)
