"""Scan: work to SCAN receipts, and a recall's findings before its receipt."""

from __future__ import annotations

from typing import Final

from streams.application.ports.log import Channel
from topologies import catalog
from topologies.apps.model import StepKind, Topology

SCAN: Final = Topology(
    name="scan",
    group="pratique.scan",
    step=StepKind.SCAN,
    reads=catalog.WORK,
    writes=(
        (Channel.EVIDENCE, catalog.EVIDENCE),
        (Channel.FINDINGS, catalog.MEMORY_FINDINGS),
        (Channel.DEAD_LETTER, catalog.DEAD_LETTER),
    ),
)
