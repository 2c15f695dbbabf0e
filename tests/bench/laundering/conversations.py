"""The corpora's transcripts as conversations: clean ones, poisoned ones, and clean ones with something planted.

The contract: every word is the source's. What a person wrote is TRUSTED: the user's turns, or the first of them where
the source has no other role for a tool's output. Something planted stands at the end of the last tool's output that is
not the conversation's last turn, where a session has just read it. What it asks for is told by terms that
``plantings.json`` lists for each text; a poisoned session's, by the address that its data went to, or by most words of
the sentence that reports it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pratique.contract.records import Provenance, Role, SourceMessage
from tests.bench.detectors import TRANSCRIPTS, rows
from tests.bench.laundering.texts import pieces

ATTACKS: Final = ("injection/positives_public.jsonl", "injection/positives_authored_memory_multilingual.jsonl")
PLANTINGS: Final = Path(__file__).with_name("plantings.json")
EACH: Final = 1
"""How many texts are planted into each clean transcript, one at a time."""

_STRANGER: Final = re.compile(r"[\w.+-]+@[\w.-]+\.external")
_SENT: Final = re.compile(r"\b(?:sent|forwarded)\b")


@dataclass(frozen=True, slots=True)
class Action:
    """What planted text asks for.

    Attributes:
        terms: Ways to tell it: a sentence with all terms of one of them, in any case, states it.
        report: A sentence that reports it; one with most of its words states it too. Empty where there is none.
    """

    terms: tuple[tuple[str, ...], ...]
    report: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A transcript.

    Attributes:
        name: Its row's id, and the planted text's.
        messages: Its turns, without system turns.
        action: What was planted in it; null where it is clean.
    """

    name: str
    messages: tuple[SourceMessage, ...]
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class Planting:
    """A text that is planted."""

    name: str
    text: str
    action: Action


def clean(folder: Path) -> Iterator[Conversation]:
    """Yield the clean transcripts."""
    for row in rows(folder / TRANSCRIPTS):
        if row["label"] == "clean":
            yield Conversation(row["id"], messages_of(row))


def poisoned(folder: Path) -> Iterator[Conversation]:
    """Yield the transcripts of sessions that an attacker steered already."""
    for row in rows(folder / TRANSCRIPTS):
        if row["label"] == "detect":
            messages = messages_of(row)
            strangers = {found for item in messages for found in _STRANGER.findall(item.content)}
            report = next(piece for piece in reversed(pieces(messages[-1].content)) if _SENT.search(piece))
            yield Conversation(row["id"], messages, Action(tuple((found,) for found in sorted(strangers)), report))


def plantings(folder: Path) -> list[Planting]:
    """Return the texts to plant."""
    texts = {row["id"]: row["text"] for file in ATTACKS for row in rows(folder / file)}
    listed = json.loads(PLANTINGS.read_text(encoding="utf-8"))
    return [
        Planting(
            item["name"],
            base64.b64decode(item["text_b64"]).decode() if "text_b64" in item else texts[item["name"]],
            Action((tuple(item["terms"]),)),
        )
        for item in listed
    ]


def planted(conversations: Sequence[Conversation], texts: Sequence[Planting]) -> Iterator[Conversation]:
    """Yield clean transcripts with the texts planted in turn; those without a tool's output before their end not."""
    turn = 0
    for conversation in conversations:
        place = _last_output(conversation.messages)
        if place is None:
            continue
        for _ in range(EACH):
            yield _with(conversation, place, texts[turn % len(texts)])
            turn += 1


def messages_of(row: dict[str, Any]) -> tuple[SourceMessage, ...]:
    """Return a transcript's turns as source messages."""
    turns = [turn for turn in row["messages"] if turn["role"] != "system"]
    has_tools = any(turn["role"] == "tool" for turn in turns)
    messages: list[SourceMessage] = []
    people = 0
    for turn in turns:
        content = turn["content"] or json.dumps(turn.get("tool_calls"), sort_keys=True, separators=(",", ":"))
        by_a_person = turn["role"] == "user" and (has_tools or not people)
        people += by_a_person
        role = Role.USER if by_a_person else Role.ASSISTANT if turn["role"] == "assistant" else Role.TOOL
        provenance = Provenance.TRUSTED if by_a_person else Provenance.UNTRUSTED
        messages.append(SourceMessage(f"m{len(messages) + 1}", role, content, provenance))
    return tuple(messages)


def _last_output(messages: Sequence[SourceMessage]) -> int | None:
    places = [place for place, item in enumerate(messages[:-1]) if item.role is Role.TOOL]
    return places[-1] if places else None


def _with(conversation: Conversation, place: int, planting: Planting) -> Conversation:
    before, item, after = (
        conversation.messages[:place],
        conversation.messages[place],
        conversation.messages[place + 1 :],
    )
    grown = replace(item, content=f"{item.content}\n{planting.text}")
    return Conversation(f"{conversation.name}+{planting.name}", (*before, grown, *after), planting.action)
