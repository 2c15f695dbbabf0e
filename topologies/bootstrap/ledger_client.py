"""The quarantine ledger from the command line: read an entry, sign a command, await what becomes of it.

The contract: an entry's head is read from the ledger topic and its history from the audit, both to their ends and
committed records only. A command is signed here, by a key that the trust target authorises, and what becomes of it is
what the audit says of exactly that command. Content is fingerprinted here and sent nowhere.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from pratique.contract.topics import QUARANTINE_AUDIT, QUARANTINE_COMMANDS, QUARANTINE_LEDGER
from pratique.errors import ConfigurationError, MalformedError
from streams.adapters.ledger_log import LedgerLog
from streams.application.fingerprinting import fingerprints
from streams.application.ports.quarantine import FingerprintKey
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord, parse_record
from streams.domain.recall.fingerprint import fingerprint
from streams.wire.ledger import read_audit, read_entry
from topologies.bootstrap.ledger_commands import (
    POLL_SECONDS,
    Audited,
    Curator,
    Intent,
    audit_ends,
    await_audited,
    send,
)
from topologies.bootstrap.ledger_state import ledger_log, partition_heads, same_content
from topologies.bootstrap.ledger_view import fingerprint_keys, generations, is_applied
from topologies.settings import Settings

__all__ = [
    "Audited",
    "Intent",
    "change",
    "companions",
    "current_generation",
    "fingerprint_of",
    "generation_of",
    "head",
    "history",
    "located",
]


def fingerprint_of(settings: Settings, content: str) -> tuple[str, str]:
    """Return a text's fingerprint under the current generation of the key, and that generation.

    Raises:
        ConfigurationError: There is no such key here.
        MalformedError: There is no text.
    """
    generation = current_generation(settings)
    return fingerprint(content, _held(settings, generation).secret), generation


def current_generation(settings: Settings) -> str:
    """Return the current generation of the fingerprint key: the view says, or the key source where no view does.

    Raises:
        ConfigurationError: There is no such key here.
    """
    return generations(settings).current


def generation_of(settings: Settings, key: LedgerKey) -> str:
    """Return the key generation of an entry; the current one where there is no entry.

    Raises:
        ConfigurationError: Nothing says which is current.
        UnavailableError: The cluster does not answer.
    """
    with ledger_log(settings) as log:
        heads = partition_heads(log, key.partition(log.partition_count(QUARANTINE_LEDGER)))
    return heads[key].key_generation if key in heads else current_generation(settings)


def located(settings: Settings, scope: Scope, tenant_id: str | None, content: str) -> tuple[LedgerKey, str]:
    """Return the entry of a text, and its key generation: the current one's where there is none under another.

    Raises:
        ConfigurationError: A key is missing.
        UnavailableError: The cluster does not answer.
    """
    mark, current = fingerprint_of(settings, content)
    key = LedgerKey.of(scope, tenant_id, mark)
    with ledger_log(settings) as log:
        heads = partition_heads(log, key.partition(log.partition_count(QUARANTINE_LEDGER)))
    marks = fingerprints(content, fingerprint_keys(settings).held())
    others = {LedgerKey.of(scope, tenant_id, other): generation for generation, other in marks.items()}
    there = [other for other in (key, *others) if other in heads]
    quarantined = [other for other in there if heads[other].quarantined]
    found = next(iter([*quarantined, *there]), key)
    return found, others.get(found, current)


def companions(settings: Settings, intent: Intent, content: str | None) -> list[Intent]:
    """Return what has to happen to the same content under other key generations.

    Whatever is wanted is wanted of every entry of the content that is quarantined: what is taken out is taken out under
    every generation, and what is put in for good has an end under none. What is put in while a rotation is under way is
    put in under the generation to come as well, where content and key are at hand.

    Args:
        settings: Where everything is.
        intent: What is wanted of one entry.
        content: Its content; null where it is not at hand: then only what entries say that they replace tells which are
            of the same content. One that is not this entry's counts as none.

    Raises:
        UnavailableError: The cluster does not answer.
    """
    with ledger_log(settings) as log:
        heads = partition_heads(log, intent.key.partition(log.partition_count(QUARANTINE_LEDGER)))
    marks = _marks(settings, intent, content)
    known = {generation: LedgerKey(intent.key.scope, intent.key.segment, mark) for generation, mark in marks.items()}
    others = [key for key in same_content({intent.key, *known.values()}, heads) if key != intent.key]
    found = {
        key: replace(intent, key=key, key_generation=heads[key].key_generation)
        for key in others
        if heads[key].quarantined
    }
    if intent.action is Action.ADD and known:
        following = generations(settings).following
        if following in known and following != intent.key_generation:
            key = known[following]
            found[key] = replace(intent, key=key, key_generation=following, replaces=intent.key.fingerprint)
    return list(found.values())


def history(settings: Settings, key: LedgerKey) -> list[Audited]:
    """Return everything the audit holds about an entry, oldest first: transitions and refusals.

    Raises:
        UnavailableError: The cluster does not answer.
        LedgerBrokenError: The audit holds what is no audit entry.
    """
    with ledger_log(settings) as log:
        partition = key.partition(log.partition_count(QUARANTINE_AUDIT))
        bounds = log.bounds(QUARANTINE_AUDIT, partition)
        return [
            Audited(record.timestamp, record.offset, read_audit(record.value))
            for record in log.read(QUARANTINE_AUDIT, partition, *bounds)
            if record.key == key.record_key
        ]


def head(settings: Settings, key: LedgerKey) -> QuarantineRecord | None:
    """Return an entry's newest record; none where there is no entry.

    Raises:
        UnavailableError: The cluster does not answer.
        LedgerBrokenError: The ledger topic holds what is no entry.
    """
    with ledger_log(settings) as log:
        return _head(log, key)


def change(settings: Settings, intent: Intent, *, wait_s: float) -> Audited | None:
    """Sign a command at the entry's newest revision, send it, and return what became of it; none where nothing did yet.

    A command that was accepted has become something once look-ups know of it, where there is a view.

    Raises:
        ConfigurationError: A key is missing.
        SignerNotAuthorisedError: The trust target authorises none of the keys for this.
        CommandRefusedError: The command says something it may not.
        UnavailableError: The cluster, or the policy repository, does not answer.
    """
    with ledger_log(settings) as log:
        count = log.partition_count(QUARANTINE_COMMANDS)
        before = _head(log, intent.key)
        commands = [Curator(settings).sign(intent, 0 if before is None else before.revision, count)]
        ends = audit_ends(log, commands)
        send(settings, commands)
        until = time.monotonic() + wait_s
        found = await_audited(log, commands, ends, until=until).get(commands[0].sha256)
        if found is None or not _has_effect(settings, found, commands[0].partition, until):
            return None
        return found


def _has_effect(settings: Settings, found: Audited, partition: int, until: float) -> bool:
    if not settings.redis_url or not found.entry.accepted:
        return True
    while not is_applied(settings, partition, found.offset):
        if time.monotonic() > until:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _head(log: LedgerLog, key: LedgerKey) -> QuarantineRecord | None:
    partition = key.partition(log.partition_count(QUARANTINE_LEDGER))
    found = None
    for record in log.read(QUARANTINE_LEDGER, partition, *log.bounds(QUARANTINE_LEDGER, partition)):
        if record.key == key.record_key:
            entry = read_entry(record.value)
            found = None if entry is None else parse_record(entry.record_json)
    return found


def _marks(settings: Settings, intent: Intent, content: str | None) -> Mapping[str, str]:
    """Return an entry's content's fingerprints by key generation; none where the content is not at hand, or another."""
    try:
        marks = {} if content is None else fingerprints(content, fingerprint_keys(settings).held())
    except MalformedError:
        return {}
    return marks if marks.get(intent.key_generation) == intent.key.fingerprint else {}


def _held(settings: Settings, generation: str) -> FingerprintKey:
    for key in fingerprint_keys(settings).held():
        if key.generation == generation:
            return key
    raise ConfigurationError(f"fingerprint key of the current generation {generation} is not here")
