"""A recall's evidence, read back from the log by its key.

The contract: a read model, never authority. The verdict's signature is checked against the newest trust target, the
loader's over the very bytes whose digest the verdict names. Findings are looked for around the time of the verdict, in
the one partition of their key; the request wherever its platform put it, and only while content is retained.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pratique.contract import avro
from pratique.contract.canonical import bytes_sha256
from pratique.contract.partitioning import partition_of
from pratique.contract.records import MemoryFinding, MemoryRecalled, Origin, Verdict
from pratique.contract.signing import Signature
from pratique.contract.topics import MEMORY_FINDINGS, MEMORY_RECALLED
from pratique.contract.trust import KeyRole
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError
from streams.adapters.kafka_log import KafkaLog, ReadRecord
from streams.application.admission import authenticate
from streams.application.recall_audit import Checked, audit_recall
from topologies.bootstrap.policy_store import app_policy_store
from topologies.bootstrap.verdict_log import Search, find_verdicts
from topologies.settings import Settings

_GROUP: Final = "pratique.recall-verify"


def recall_verdicts(settings: Settings, identifier: str, tenant_id: str | None) -> list[Verdict]:
    """Return the verdicts on recalls with this verdict id, request id or request digest.

    Raises:
        UnavailableError: The cluster or the policy repository does not answer.
    """

    def wanted(item: Verdict) -> bool:
        named = identifier in {item.verdict_id, item.request_id, item.request_sha256}
        return named and item.origin is Origin.RECALL and tenant_id in {None, item.tenant_id}

    return list({item.verdict_id: item for item in find_verdicts(settings, wanted, Search())}.values())


def verify_recall(settings: Settings, verdict: Verdict) -> tuple[Checked, ...]:
    """Read a recall's findings and request back and check them against its verdict.

    Raises:
        UnavailableError: The cluster or the policy repository does not answer.
    """
    return audit_recall(verdict, list(_findings(settings, verdict)), _request(settings, verdict))


def _findings(settings: Settings, verdict: Verdict) -> Iterator[MemoryFinding]:
    key = (verdict.source_population_sha256 or verdict.request_sha256).encode("ascii")
    with KafkaLog(settings.connection, MEMORY_FINDINGS, _GROUP) as log:
        partition = partition_of(key, log.partition_count())
        for record in _around(settings, log, partition, verdict):
            if record.key == key:
                try:
                    yield avro.decode(record.value, MemoryFinding)
                except MalformedError:
                    continue  # no finding, whoever put it there


def _request(settings: Settings, verdict: Verdict) -> MemoryRecalled | None:
    with KafkaLog(settings.connection, MEMORY_RECALLED, _GROUP) as log:
        for partition in range(log.partition_count()):
            for record in _around(settings, log, partition, verdict):
                if bytes_sha256(record.value or b"") == verdict.request_sha256:
                    request = _believed(settings, record, verdict)
                    if request is not None:
                        return request
    return None


def _believed(settings: Settings, record: ReadRecord, verdict: Verdict) -> MemoryRecalled | None:
    trust = app_policy_store(settings, "recall-verify").trust()
    try:
        signature = Signature.from_headers(record.headers)
        value = record.value or b""
        key = authenticate(signature, MEMORY_RECALLED, value, KeyRole.LOADER, trust, verdict.decided_at)
        request = avro.decode(value, MemoryRecalled)
        key.check_tenant(request.tenant_id)
    except (MalformedError, SignatureInvalidError, SignerNotAuthorisedError):
        return None
    return request


def _around(settings: Settings, log: KafkaLog, partition: int, verdict: Verdict) -> Iterator[ReadRecord]:
    """Return the records of the verdict's time: two horizons before it and one after."""
    margin = settings.horizon_ms + settings.skew_ms
    start = log.offset_at(partition, verdict.decided_at - 2 * margin)
    if start is None:
        return
    after = log.offset_at(partition, verdict.decided_at + margin)
    yield from log.history(partition, start, log.end_offset(partition) if after is None else after)
