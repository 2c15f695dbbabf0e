"""The compiled clause grammar: what the verifier judges summaries with.

The contract: a ``Grammar`` comes from ``streams.domain.compaction.compiler`` alone, which has made every compile-time
check of ``docs/reference/grammar.md``. It is immutable and can be shared; the caller keeps it by ``grammar_sha256``,
since compiling costs far more than judging.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pratique.contract.canonical import canonical_sha256
from streams.domain.compaction.clauses import ClauseParser
from streams.domain.compaction.conflicts import PatternRules

SCHEMA_VERSION: Final = "pratique.clause-grammar.v1"

VERIFIER_VERSION: Final = "pratique-clause-verifier-2"
"""Changes with every change of the verifier that could change a result for the same grammar and summary."""

OWN_RULE_PREFIX: Final = "verifier."
"""What the ids of the verifier's own rules begin with; no rule of a grammar may."""


def verifier_artifact_sha256(grammar_sha256: str) -> str:
    """Return the digest of what decides: the signed grammar and the code that reads it.

    Preimage: canonical JSON of {grammar_sha256, verifier_version}.
    """
    return canonical_sha256({"grammar_sha256": grammar_sha256, "verifier_version": VERIFIER_VERSION})


@dataclass(frozen=True, slots=True)
class Grammar:
    """A signed grammar, ready to judge.

    Attributes:
        grammar_id: Its name.
        grammar_version: Its version, as its author counts.
        language: Language of its literals (BCP 47).
        grammar_sha256: Digest of the document.
        artifact_sha256: Digest of document and verifier version.
        predicates: The predicates it can evaluate; any other is UNSUPPORTED.
        parser: Its clauses.
        conflicts: Its conflict rules.
        markers: What makes assurance probabilistic.
    """

    grammar_id: str
    grammar_version: str
    language: str
    grammar_sha256: str
    artifact_sha256: str
    predicates: frozenset[str]
    parser: ClauseParser = field(repr=False)
    conflicts: PatternRules = field(repr=False)
    markers: PatternRules = field(repr=False)
