"""Ledger: commands to transitions of the quarantine ledger, and the review queue of automatic ones."""

from __future__ import annotations

from typing import Final

from streams.application.ports.log import Channel
from topologies import catalog
from topologies.apps.model import StepKind, Topology

LEDGER: Final = Topology(
    name="ledger",
    group="pratique.ledger",
    step=StepKind.LEDGER,
    reads=catalog.QUARANTINE_COMMANDS,
    writes=(
        (Channel.LEDGER, catalog.QUARANTINE_LEDGER),
        (Channel.AUDIT, catalog.QUARANTINE_AUDIT),
        (Channel.REVIEW, catalog.QUARANTINE_REVIEW),
        (Channel.DEAD_LETTER, catalog.DEAD_LETTER),
    ),
)
