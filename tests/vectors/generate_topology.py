"""Makes the golden description of the wiring: ``python -m tests.vectors.generate_topology`` writes ``topology.txt``.

A difference means that an app reads or writes another topic, or that a topic changed: whoever reviews it sees that at
a glance, and somebody has to run ``pratique topics apply``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from topologies.describe import describe

VECTORS: Final = Path(__file__).parent / "topology.txt"

if __name__ == "__main__":
    VECTORS.write_text(describe(), encoding="utf-8")
