"""The deployables: one frozen Topology each."""

from __future__ import annotations

from typing import Final

from topologies.apps.consistency import CONSISTENCY
from topologies.apps.intake import INTAKE
from topologies.apps.ledger import LEDGER
from topologies.apps.model import StepKind, Topology
from topologies.apps.scan import SCAN
from topologies.apps.verdict import VERDICT

__all__ = ["APPS", "CONSISTENCY", "INTAKE", "LEDGER", "SCAN", "VERDICT", "StepKind", "Topology"]

APPS: Final[tuple[Topology, ...]] = (INTAKE, CONSISTENCY, SCAN, VERDICT, LEDGER)
"""Every app, in the order in which a request meets them."""
