"""The index of verdicts in Redis: signed verdicts as they were published, by tenant and id or accepted text.

The contract: Redis is believed nothing. Each entry holds the verdict's bytes and its signature, and whoever looks one
up verifies the gate's key over them, and that it is the verdict of that tenant and id, or accepted what has that
digest: what is forged, altered or put under another name is as if it were not there. What Redis can do is withhold. An
entry goes after its time.

``positions`` says up to where each partition of the verdict topics was read; it lies beside the entries, so that an
index that is lost as a whole is built anew from the topics by itself.
"""

from __future__ import annotations

import base64
import binascii
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, cast

from redis import Redis

from pratique.contract import avro
from pratique.contract.records import Origin, Verdict, VerdictOutcome
from pratique.contract.signing import Signature, verify_ed25519
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError, UnavailableError
from streams.adapters.redis_connect import REDIS_ERRORS
from streams.application.ports.metrics import Metrics
from streams.domain.compaction.lineage import MAX_REASONS, Ancestor
from streams.errors import PolicyNotLoadedError

TAG: Final = "{pratique-verdicts}:"
"""Prefix of everything here: one slot of a cluster, and none of the ledger's view."""
POSITIONS: Final = f"{TAG}positions-{avro.fingerprints()['Verdict']}"
"""How far the topics were read, by a release that knew this schema: an earlier one passes later verdicts over."""
FIELDS: Final = ("topic", "key_id", "signature", "value")
VERDICT_ID: Final = "verdict_id"
"""The field of an accepted output's entry: whose it is."""

MOST_BYTES: Final = 1024 * 1024
"""Most bytes of a verdict: its topic takes no larger record."""

UNASKED_SECONDS: Final = 5.0
"""How long Redis is not asked again after it did not answer: requests go on meanwhile, with less trust."""

_OUTCOMES: Final = {
    COMPACTION_ACCEPTED: VerdictOutcome.ACCEPTED,
    COMPACTION_QUARANTINED: VerdictOutcome.QUARANTINED,
}


@dataclass(frozen=True, slots=True)
class PublishedVerdict:
    """A verdict as its topic has it.

    Attributes:
        tenant_id: Its tenant.
        verdict_id: Its id.
        accepted: Digests of what it accepted, the output and its texts; empty where it accepted nothing.
        topic: The topic that it was published to.
        signature: The gate's.
        value: Its bytes.
    """

    tenant_id: str
    verdict_id: str
    accepted: tuple[str, ...]
    topic: str
    signature: Signature
    value: bytes


class RedisVerdictIndex:
    """A ``VerdictIndex``.

    Args:
        client: A connection that can read.
        trust: Returns the trust target to go by.
        metrics: Counts what was found.
        monotonic: The clock that pauses are measured by, in seconds.
    """

    def __init__(
        self,
        client: Redis,
        trust: Callable[[], TrustTarget],
        metrics: Metrics,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._trust = trust
        self._metrics = metrics
        self._monotonic = monotonic
        self._unasked_until = 0.0

    def look_up(self, tenant_id: str, names: Sequence[str]) -> Mapping[str, Ancestor]:
        """Return those of a tenant's verdicts that are known; see ``VerdictIndex``."""
        found: dict[str, Ancestor] = {}
        for name in list(dict.fromkeys(names))[:MAX_REASONS]:
            ancestor = self._found(tenant_id, name)
            self._metrics.count("lineage_lookups_total", found="no" if ancestor is None else "yes")
            if ancestor is not None:
                found[name] = ancestor
        return found

    def recognise(self, tenant_id: str, digests: Sequence[str]) -> AbstractSet[str] | None:
        """Return those of some digests whose texts verdicts accepted; see ``VerdictIndex``.

        More than are looked up are believed: it costs trust alone.
        """
        names = list(dict.fromkeys(digests))
        if not names:
            return frozenset()
        if self._is_unasked():
            return None
        pipeline = self._client.pipeline(transaction=False)
        for name in names:
            pipeline.hmget(entry_key(tenant_id, name), [VERDICT_ID])
        try:
            stated = pipeline.execute()
        except REDIS_ERRORS:
            self._unasked_until = self._monotonic() + UNASKED_SECONDS
            return None
        there = [name for name, (verdict_id,) in zip(names, stated, strict=True) if verdict_id is not None]
        known = self.look_up(tenant_id, there).keys() | set(there[MAX_REASONS:])
        return None if self._is_unasked() else known  # it went away in between

    def _is_unasked(self) -> bool:
        return self._monotonic() < self._unasked_until

    def _found(self, tenant_id: str, name: str) -> Ancestor | None:
        *fields, verdict_id = self._asked(tenant_id, name)
        if verdict_id is not None:
            *fields, _ = self._asked(tenant_id, verdict_id)
        stated = [field for field in fields if field is not None]
        verdict = _believed(stated, self._trust) if len(stated) == len(FIELDS) else None
        if verdict is None or verdict.tenant_id != tenant_id or verdict.origin is not Origin.COMPACTION:
            return None
        accepted = frozenset(accepted_by(verdict))
        if name != verdict.verdict_id and name not in accepted:
            return None
        return Ancestor(verdict.outcome is VerdictOutcome.ACCEPTED, verdict.trust, accepted)

    def _asked(self, tenant_id: str, name: str) -> list[str | None]:
        nothing: list[str | None] = [None] * (len(FIELDS) + 1)
        if self._is_unasked():
            return nothing
        try:
            fields = self._client.hmget(entry_key(tenant_id, name), [*FIELDS, VERDICT_ID])
        except REDIS_ERRORS:
            self._unasked_until = self._monotonic() + UNASKED_SECONDS
            return nothing
        return cast("list[str | None]", fields)


def _believed(fields: Sequence[str], trust: Callable[[], TrustTarget]) -> Verdict | None:
    """Return the verdict of an entry; null unless the gate signed it, for the topic of its outcome."""
    topic, key_id, signature, value = fields
    try:
        published = zlib.decompressobj().decompress(base64.b64decode(value, validate=True), MOST_BYTES)
        signed = Signature(key_id, base64.b64decode(signature, validate=True))
        verdict = avro.decode(published, Verdict)
        key = trust().authorised_key(signed.key_id, KeyRole.GATE, None, verdict.decided_at)
        verify_ed25519(key.public_key, signed, topic, published)
    except (
        binascii.Error,
        zlib.error,
        MalformedError,
        SignatureInvalidError,
        SignerNotAuthorisedError,
        PolicyNotLoadedError,
    ):
        return None
    return verdict if _OUTCOMES.get(topic) is verdict.outcome else None


class RedisVerdictWriter:
    """Fills the index.

    Args:
        client: A connection that may write it.
        kept_ms: How long a verdict is kept.
    """

    def __init__(self, client: Redis, kept_ms: int) -> None:
        self._client = client
        self._kept_ms = kept_ms

    def positions(self) -> dict[str, int]:
        """Return up to where each partition was read (``topic/partition``); none that was not.

        Raises:
            UnavailableError: Redis does not answer.
        """
        stated = cast("dict[str, str]", _asked(lambda: self._client.hgetall(POSITIONS)))
        return {place: int(offset) for place, offset in stated.items() if offset.isdigit()}

    def write(self, verdicts: Sequence[PublishedVerdict], place: str, following: int) -> None:
        """Write verdicts, and then that their partition was read.

        Args:
            verdicts: What was read.
            place: The partition (``topic/partition``).
            following: The first offset that was not.

        Raises:
            UnavailableError: Redis does not answer; some may be written.
        """
        pipeline = self._client.pipeline(transaction=False)
        for item in verdicts:
            key = entry_key(item.tenant_id, item.verdict_id)
            stated = (
                item.topic,
                item.signature.key_id,
                _text(item.signature.signature),
                _text(zlib.compress(item.value)),
            )
            pipeline.hset(key, mapping=dict(zip(FIELDS, stated, strict=True)))
            pipeline.pexpire(key, self._kept_ms)
            for digest in item.accepted:
                alias = entry_key(item.tenant_id, digest)
                pipeline.hset(alias, VERDICT_ID, item.verdict_id)
                pipeline.pexpire(alias, self._kept_ms)
        _asked(pipeline.execute)
        # By itself, and last: what is said to be read was written.
        _asked(lambda: self._client.hset(POSITIONS, place, str(following)))


def accepted_by(verdict: Verdict) -> tuple[str, ...]:
    """Return the digests of what a verdict accepted: of the output, and of each text of it."""
    output = verdict.compacted_output_sha256
    if verdict.outcome is not VerdictOutcome.ACCEPTED or output is None:
        return ()
    return output, *verdict.accepted_text_sha256s


def entry_key(tenant_id: str, name: str) -> str:
    """Return the key of a verdict, by its id or by the digest of what it accepted; an answer says whose it is."""
    return f"{TAG}{tenant_id}:{name}"


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _asked(ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - the client's replies are untyped
    try:
        return ask()
    except REDIS_ERRORS as error:
        raise UnavailableError(f"the index of verdicts can't be reached: {type(error).__name__}") from None
