"""The consistency judge of recalls: identities, and the signed grammar's conflict rules over each entry.

The contract: one receipt a task; an exception of ours is an ERROR receipt, and never a pass.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import Receipt
from streams.agents.grammars import Grammars
from streams.agents.workers import Judgement, RecallTask, error_receipt
from streams.application.recall_consistency import check_consistency_of_recall
from streams.domain.policy.model import PolicySet
from streams.errors import PolicyError

LOG: Final = logging.getLogger(__name__)

_DETECTOR: Final = "consistency"


class RecallConsistencyJudge:
    """Judges whether recalled memories are those expected, and negate nothing."""

    def __init__(self, grammars: Grammars) -> None:
        self._grammars = grammars

    async def judge(self, tasks: Sequence[RecallTask]) -> Sequence[Judgement]:
        """Return a judgement for every task."""
        return await asyncio.to_thread(lambda: [Judgement(self._judged(task)) for task in tasks])

    def _judged(self, task: RecallTask) -> Receipt:
        if not isinstance(task.policy_set, PolicySet):
            raise TypeError("task without a policy set")
        try:
            return check_consistency_of_recall(task.request, task.policy_set, self._grammars.of(task.policy_set))
        except PolicyError:
            return error_receipt(Reason.of(ReasonCode.POLICY_INVALID, "policy", _DETECTOR))
        except Exception as error:  # noqa: BLE001 - an unforeseen failure is an answer, and never a pass
            LOG.error("recall's consistency check failed: %s", type(error).__name__)  # noqa: TRY400 - a trace may hold content
            return error_receipt(Reason.of(ReasonCode.VERIFIER_EVIDENCE_DIFFERS, "", _DETECTOR))
