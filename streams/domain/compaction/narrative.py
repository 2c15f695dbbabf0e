"""What a narrative must not say, and what a summary's clauses must not claim: the steps after the seed's.

The contract: a narrative is free text beside a summary that passed (``docs/reference/profiles.md``). It preserves
nothing.

- No conflict rule of the grammar, for whichever predicate, matches its complete normalised text (PREDICATE_CONFLICT),
  and no probabilistic marker (ASSURANCE_PROBABILISTIC).
- Neither it nor the summary beside it claims a person's word untraced, or forges a marker (AUTHORITY_UNTRACED).

In every profile, a clause that claims a person's word carries a quotation, and a quotation is in the very message that
its clause names (AUTHORITY_UNTRACED): looked up again here, whatever the parser said. The summary of the seed's
profile is asked nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from pratique.contract.reasons import Reason, ReasonCode
from streams.domain.compaction.authority.check import Ground, Untraced, claims_authority, forged_markers, untraced
from streams.domain.compaction.authority.sentences import Quotable
from streams.domain.compaction.clauses import ParsedClause
from streams.domain.compaction.occurrences import occurs
from streams.domain.compaction.refusal import MAX_PLACES, grammar_reason
from streams.domain.compaction.slots import Sources

AUTHORITY_DETECTOR: Final = "authority"
"""Who names the reasons of the authority check; what was found follows a colon (``authority:claim``)."""

SUMMARY_PATH: Final = "candidate.summary_text"
NARRATIVE_PATH: Final = "candidate.narrative_text"


def narrative_reasons(
    narrative_text: str, summary_text: str, sources: Quotable, matched: Iterable[tuple[ReasonCode, bool]]
) -> Iterator[Reason]:
    """Yield what stands against a narrative.

    Args:
        narrative_text: The narrative, as it is.
        summary_text: The summary beside it, whose markers count too.
        sources: The messages that may be quoted.
        matched: Whether rules of the grammar match the narrative: PREDICATE_CONFLICT, ASSURANCE_PROBABILISTIC.
    """
    yield from (grammar_reason(code, NARRATIVE_PATH) for code, matches in matched if matches)
    yield from _untraced(NARRATIVE_PATH, untraced(narrative_text, sources))
    yield from _untraced(SUMMARY_PATH, forged_markers(summary_text))


def clause_reasons(summary_text: str, clauses: Sequence[ParsedClause], sources: Sources) -> Iterator[Reason]:
    """Yield what stands against a summary's clauses.

    Args:
        summary_text: The summary, all of which they are.
        clauses: Its clauses.
        sources: The messages that may be quoted.
    """
    found = (clause for clause in clauses if not _is_traced(summary_text, clause, sources))
    yield from (
        _reason(f"{SUMMARY_PATH}[{clause.start}:{clause.end}]", Ground.CLAIM) for clause in islice(found, MAX_PLACES)
    )


def _is_traced(text: str, clause: ParsedClause, sources: Sources) -> bool:
    if clause.quotations:
        return all(
            occurs(clause.values[quotation], sources.quotable.get(clause.values[message], ""))
            and clause.values[quotation] in text[clause.start : clause.end]
            for quotation, message in clause.quotations
        )
    return not (clause.rule.may_claim and claims_authority(text[clause.start : clause.end]))


def _untraced(path: str, found: Iterable[Untraced]) -> Iterator[Reason]:
    return (_reason(f"{path}[{item.start}:{item.end}]", item.ground) for item in islice(found, MAX_PLACES))


def _reason(path: str, ground: Ground) -> Reason:
    return Reason.of(ReasonCode.AUTHORITY_UNTRACED, path, f"{AUTHORITY_DETECTOR}:{ground.value}")
