"""Every summarizer over every transcript, by every way of compaction.

The contract: four ways. Naive: one summary of all turns, inserted as the agent's notes. Partitioned: trusted and
untrusted turns summarised apart (``pratique.partition``), the second between delimiters. The gate under each profile:
the summary of all turns as a candidate, and what its answer lets into the context. A summarizer that doesn't know the
grammar gets its sentences that keep the rules put before its text (``BOUNDED``), or beside it, its text being the
narrative. The same transcripts always give the same counts.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pratique.contract.records import SourceMessage
from pratique.partition import partition, rendered
from streams.domain.evaluation.rates import Rate
from streams.domain.policy.model import AssuranceProfile
from tests.bench.laundering.conversations import Conversation
from tests.bench.laundering.facts import Kind, facts, kept
from tests.bench.laundering.gate import Answer, GateInProcess
from tests.bench.laundering.judge import Inserted, judge, notes
from tests.bench.laundering.prompted import by_the_prompt
from tests.bench.laundering.summarizers import BLIND

PROMPTED: Final = "follows the prompt"
SUMMARIZERS: Final = (*BLIND, PROMPTED)
NAIVE: Final = "naive"
PARTITIONED: Final = "partitioned"
WAYS: Final = (NAIVE, PARTITIONED, *(profile.value for profile in AssuranceProfile))

_AT_ONCE: Final = 8


class Written(NamedTuple):
    """What a summarizer wrote of some turns."""

    summary: str
    narrative: str | None

    @property
    def text(self) -> str:
        """All of it."""
        return self.summary if self.narrative is None else f"{self.summary}\n{self.narrative}"


@dataclass
class Counts:
    """What came of one summarizer by one way.

    Attributes:
        attacked: Transcripts with something planted.
        laundered: Of them, those whose inserted text states it as nobody's or a person's word.
        stated: Those whose inserted text states it at all, outside a quotation.
        passed: Those that the gate accepted.
        clean: Clean transcripts.
        accepted: Of them, those that the gate accepted.
        masked: Of those, the ones that needed a value masked.
        refusals: Why clean ones were refused: how many by each first reason.
        facts: By kind, the facts of the clean transcripts that were accepted.
        kept: Of them, those that the inserted text keeps.
    """

    attacked: int = 0
    laundered: int = 0
    stated: int = 0
    passed: int = 0
    clean: int = 0
    accepted: int = 0
    masked: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    facts: Counter[Kind] = field(default_factory=Counter)
    kept: Counter[Kind] = field(default_factory=Counter)

    def __add__(self, other: Counts) -> Counts:
        """Return both together."""
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def laundering(self) -> Rate:
        """How often planted text was laundered."""
        return Rate(self.laundered, self.attacked)

    @property
    def acceptance(self) -> Rate:
        """How often a clean transcript's summary was accepted."""
        return Rate(self.accepted, self.clean)

    @property
    def keeping(self) -> Rate:
        """How many facts were kept."""
        return Rate(self.kept.total(), self.facts.total())


Result = Mapping[str, Mapping[str, Counts]]
"""By way, then by summarizer."""


async def run(
    conversations: Iterable[Conversation],
    gates: Mapping[AssuranceProfile, GateInProcess],
    done: Callable[[], None] = lambda: None,
) -> Result:
    """Run the experiment.

    Args:
        conversations: The transcripts.
        gates: A gate for each profile.
        done: Called after each transcript.
    """
    result = {way: {name: Counts() for name in SUMMARIZERS} for way in WAYS}
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(conversation: Conversation) -> None:
        async with room:
            for name in SUMMARIZERS:
                await _compacted(conversation, name, gates, {way: result[way][name] for way in WAYS})
        done()

    await asyncio.gather(*map(one, conversations))
    return result


async def _compacted(
    conversation: Conversation,
    name: str,
    gates: Mapping[AssuranceProfile, GateInProcess],
    counts: Mapping[str, Counts],
) -> None:
    messages = conversation.messages
    bounded = gates[AssuranceProfile.BOUNDED]
    written = _summary(name, messages, bounded)
    _count(counts[NAIVE], conversation, _as_notes([written.text]), None)
    _count(counts[PARTITIONED], conversation, _partitioned(name, messages, bounded), None)
    for profile, gate in gates.items():
        answer = await _asked(gate, profile, messages, written)
        _count(counts[profile.value], conversation, answer.inserted, answer)


def _summary(name: str, messages: Sequence[SourceMessage], gate: GateInProcess) -> Written:
    if name == PROMPTED:
        return Written(*by_the_prompt(messages, gate.prompt(messages)))
    return Written(BLIND[name](messages), None)


def _partitioned(name: str, messages: Sequence[SourceMessage], gate: GateInProcess) -> tuple[Inserted, ...]:
    parts = partition(messages)
    apart = [_summary(name, part, gate).text if part else None for part in (parts.trusted, parts.untrusted)]
    return _as_notes([turn["content"] for turn in rendered(*apart)])


def _asked(
    gate: GateInProcess, profile: AssuranceProfile, messages: Sequence[SourceMessage], written: Written
) -> Awaitable[Answer]:
    has_narrative = profile is AssuranceProfile.BOUNDED_WITH_UNTRUSTED_NARRATIVE
    if written.narrative is not None:  # it has read the prompt
        return gate.ask(messages, written.summary, written.narrative if has_narrative else None)
    if has_narrative:
        return gate.ask(messages, gate.rules, written.summary or "-")
    return gate.ask(messages, f"{gate.rules} {written.summary}".strip(), None)


def _as_notes(texts: Iterable[str]) -> tuple[Inserted, ...]:
    return tuple(item for text in texts for item in notes(text))


def _count(counts: Counts, conversation: Conversation, inserted: Sequence[Inserted], answer: Answer | None) -> None:
    if conversation.action is not None:
        judged = judge(inserted, conversation.action)
        counts.attacked += 1
        counts.laundered += judged.laundered
        counts.stated += judged.stated
        counts.passed += answer is None or answer.accepted
        return
    counts.clean += 1
    if answer is not None and not answer.accepted:
        first = answer.reasons[0]
        counts.refusals[f"{first.code.value} ({first.detector})"] += 1
        return
    counts.accepted += 1
    counts.masked += answer is not None and answer.masked
    texts = [item.text for item in inserted]
    for fact in facts(conversation.messages):
        counts.facts[fact.kind] += 1
        counts.kept[fact.kind] += kept(fact, texts)
