"""Intake: requests to OPENED and work."""

from __future__ import annotations

from typing import Final

from streams.application.ports.log import Channel
from topologies import catalog
from topologies.apps.model import StepKind, Topology

INTAKE: Final = Topology(
    name="intake",
    group="pratique.intake",
    step=StepKind.INTAKE,
    reads=catalog.COMPACTION_REQUESTED,
    also_reads=(catalog.MEMORY_RECALLED,),
    writes=(
        (Channel.EVIDENCE, catalog.EVIDENCE),
        (Channel.WORK, catalog.WORK),
        (Channel.DEAD_LETTER, catalog.DEAD_LETTER),
    ),
)
