"""Looking verdicts up in their topics.

The contract: a read model, never authority. Each verdict's signature is checked against the newest trust target before
it is returned; one that does not verify is counted and left out. It reads the topics from the start, so it is for
people and incidents, not for a request's path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from pratique.contract import avro
from pratique.contract.records import Verdict, VerdictOutcome
from pratique.contract.signing import Signature, verify_ed25519
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_QUARANTINED
from pratique.contract.trust import KeyRole, TrustTarget
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError
from streams.adapters.kafka_log import KafkaLog, ReadRecord
from topologies.bootstrap.policy_store import app_policy_store
from topologies.settings import Settings

_GROUP: Final = "pratique.verdict-get"
_OUTCOMES: Final = {
    COMPACTION_ACCEPTED: VerdictOutcome.ACCEPTED,
    COMPACTION_QUARANTINED: VerdictOutcome.QUARANTINED,
}


@dataclass(slots=True)
class Search:
    """What a search came across.

    Attributes:
        looked_at: Records read.
        unbelievable: Records that are no verdict signed by the gate.
    """

    looked_at: int = 0
    unbelievable: int = 0


def find_verdicts(settings: Settings, wanted: Callable[[Verdict], bool], search: Search) -> Iterator[Verdict]:
    """Return signed verdicts that are wanted, in the order of their topics.

    Raises:
        UnavailableError: The cluster or the policy repository does not answer.
    """
    trust = app_policy_store(settings, "verdict-get").trust()
    for topic in _OUTCOMES:
        with KafkaLog(settings.connection, topic, _GROUP) as log:
            for partition in range(log.partition_count()):
                for record in log.history(partition, 0, log.end_offset(partition)):
                    search.looked_at += 1
                    verdict = _believed(record, trust, search)
                    if verdict is not None and wanted(verdict):
                        yield verdict


def _believed(record: ReadRecord, trust: TrustTarget, search: Search) -> Verdict | None:
    try:
        verdict = avro.decode(record.value, Verdict)
        signature = Signature.from_headers(record.headers)
        key = trust.authorised_key(signature.key_id, KeyRole.GATE, None, verdict.decided_at)
        verify_ed25519(key.public_key, signature, record.topic, record.value or b"")
    except (MalformedError, SignatureInvalidError, SignerNotAuthorisedError):
        search.unbelievable += 1
        return None
    if verdict.outcome is not _OUTCOMES[record.topic]:
        search.unbelievable += 1
        return None
    return verdict
