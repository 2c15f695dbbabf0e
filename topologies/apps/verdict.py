"""Verdict: evidence to DECIDED, decisions to the verdict topics, and what follows from them to the ledger."""

from __future__ import annotations

from typing import Final

from streams.application.ports.log import Channel
from topologies import catalog
from topologies.apps.model import StepKind, Topology

VERDICT: Final = Topology(
    name="verdict",
    group="pratique.verdict",
    step=StepKind.VERDICT,
    reads=catalog.EVIDENCE,
    writes=(
        (Channel.EVIDENCE, catalog.EVIDENCE),
        (Channel.ACCEPTED, catalog.COMPACTION_ACCEPTED),
        (Channel.QUARANTINED, catalog.COMPACTION_QUARANTINED),
        (Channel.COMMANDS, catalog.QUARANTINE_COMMANDS),
        (Channel.DEAD_LETTER, catalog.DEAD_LETTER),
    ),
)
