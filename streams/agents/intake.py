"""Intake: requests in, OPENED and work out.

The contract: a record of ``memory.recalled`` is a recall signed by a loader, any other a compaction signed by a
publisher. Every request of a batch ends as an OPENED (with work, or a refusal) or as a dead letter with its bytes.
OPENED is acknowledged by the log before its work is sent (architecture, decision 4). What nobody may believe, since it
is not signed by a publisher of its tenant, can't be decoded, or is outside the horizon, gets a dead letter and no
verdict; nothing is decoded that no publisher has signed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from pratique.contract import avro
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import CompactionRequested, MemoryRecalled, StatedReason
from pratique.contract.signing import Signature
from pratique.contract.topics import COMPACTION_REQUESTED, MAX_ENVELOPE_BYTES, MAX_REQUEST_BYTES, MEMORY_RECALLED
from pratique.contract.trust import KeyRole
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError
from streams.agents.loop import until_available
from streams.application.admission import (
    Admission,
    Pinned,
    PolicyFailure,
    admit_compaction,
    authenticate,
    check_request_id,
)
from streams.application.pinning import Pinning
from streams.application.ports.lineage import NoIndex, VerdictIndex
from streams.application.ports.log import Batch, Channel, Clock, LogRecord, Outbox, Output, Partition
from streams.application.ports.metrics import Metrics
from streams.application.quota import TenantQuota
from streams.application.recall_admission import admit_recall, check_recall
from streams.wire.dead_letter import dead_letter
from streams.wire.evidence import EvidenceWriter

LOG: Final = logging.getLogger(__name__)

GROUP_SIZE: Final = 128
"""How many requests are opened and handed out together: the first of a large batch does not wait for its last."""


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """How old or early a request may be, in milliseconds (architecture, decision 6)."""

    horizon_ms: int
    skew_ms: int


@dataclass(slots=True)
class _Sorted:
    """What a batch came to."""

    opened: list[Output] = field(default_factory=list)
    work: list[Output] = field(default_factory=list)
    dead: list[Output] = field(default_factory=list)


class IntakeStep:
    """Admits compaction requests and recalls."""

    def __init__(  # noqa: PLR0913 - everything that is outside, once
        self,
        *,
        pinning: Pinning,
        writer: EvidenceWriter,
        outbox: Outbox,
        quota: TenantQuota,
        clock: Clock,
        limits: IntakeLimits,
        metrics: Metrics,
        partition_count: int,
        index: VerdictIndex | None = None,
    ) -> None:
        self._pinning = pinning
        self._writer = writer
        self._outbox = outbox
        self._quota = quota
        self._clock = clock
        self._limits = limits
        self._metrics = metrics
        self._partition_count = partition_count
        self._index = index or NoIndex()

    async def gained(self, partitions: frozenset[Partition]) -> None:
        """Scale quotas to the share of partitions held."""
        self._quota.set_share(len(partitions), self._partition_count)

    async def tick(self) -> None:
        """Time asks nothing of intake."""

    async def take(self, batch: Batch, is_current: Callable[[], bool]) -> Mapping[Partition, int]:
        """Open every request of a batch and hand out its work, a group after the other."""
        async with asyncio.TaskGroup() as sending:
            for group in batch.groups(GROUP_SIZE):
                granted: dict[int, bool] = {}

                async def attempt(group: Sequence[LogRecord] = group, granted: dict[int, bool] = granted) -> _Sorted:
                    return await asyncio.to_thread(self._sort, group, granted)

                result = await until_available(attempt, is_current, self._metrics, "policy")
                if result is None:
                    return {}
                # The next group is looked at while the log acknowledges this one.
                sending.create_task(self._send(result))
        return batch.ends()

    async def _send(self, result: _Sorted) -> None:
        await self._outbox.send([*result.dead, *result.opened])
        await self._outbox.send(result.work)

    def _sort(self, group: Sequence[LogRecord], granted: dict[int, bool]) -> _Sorted:
        """Look at every request of a group; what its quota came to is kept, should it have to be looked at again."""
        result = _Sorted()
        for place, record in enumerate(group):
            self._admit(record, place, result, granted)
        return result

    def _admit(self, record: LogRecord, place: int, result: _Sorted, granted: dict[int, bool]) -> None:
        now_ms = self._clock.wall_ms()
        try:
            request = self._believed(record, now_ms)
        except (MalformedError, SignatureInvalidError, SignerNotAuthorisedError, _ExpiredError) as error:
            code = _code(error)
            LOG.info(
                "dead letter %s at %s[%d]@%d: %s", code.value, record.topic, record.partition, record.offset, error
            )
            self._metrics.count("dead_letters_total", code=code.value)
            result.dead.append(dead_letter(record, code, now_ms=now_ms))
            return
        if place not in granted:
            granted[place] = self._quota.take(request.tenant_id, self._clock.monotonic_ms())
        self._state(self._admission(request, record.value or b"", now_ms, within_quota=granted[place]), result)

    def _admission(
        self, request: CompactionRequested | MemoryRecalled, value: bytes, now_ms: int, *, within_quota: bool
    ) -> Admission:
        if isinstance(request, MemoryRecalled):
            return admit_recall(
                request,
                value,
                pin=lambda: self._pinning.policy_set(request.tenant_id, request.policy_id),
                within_quota=within_quota,
                now_ms=now_ms,
            )
        return admit_compaction(
            request,
            value,
            pin=lambda: self._pin(request, now_ms),
            look_up=lambda: self._index.look_up(request.tenant_id, request.lineage) if request.lineage else {},
            recognise=lambda digests: self._index.recognise(request.tenant_id, digests),
            within_quota=within_quota,
            now_ms=now_ms,
        )

    def _state(self, admission: Admission, result: _Sorted) -> None:
        work = None
        if admission.work is not None:
            # Encoded before OPENED is sent, so that work that does not fit is known by then.
            encoded = avro.encode(admission.work)
            if len(encoded) > MAX_REQUEST_BYTES + MAX_ENVELOPE_BYTES // 2:
                admission = _too_large(admission)
            else:
                work = Output(Channel.WORK, admission.opened.join_key.message_key, encoded)
        result.opened.append(self._writer.write(admission.opened))
        refused = admission.opened.opened is not None and bool(admission.opened.opened.refusal)
        self._metrics.count("requests_total", admitted="no" if refused else "yes")
        if work is not None:
            result.work.append(work)

    def _believed(self, record: LogRecord, now_ms: int) -> CompactionRequested | MemoryRecalled:
        """Return an authentic request of the right age, or raise for a dead letter."""
        schema: type[CompactionRequested | MemoryRecalled]
        if record.topic == MEMORY_RECALLED:
            schema, topic, role = MemoryRecalled, MEMORY_RECALLED, KeyRole.LOADER
        else:
            schema, topic, role = CompactionRequested, COMPACTION_REQUESTED, KeyRole.PUBLISHER
        signature = Signature.from_headers(record.headers)
        key = authenticate(signature, topic, record.value or b"", role, self._pinning.trust(), now_ms)
        request = avro.decode(record.value, schema)
        key.check_tenant(request.tenant_id)
        age_ms = now_ms - request.requested_at
        if not -self._limits.skew_ms <= age_ms <= self._limits.horizon_ms:
            raise _ExpiredError(f"request is {age_ms} ms old, up to {self._limits.horizon_ms} are served")
        if isinstance(request, MemoryRecalled):
            check_recall(request)
        else:
            check_request_id(request)
        return request

    def _pin(self, request: CompactionRequested, now_ms: int) -> Pinned | PolicyFailure:
        return self._pinning.pin(request, now_ms)


class _ExpiredError(Exception):
    """A request outside the horizon."""


def _code(error: Exception) -> ReasonCode:
    if isinstance(error, MalformedError):
        return ReasonCode(error.code)
    if isinstance(error, SignatureInvalidError):
        return ReasonCode.SIGNATURE_INVALID
    if isinstance(error, SignerNotAuthorisedError):
        return ReasonCode.SIGNER_NOT_AUTHORISED
    return ReasonCode.REQUEST_EXPIRED


def _too_large(admission: Admission) -> Admission:
    opened = admission.opened.opened
    if opened is None:
        raise ValueError("admission without OPENED")
    refusal = (StatedReason.of(Reason.of(ReasonCode.TOO_LARGE, "", "intake")),)
    refused = replace(opened, refusal=refusal, required=())
    return Admission(replace(admission.opened, opened=refused), None)
