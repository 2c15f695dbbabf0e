"""The consistency judge: the seed's G001 and G002 over a batch of tasks.

The contract: grammars are compiled once and kept by digest; commitments are verified again here, at the moment intake
stated, so that a forged work record can't bring its own. An exception of the verifier is an ERROR receipt.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from pratique.contract.canonical import canonical_json
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import EvidenceKind, Receipt, StatedReason
from streams.agents.grammars import Grammars
from streams.agents.workers import Sources, Task, error_receipt
from streams.application.consistency import check_compaction
from streams.application.pinning import Pinning
from streams.domain.compaction.consistency import ConsistencyResult
from streams.domain.policy.model import CommitmentSnapshot, PolicySet
from streams.errors import PolicyError
from streams.wire.candidate import read_under

LOG: Final = logging.getLogger(__name__)

_DETECTOR: Final = "consistency"


class ConsistencyJudge:
    """Judges whether a summary preserves what it must."""

    kind = EvidenceKind.CONSISTENCY
    group_size = 256
    reads_sources = True

    def __init__(self, pinning: Pinning, grammars: Grammars | None = None) -> None:
        self._pinning = pinning
        self._grammars = grammars or Grammars()

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Receipt]:
        """Return a receipt for every task."""
        return await asyncio.to_thread(lambda: [self._judged(task) for task in tasks])

    def _judged(self, task: Task) -> Receipt:
        if not isinstance(task.policy_set, PolicySet):
            raise TypeError("task without a policy set")
        if task.sources is None:
            raise TypeError("task without its sources")
        try:
            return self._checked(task, task.sources, task.policy_set)
        except PolicyError:
            return error_receipt(Reason.of(ReasonCode.POLICY_INVALID, "policy", _DETECTOR))
        except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never a pass
            LOG.error("consistency check failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold content
            return error_receipt(Reason.of(ReasonCode.VERIFIER_EVIDENCE_DIFFERS, "", _DETECTOR))

    def _checked(self, task: Task, sources: Sources, policy_set: PolicySet) -> Receipt:
        snapshot = self._pinning.commitments(sources.request, policy_set, task.work.opened_at)
        if not isinstance(snapshot, CommitmentSnapshot):
            # Intake verified them; that this worker can't means that trust changed since.
            return error_receipt(Reason.of(ReasonCode.COMMITMENTS_STALE, "commitments", _DETECTOR))
        grammar = self._grammars.of(policy_set)
        candidate = read_under(task.candidate_json, policy_set.compaction)
        result = check_compaction(
            sources.request, candidate, policy_set, snapshot, grammar, source_sha256s=sources.sha256s
        )
        return _receipt(result)


def _receipt(result: ConsistencyResult) -> Receipt:
    return Receipt(
        outcome=result.outcome.value,
        finding_status=result.finding_status.value,
        reasons=tuple(StatedReason.of(reason) for reason in result.reasons),
        body_json=None if result.receipt_body is None else canonical_json(result.receipt_body),
        receipt_sha256=result.receipt_sha256,
        compacted_output_sha256=result.compacted_output_sha256,
        scan_population_sha256=result.scan_population_sha256,
        scan_field_count=result.scan_field_count,
        versions=result.versions,
    )
