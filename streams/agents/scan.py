"""The scan judge: the seed's G003 over a batch of tasks, in a pool of processes.

The contract: tasks of a group are scanned at once, as many as the pool takes; one that times out or kills its process
is answered with an ERROR receipt and harms no other. An exception of ours is an ERROR receipt as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pratique.contract.canonical import canonical_json
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import EvidenceKind, Nomination, Receipt, StatedReason
from streams.agents.workers import Sources, Task, error_receipt
from streams.application.laundering import is_steered, with_laundering
from streams.application.nominating import nominate_candidate
from streams.application.ports.detection import ScanPool
from streams.application.ports.quarantine import FingerprintKeys
from streams.application.scanning import ScanResult, scan_compaction
from streams.domain.compaction.candidate import Candidate, CandidateRefused
from streams.domain.policy.model import PolicySet
from streams.domain.quarantine.automatic import NARRATIVE, SUMMARY
from streams.wire.candidate import read_under

LOG: Final = logging.getLogger(__name__)

_DETECTOR: Final = "scan"


class ScanJudge:
    """Judges whether a summary carries what must not be carried.

    Args:
        pool: The scanner.
        keys: The fingerprint keys; without them no summary is nominated for the quarantine ledger.
    """

    kind = EvidenceKind.SCAN
    group_size = 64
    reads_sources = False

    def __init__(self, pool: ScanPool, keys: FingerprintKeys | None = None) -> None:
        self._pool = pool
        self._keys = keys

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Receipt]:
        """Return a receipt for every task."""
        return await asyncio.gather(*(self._judged(task) for task in tasks))

    async def _judged(self, task: Task) -> Receipt:
        if not isinstance(task.policy_set, PolicySet):
            raise TypeError("task without a policy set")
        policy_set = task.policy_set
        try:
            candidate = await asyncio.to_thread(read_under, task.candidate_json, policy_set.compaction)
            result = await scan_compaction(
                candidate,
                policy_set.scan,
                self._pool,
                policy_sha256=policy_set.compaction.policy_sha256,
                at_ms=task.work.opened_at,
            )
        except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never clean
            LOG.error("scan failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold content
            return error_receipt(Reason.of(ReasonCode.DETECTOR_ERROR, "", _DETECTOR))
        try:
            if is_steered(result):
                sources = await asyncio.to_thread(Sources.of, task.work)
                result = await with_laundering(
                    result,
                    sources.request.source_messages,
                    policy_set.scan,
                    self._pool,
                    at_ms=task.work.opened_at,
                )
        except Exception as error:  # noqa: BLE001 - what was found in the summary stands all the same
            LOG.error("sources were not looked at: %s", type(error).__name__)  # noqa: TRY400 - the same
        return await self._nominated(_receipt(result), candidate, result, policy_set)

    async def _nominated(
        self, receipt: Receipt, candidate: Candidate | CandidateRefused, result: ScanResult, policy_set: PolicySet
    ) -> Receipt:
        """Return the receipt with what it nominates for the quarantine ledger: nothing, where policy has no rule."""
        if (
            policy_set.compaction.auto_quarantine is None
            or self._keys is None
            or isinstance(candidate, CandidateRefused)
        ):
            return receipt
        try:
            nomination = await asyncio.to_thread(_nomination, self._keys, candidate, result, policy_set)
        except Exception as error:  # noqa: BLE001 - whatever keeps the key away: the verdict does not depend on it
            LOG.error("nothing is nominated: %s", type(error).__name__)  # noqa: TRY400 - a trace may name a key's file
            return receipt
        return receipt if nomination is None else replace(receipt, nomination=nomination)


def _nomination(
    keys: FingerprintKeys, candidate: Candidate, result: ScanResult, policy_set: PolicySet
) -> Nomination | None:
    context = candidate.context
    texts = {SUMMARY: context.summary_text}
    if context.narrative_text is not None:
        texts[NARRATIVE] = context.narrative_text
    return nominate_candidate(texts, result.reasons, policy_set, keys.all())


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
