"""The scan judge: the seed's G003 over a batch of tasks, in a pool of processes.

The contract: tasks of a group are scanned at once, as many as the pool takes; one that times out or kills its process
is answered with an ERROR receipt and harms no other. An exception of ours is an ERROR receipt as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from pratique.contract.canonical import canonical_json
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import EvidenceKind, Receipt, StatedReason
from streams.agents.workers import Task, error_receipt
from streams.application.laundering import with_laundering
from streams.application.ports.detection import ScanPool
from streams.application.scanning import ScanResult, scan_compaction
from streams.domain.policy.model import PolicySet
from streams.wire.candidate import read_candidate

LOG: Final = logging.getLogger(__name__)

_DETECTOR: Final = "scan"


class ScanJudge:
    """Judges whether a summary carries what must not be carried."""

    kind = EvidenceKind.SCAN
    group_size = 64

    def __init__(self, pool: ScanPool) -> None:
        self._pool = pool

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Receipt]:
        """Return a receipt for every task."""
        return await asyncio.gather(*(self._judged(task) for task in tasks))

    async def _judged(self, task: Task) -> Receipt:
        if not isinstance(task.policy_set, PolicySet):
            raise TypeError("task without a policy set")
        policy_set = task.policy_set
        try:
            bound = policy_set.compaction.max_candidate_bytes
            candidate = await asyncio.to_thread(read_candidate, task.request.candidate_json, max_bytes=bound)
            result = await scan_compaction(
                candidate, policy_set.scan, self._pool, policy_sha256=policy_set.compaction.policy_sha256
            )
            result = await with_laundering(result, task.request.source_messages, policy_set.scan, self._pool)
        except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never clean
            LOG.error("scan failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold content
            return error_receipt(Reason.of(ReasonCode.DETECTOR_ERROR, "", _DETECTOR))
        return _receipt(result)


def _receipt(result: ScanResult) -> Receipt:
    return Receipt(
        outcome=result.outcome.value,
        finding_status=result.finding_status.value,
        reasons=tuple(StatedReason.of(reason) for reason in result.reasons),
        body_json=None if result.receipt_body is None else canonical_json(result.receipt_body),
        receipt_sha256=result.receipt_sha256,
        compacted_output_sha256=result.compacted_output_sha256,
        scan_population_sha256=result.scanned_population_sha256,
        scan_field_count=result.scanned_field_count,
        versions=result.versions,
    )
