"""What a deployable is: a frozen value that says which topics it reads and writes and which step it runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from streams.application.ports.log import Channel
from topologies.catalog import TopicSpec


class StepKind(Enum):
    """The step an app runs; ``topologies.bootstrap`` builds it."""

    INTAKE = "intake"
    CONSISTENCY = "consistency"
    SCAN = "scan"
    VERDICT = "verdict"
    LEDGER = "ledger"
    """Not a Faust step: a writer of transactions, which Faust can't fence (architecture, decision 10)."""


@dataclass(frozen=True, slots=True)
class Topology:
    """One deployable.

    Attributes:
        name: Its name on the command line.
        group: Its consumer group.
        step: What it does.
        reads: The topic it consumes; the first, where there are several.
        writes: The topic behind each channel it may write to.
        also_reads: Further topics that it consumes in the same group.
    """

    name: str
    group: str
    step: StepKind
    reads: TopicSpec
    writes: tuple[tuple[Channel, TopicSpec], ...]
    also_reads: tuple[TopicSpec, ...] = ()

    @property
    def sources(self) -> tuple[TopicSpec, ...]:
        """Every topic it consumes."""
        return (self.reads, *self.also_reads)
