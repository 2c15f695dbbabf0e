"""Compaction requests read back from their topic, for evaluations that decide nothing.

The contract: the newest of each partition, in order; a record that is no request signed by a publisher of its tenant
is given as null, so that strangers can't shape what an operator reads from the numbers. It commits no offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pratique.contract import avro
from pratique.contract.records import CompactionRequested
from pratique.contract.signing import Signature
from pratique.contract.topics import COMPACTION_REQUESTED
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError
from streams.adapters.kafka_log import KafkaLog, ReadRecord
from streams.application.admission import authenticate
from topologies.bootstrap.policy_store import app_policy_store
from topologies.settings import Settings

_GROUP: Final = "pratique.policy-diff"


def recorded_requests(settings: Settings, newest: int) -> Iterator[tuple[CompactionRequested, int] | None]:
    """Yield requests and their sizes in bytes, as published.

    Args:
        settings: Where cluster and policy repository are.
        newest: How many of each partition.

    Raises:
        UnavailableError: The cluster or the policy repository does not answer.
    """
    trust = app_policy_store(settings, "policy-diff").trust()
    with KafkaLog(settings.connection, COMPACTION_REQUESTED, _GROUP) as log:
        for partition in range(log.partition_count()):
            end = log.end_offset(partition)
            for record in log.history(partition, max(0, end - newest), end):
                yield _authentic(record, trust)


def _authentic(record: ReadRecord, trust: TrustTarget) -> tuple[CompactionRequested, int] | None:
    value = record.value or b""
    try:
        signature = Signature.from_headers(record.headers)
        key = authenticate(signature, record.topic, value, KeyRole.PUBLISHER, trust, record.timestamp)
        request = avro.decode(value, CompactionRequested)
        key.check_tenant(request.tenant_id)
    except (MalformedError, SignatureInvalidError, SignerNotAuthorisedError):
        return None
    return request, len(value)
