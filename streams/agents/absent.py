"""The judge that judges nothing, for measuring the flow alone.

The contract: its receipts are ERROR/NOT_RUN, so nothing is ever accepted on its word.
"""

from __future__ import annotations

from collections.abc import Sequence

from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import EvidenceKind, Receipt
from streams.agents.workers import Judgement, RecallTask, Task, error_receipt


class AbsentJudge:
    """States that nothing was checked."""

    def __init__(self, kind: EvidenceKind) -> None:
        self._kind = kind

    @property
    def kind(self) -> EvidenceKind:
        """What its receipts are."""
        return self._kind

    @property
    def group_size(self) -> int:
        """A batch at once."""
        return 1024

    @property
    def reads_sources(self) -> bool:
        """As the judge in whose place it is."""
        return self._kind is EvidenceKind.CONSISTENCY

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Receipt]:
        """Return NOT_RUN for every task."""
        receipt = error_receipt(Reason.of(ReasonCode.NOT_RUN, "", self._kind.value.lower()))
        return [receipt for _ in tasks]


class AbsentRecallJudge:
    """States that nothing of a recall was checked."""

    def __init__(self, kind: EvidenceKind) -> None:
        self._kind = kind

    async def judge(self, tasks: Sequence[RecallTask]) -> Sequence[Judgement]:
        """Return NOT_RUN for every task."""
        receipt = error_receipt(Reason.of(ReasonCode.NOT_RUN, "", self._kind.value.lower()))
        return [Judgement(receipt) for _ in tasks]
