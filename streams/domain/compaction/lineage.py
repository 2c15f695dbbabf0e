"""Trust from compaction to compaction: a summary is as trusted as the least of what it was made from, and no more.

The contract. A request may name the verdicts that its sources were compacted from (``lineage``). ``follow`` says what
trust they leave:

- TRUSTED only if every source is, every verdict is known, and each accepted a summary that was TRUSTED itself;
- a verdict that isn't known (LINEAGE_UNKNOWN) or that accepted nothing (LINEAGE_QUARANTINED), and a source that carries
  an accepted summary's marker while no verdict is named at all (LINEAGE_UNKNOWN), make it UNTRUSTED. Policy says
  whether that is all, or a reason to refuse.

A summary stands in a context under role user. It is no user's word for that: ``is_users_word`` is what may be quoted as
one, whatever provenance the platform gives it.

Which summary a source holds is the platform's to say: a verdict names its candidate's digest, not the text's. It reads
no verdict itself: the shell looks them up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import Provenance, Role, SourceMessage

SUMMARY_MARKS: Final = ("[UNTRUSTED COMPACTED CONTEXT DATA]", "<untrusted_summary>")
"""What stands before an accepted summary, and before a narrative or what was written from untrusted turns."""

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


def follow(messages: Sequence[SourceMessage], lineage: Sequence[str], known: Mapping[str, Ancestor]) -> Followed:
    """Return what trust sources have.

    Args:
        messages: The sources.
        lineage: The verdicts that they are said to be compacted from.
        known: Those of them that were found, by id.
    """
    reasons = tuple(sorted(set(islice(_unfollowed(messages, lineage, known), MAX_REASONS))))
    trusted = (
        not reasons
        and all(message.provenance is Provenance.TRUSTED for message in messages)
        and all(known[verdict_id].trust is Provenance.TRUSTED for verdict_id in lineage)
    )
    return Followed(Provenance.TRUSTED if trusted else Provenance.UNTRUSTED, reasons)


def _unfollowed(
    messages: Sequence[SourceMessage], lineage: Sequence[str], known: Mapping[str, Ancestor]
) -> Iterator[Reason]:
    for place, verdict_id in enumerate(lineage):
        ancestor = known.get(verdict_id)
        if ancestor is None:
            yield Reason.of(ReasonCode.LINEAGE_UNKNOWN, f"lineage[{place}]", DETECTOR)
        elif not ancestor.accepted:
            yield Reason.of(ReasonCode.LINEAGE_QUARANTINED, f"lineage[{place}]", DETECTOR)
    if not lineage:
        for place, message in enumerate(messages):
            if carries_summary(message.content):
                yield Reason.of(ReasonCode.LINEAGE_UNKNOWN, f"source_messages[{place}]", DETECTOR)
