"""The scan judge of recalls: ledger, primary detector and scanner over every entry at once, one finding each.

The contract: whatever happens to one entry is the finding of that entry; whatever happens to a task, it ends with a
finding for each of its entries and a receipt. Each entry is a job of its own for the scanner, so that a text that kills
a process harms no other; all of them together take at most half the policy's deadline. The ledger's view is asked once
a task, for the request's own tenant.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from pratique.contract.reasons import Reason, ReasonCode
from streams.agents.scoring import BoundedScores
from streams.agents.workers import Judgement, RecallTask, error_receipt
from streams.application.ports.detection import Detection, ScanPool
from streams.application.ports.log import Clock
from streams.application.ports.prompt_safety import PromptSafetyDetector
from streams.application.ports.quarantine import FingerprintKey, FingerprintKeys, Looked, QuarantineView
from streams.application.recall_consistency import RECALL
from streams.application.recall_plan import LEDGER, SCANNER, Failure, ScanPlan, plan_scan
from streams.application.recall_scanning import Measurement, RecallScan, conclude_scan
from streams.domain.policy.model import PolicySet
from streams.errors import DetectorTimeoutError, LedgerViewIncompleteError

LOG: Final = logging.getLogger(__name__)


class RecallScanJudge:
    """Finds what recalled memories carry.

    Args:
        pool: The scanner.
        detector: The primary detector; without one every entry is an ERROR.
        view: The quarantine ledger's view; without one every entry is an ERROR.
        keys: The fingerprint keys; without them every entry is an ERROR.
        clock: The time of findings.
    """

    def __init__(
        self,
        pool: ScanPool,
        *,
        detector: PromptSafetyDetector | None,
        view: QuarantineView | None,
        keys: FingerprintKeys | None,
        clock: Clock,
    ) -> None:
        self._pool = pool
        self._detector = detector
        self._scores = None if detector is None else BoundedScores(detector)
        self._view = view
        self._keys = keys
        self._clock = clock

    async def judge(self, tasks: Sequence[RecallTask]) -> Sequence[Judgement]:
        """Return a judgement for every task."""
        return await asyncio.gather(*(self._judged(task) for task in tasks))

    async def _judged(self, task: RecallTask) -> Judgement:
        if not isinstance(task.policy_set, PolicySet):
            raise TypeError("task without a policy set")
        try:
            scan = await self._scanned(task, task.policy_set)
        except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never clean
            LOG.error("recall scan failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold content
            return Judgement(error_receipt(Reason.of(ReasonCode.DETECTOR_ERROR, "", RECALL)))
        return Judgement(scan.receipt, scan.findings)

    async def _scanned(self, task: RecallTask, policy_set: PolicySet) -> RecallScan:
        plan = await asyncio.to_thread(self._planned, task, policy_set)
        looked, measurements = await asyncio.gather(
            asyncio.to_thread(self._looked, plan), self._all_measured(plan, policy_set.compaction.deadline_ms / 2000)
        )
        return await asyncio.to_thread(
            lambda: conclude_scan(
                plan, looked, measurements, join_key=task.join_key, observed_at_ms=self._clock.wall_ms()
            )
        )

    def _planned(self, task: RecallTask, policy_set: PolicySet) -> ScanPlan:
        return plan_scan(
            task.request,
            policy_set,
            scanner=self._pool.scanner,
            detector=self._detector,
            keys=self._held_keys(),
            at_ms=task.work.opened_at,
        )

    def _held_keys(self) -> Sequence[FingerprintKey] | Failure:
        try:
            if self._keys is not None:
                return self._keys.held()
        except Exception as error:  # noqa: BLE001 - whatever keeps the key away
            LOG.error("no fingerprint key: %s", type(error).__name__)  # noqa: TRY400 - a trace may name a key's file
        return Failure(LedgerViewIncompleteError("there is no fingerprint key"), LEDGER)

    def _looked(self, plan: ScanPlan) -> Looked | Failure:
        if self._view is None:
            return Failure(LedgerViewIncompleteError("no view of the ledger is configured"), LEDGER)
        if not plan.fingerprints:
            return Failure(LedgerViewIncompleteError("there is nothing to look up"), LEDGER)
        try:
            return self._view.look_up(plan.request.tenant_id, plan.fingerprints)
        except LedgerViewIncompleteError as error:
            LOG.warning("ledger's view does not answer: %s", error)
            return Failure(error, LEDGER)
        except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never "not quarantined"
            LOG.error("look-up failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold fingerprints
            return Failure(LedgerViewIncompleteError("look-up failed"), LEDGER)

    async def _all_measured(self, plan: ScanPlan, within_s: float) -> dict[int, Measurement]:
        """Measure every entry; what is not done in time is out of time, since evidence is waited for no longer."""
        measuring = {asyncio.create_task(self._measured(plan, place)): place for place in plan.open_places}
        if not measuring:
            return {}
        done, late = await asyncio.wait(measuring, timeout=within_s)
        for task in late:
            task.cancel()
        out_of_time = Failure(DetectorTimeoutError("recall was not scanned in the policy's time"), RECALL)
        measurements = {measuring[task]: task.result() for task in done}
        return measurements | {measuring[task]: Measurement(out_of_time, out_of_time) for task in late}

    async def _measured(self, plan: ScanPlan, place: int) -> Measurement:
        if self._scores is None:
            raise TypeError("an entry is to be measured, and there is no detector")
        score, detection = await asyncio.gather(
            self._scores.score(plan.entries[place].entry.content, timeout_ms=plan.timeout_ms),
            self._detected(plan, place),
        )
        return Measurement(score, detection)

    async def _detected(self, plan: ScanPlan, place: int) -> Detection | Failure:
        try:
            return await self._pool.detect([plan.field(place)], plan.profile, timeout_ms=plan.timeout_ms)
        except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never clean
            LOG.error("scanner failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold content
            return Failure(error, SCANNER)
