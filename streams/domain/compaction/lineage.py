"""Trust from compaction to compaction: a summary is as trusted as the least of what it was made from, and no more.

The contract. A request may name the verdicts that its sources were compacted from (``lineage``). ``follow`` says what
trust they leave:

- TRUSTED only if every source is, every verdict is known, and each accepted a summary that was TRUSTED itself;
- a verdict that isn't known (LINEAGE_UNKNOWN) or that accepted nothing (LINEAGE_QUARANTINED), and a source that carries
  an accepted summary's marker, or is what a verdict accepted, and that none of the named verdicts accepted
  (LINEAGE_UNKNOWN), make it UNTRUSTED; so does not knowing whether one is. Policy says whether that is all, or a reason
  to refuse.

So a name raises the trust of no source but those that its verdict accepted: one beside them is what it is without the
name. What several verdicts accepted, in the same words, is any one's of them that is named.

A summary stands in a context under role user. It is no user's word for that: ``is_users_word`` is what may be quoted as
one, whatever provenance the platform gives it.

A source is what a verdict accepted if it is the summary or narrative to the letter, with its marker or delimiters or
without, white space around it aside, or the JSON of the candidate (``digests_of``). A text that was changed is another
text, and so are two in one source. It reads no verdict itself: the shell looks them up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256, parse_json
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import Provenance, Role, SourceMessage
from pratique.errors import MalformedError
from pratique.untrusted import CLOSING, OPENING

_MARK: Final = "[UNTRUSTED COMPACTED CONTEXT DATA]"
SUMMARY_MARKS: Final = (_MARK, OPENING)
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
        accepted_sha256s: Digests of what it accepted, the output and its texts; empty where it accepted nothing.
    """

    accepted: bool
    trust: Provenance
    accepted_sha256s: frozenset[str] = frozenset()


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
    return _Digests.of(message.content).every()


@dataclass(frozen=True, slots=True)
class _Digests:
    """What a message would be known by.

    Attributes:
        as_a_whole: Digests of all that it holds.
        of_texts: Digests of the texts in it, where it is a candidate's JSON.
    """

    as_a_whole: tuple[str, ...]
    of_texts: tuple[str, ...] = ()

    @classmethod
    def of(cls, content: str) -> _Digests:
        forms = _forms(content)
        as_a_whole = tuple(map(canonical_sha256, forms))
        bare = forms[-1]
        if not bare.startswith("{") or _SUMMARY_FIELD not in bare:
            return cls(as_a_whole)
        try:
            candidate = parse_json(bare)
            texts: list[JsonValue] = []
            if isinstance(candidate, Mapping) and not carries_summary(bare):  # else another summary is among its fields
                texts = [candidate.get(name) for name in _TEXT_FIELDS]
            return cls(
                (*as_a_whole, canonical_sha256(candidate)),
                tuple(canonical_sha256(item) for item in texts if isinstance(item, str)),
            )
        except MalformedError:  # no JSON, or a lone surrogate in it: no verdict accepted it
            return cls(as_a_whole)

    def every(self) -> tuple[str, ...]:
        return *self.as_a_whole, *self.of_texts

    def is_among(self, accepted_sha256s: AbstractSet[str]) -> bool:
        """Say whether verdicts accepted the whole message or, of a candidate's JSON, each of its texts."""
        return not accepted_sha256s.isdisjoint(self.as_a_whole) or (
            bool(self.of_texts) and all(digest in accepted_sha256s for digest in self.of_texts)
        )


def _forms(content: str) -> list[str]:
    """Return a text, and what is left of it without its mark, and without white space around each."""
    forms = [content, content.strip()]
    begun, bare = content.lstrip(), content.strip()
    if begun.startswith(_MARK):
        left = begun.removeprefix(_MARK).removeprefix("\n")
        forms += [left, left.strip()]
    elif bare.startswith(OPENING) and bare.endswith(CLOSING):
        left = bare.removeprefix(OPENING).removesuffix(CLOSING).removeprefix("\n").removesuffix("\n")
        forms += [left, left.strip()]
    return list(dict.fromkeys(forms))


def unaccepted(
    messages: Sequence[SourceMessage], lineage: Sequence[str], known: Mapping[str, Ancestor]
) -> dict[int, tuple[str, ...]]:
    """Return the digests of those sources that no named verdict accepted, by place: what is to be recognised.

    None where a named verdict is not followed: theirs is the fault then, and any source may be what it accepted.

    Args:
        messages: The sources.
        lineage: The verdicts that they are said to be compacted from.
        known: Those of them that were found, by id.
    """
    if any(_unfollowed_names(lineage, known)):
        return {}
    accepted = _accepted_by(lineage, known)
    digests = ((place, _Digests.of(message.content)) for place, message in enumerate(messages))
    return {place: one.every() for place, one in digests if not one.is_among(accepted)}


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
        recognised: Places of the sources that are what some verdict accepted; null where that could not be learnt of
            those that no named verdict accepted (``unaccepted``).
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
    named = list(islice(_unfollowed_names(lineage, known), MAX_REASONS))
    if named:  # any source may be what one of these accepted
        yield from named
        return
    if recognised is None:
        yield Reason.of(ReasonCode.LINEAGE_UNKNOWN, "source_messages", DETECTOR)
    accepted = _accepted_by(lineage, known)
    for place, message in enumerate(messages):
        is_summary = place in (recognised or ()) or carries_summary(message.content)
        if is_summary and not _Digests.of(message.content).is_among(accepted):
            yield Reason.of(ReasonCode.LINEAGE_UNKNOWN, f"source_messages[{place}]", DETECTOR)


def _unfollowed_names(lineage: Sequence[str], known: Mapping[str, Ancestor]) -> Iterator[Reason]:
    for place, verdict_id in enumerate(lineage):
        ancestor = known.get(verdict_id)
        if ancestor is None:
            yield Reason.of(ReasonCode.LINEAGE_UNKNOWN, f"lineage[{place}]", DETECTOR)
        elif not ancestor.accepted:
            yield Reason.of(ReasonCode.LINEAGE_QUARANTINED, f"lineage[{place}]", DETECTOR)


def _accepted_by(lineage: Sequence[str], known: Mapping[str, Ancestor]) -> frozenset[str]:
    return frozenset().union(*(known[verdict_id].accepted_sha256s for verdict_id in lineage))
