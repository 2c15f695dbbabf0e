"""Trust from compaction to compaction: a summary is as trusted as the least of what it was made from, and no more.

The contract. A request may name the verdicts that its sources were compacted from (``lineage``). ``follow`` says what
trust they leave:

- TRUSTED only if every source is, every verdict is known, and each accepted a summary that was TRUSTED itself;
- a verdict that isn't known (LINEAGE_UNKNOWN) or that accepted nothing (LINEAGE_QUARANTINED), and a source that carries
  an accepted summary's marker, or is what a verdict accepted, while no verdict is named at all (LINEAGE_UNKNOWN), make
  it UNTRUSTED; so does not knowing whether one is. Policy says whether that is all, or a reason to refuse.

A summary stands in a context under role user. It is no user's word for that: ``is_users_word`` is what may be quoted as
one, whatever provenance the platform gives it.

A source is what a verdict accepted if it is the summary or narrative to the letter, white space around it aside, or
the JSON of the candidate (``digests_of``). A text that was changed is another text. It reads no verdict itself: the
shell looks them up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pratique.contract.canonical import canonical_sha256, parse_json
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import Provenance, Role, SourceMessage
from pratique.errors import MalformedError

SUMMARY_MARKS: Final = ("[UNTRUSTED COMPACTED CONTEXT DATA]", "<untrusted_summary>")
"""What stands before an accepted summary, and before a narrative or what was written from untrusted turns."""

_SUMMARY_FIELD: Final = "summary_text"
_TEXT_FIELDS: Final = (_SUMMARY_FIELD, NARRATIVE_FIELD)

DETECTOR: Final = "lineage"
"""Who names the reasons."""

MAX_REASONS: Final = 64
"""Most reasons that are given, and most verdicts that are looked up: one more is not followed."""


@dataclass(frozen=True, slots=True)
class Ancestor:
    """What a verdict leaves to a later compaction.

    Attributes:
        accepted: Whether it accepted a summary.
        trust: The trust of that summary.
    """

    accepted: bool
    trust: Provenance


@dataclass(frozen=True, slots=True)
class Followed:
    """What a request's sources come to.

    Attributes:
        trust: The least trust of them and of what they were made from.
        reasons: What could not be followed; empty where there is nothing to follow, or all was.
    """

    trust: Provenance
    reasons: tuple[Reason, ...]


def carries_summary(content: str) -> bool:
    """Say whether a text carries the mark of an accepted summary, a narrative, or a summary of untrusted turns."""
    return any(mark in content for mark in SUMMARY_MARKS)


def is_users_word(message: SourceMessage) -> bool:
    """Say whether a message is what a trusted user wrote, and may be quoted as that."""
    return (
        message.role is Role.USER and message.provenance is Provenance.TRUSTED and not carries_summary(message.content)
    )


def digests_of(message: SourceMessage) -> tuple[str, ...]:
    """Return the digests that a verdict would know a message by, were it what the verdict accepted."""
    content = message.content
    digests = [canonical_sha256(content)]
    bare = content.strip()
    if bare != content:
        digests.append(canonical_sha256(bare))
    if bare.startswith("{") and _SUMMARY_FIELD in bare:
        digests += _digests_of_candidate(bare)
    return tuple(digests)


def _digests_of_candidate(text: str) -> list[str]:
    try:
        candidate = parse_json(text)
        texts = [candidate.get(name) for name in _TEXT_FIELDS] if isinstance(candidate, Mapping) else []
        return [canonical_sha256(candidate), *(canonical_sha256(item) for item in texts if isinstance(item, str))]
    except MalformedError:  # no JSON, or a lone surrogate in it: no verdict accepted it
        return []


def follow(
    messages: Sequence[SourceMessage],
    lineage: Sequence[str],
    known: Mapping[str, Ancestor],
    recognised: Collection[int] | None = (),
) -> Followed:
    """Return what trust sources have.

    Args:
        messages: The sources.
        lineage: The verdicts that they are said to be compacted from.
        known: Those of them that were found, by id.
        recognised: Places of the sources that are what a verdict accepted; null where that could not be learnt.
    """
    reasons = tuple(sorted(set(islice(_unfollowed(messages, lineage, known, recognised), MAX_REASONS))))
    trusted = (
        not reasons
        and all(message.provenance is Provenance.TRUSTED for message in messages)
        and all(known[verdict_id].trust is Provenance.TRUSTED for verdict_id in lineage)
    )
    return Followed(Provenance.TRUSTED if trusted else Provenance.UNTRUSTED, reasons)


def _unfollowed(
    messages: Sequence[SourceMessage],
    lineage: Sequence[str],
    known: Mapping[str, Ancestor],
    recognised: Collection[int] | None,
) -> Iterator[Reason]:
    for place, verdict_id in enumerate(lineage):
        ancestor = known.get(verdict_id)
        if ancestor is None:
            yield Reason.of(ReasonCode.LINEAGE_UNKNOWN, f"lineage[{place}]", DETECTOR)
        elif not ancestor.accepted:
            yield Reason.of(ReasonCode.LINEAGE_QUARANTINED, f"lineage[{place}]", DETECTOR)
    if not lineage:
        if recognised is None:
            yield Reason.of(ReasonCode.LINEAGE_UNKNOWN, "source_messages", DETECTOR)
        for place, message in enumerate(messages):
            if place in (recognised or ()) or carries_summary(message.content):
                yield Reason.of(ReasonCode.LINEAGE_UNKNOWN, f"source_messages[{place}]", DETECTOR)
