"""The published language of the profile with untrusted narrative: schema strings, words of assurance, one digest.

The contract: everything here is our own (``pratique.*``). Where a narrative is accepted, neither the seed's acceptance
nor its receipt is emitted (AID-I-004.008 has no free text); a fallback is the seed's in both profiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256

CANDIDATE_SCHEMA: Final = "pratique.compaction-candidate.v2"
RECEIPT_SCHEMA: Final = "pratique.narrative-consistency-receipt.v1"
ACCEPTANCE_EVENT: Final = "pratique.narrative-compaction-acceptance.v1"

NARRATIVE_ASSURANCE: Final = "COMPLETE_DETERMINISTIC_BOUNDED_RULES_FOR_SUMMARY_TEXT_WITH_UNTRUSTED_UNVERIFIED_NARRATIVE"
"""What an acceptance establishes: the summary as the seed has it, of the narrative only what was not found in it."""

NARRATIVE_FIELD: Final = "narrative_text"


def narrative_sha256(narrative_text: str) -> str:
    """Return the digest of a narrative: canonical, over the JSON string, quotes included."""
    return canonical_sha256(narrative_text)


def narrative_of(candidate: JsonValue) -> str | None:
    """Return the narrative of a parsed candidate; null where it is not of the schema with one."""
    if not isinstance(candidate, Mapping) or candidate.get("schema_version") != CANDIDATE_SCHEMA:
        return None
    text = candidate.get(NARRATIVE_FIELD)
    return text if isinstance(text, str) else None
