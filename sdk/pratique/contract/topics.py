"""The topic names of the external contract; a signature covers the name of the topic its record was made for."""

from __future__ import annotations

from typing import Final

COMPACTION_REQUESTED: Final = "compaction.requested"
MEMORY_RECALLED: Final = "memory.recalled"
WORK: Final = "gate.work"
EVIDENCE: Final = "gate.evidence"
COMPACTION_ACCEPTED: Final = "compaction.accepted"
COMPACTION_QUARANTINED: Final = "compaction.quarantined"
MEMORY_FINDINGS: Final = "memory.findings"
QUARANTINE_COMMANDS: Final = "quarantine.commands"
QUARANTINE_LEDGER: Final = "quarantine.ledger"
QUARANTINE_AUDIT: Final = "quarantine.audit"
QUARANTINE_REVIEW: Final = "quarantine.review"
DEAD_LETTER: Final = "gate.dead-letter"

HEADER_KEY_ID: Final = "pratique-key-id"
HEADER_SIGNATURE: Final = "pratique-signature"

MAX_REQUEST_BYTES: Final = 4 * 1024 * 1024
"""Largest request value, in bytes, as published."""

MAX_ENVELOPE_BYTES: Final = 64 * 1024
"""What work and dead letters may add to the request they carry, in bytes."""
