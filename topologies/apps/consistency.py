"""Consistency: work to CONSISTENCY receipts."""

from __future__ import annotations

from typing import Final

from streams.application.ports.log import Channel
from topologies import catalog
from topologies.apps.model import StepKind, Topology

CONSISTENCY: Final = Topology(
    name="consistency",
    group="pratique.consistency",
    step=StepKind.CONSISTENCY,
    reads=catalog.WORK,
    writes=((Channel.EVIDENCE, catalog.EVIDENCE), (Channel.DEAD_LETTER, catalog.DEAD_LETTER)),
)
