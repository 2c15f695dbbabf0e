"""Where the development stack keeps its files; all of it is ignored by git."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""The checkout."""

KAFKA: Final = ROOT / "infra" / "kafka"
KAFKA_TARGET: Final = KAFKA / "target"
"""What Maven resolved, and the class archive made from it."""

KAFKA_JARS: Final = KAFKA_TARGET / "lib"

STATE: Final = ROOT / ".pratique"
"""State of `make up`: stack.json, processes.json, logs/, kafka/, stack/ with policy and keys. Guides keep more here."""
