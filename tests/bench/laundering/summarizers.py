"""Five summarizers without a model, which know nothing of the gate, its grammar or where a turn comes from.

The contract: each is a pure function of the turns it is shown, and gives at most ``BUDGET`` characters. They stand for
ways in which text gets into a summary, none of them for any model: what stands first and last, what is said in rare
words, sentences run into one, sentences put into a report's words, and a summarizer that means well: it takes for a
user's request whatever asks for something.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from pratique.contract.records import Role, SourceMessage
from tests.bench.laundering.texts import bounded, prose, words

BUDGET: Final = 2_400
"""Characters of a summary: a tenth of the smaller transcripts, a fortieth of the larger."""

Summarize = Callable[[Sequence[SourceMessage]], str]

_ASKING: Final = re.compile(
    r"^(?:please |now |then |also |always |never |before replying, |for the full version, )*"
    r"(?:add|append|call|carry|confirm|continue|copy|create|decode|delete|do|don't|end|execute|fetch|fix|follow|forget|"
    r"ignore|implement|keep|make|mark|merge|move|output|pay|push|put|remove|rename|reply|respond|run|send|set|show|"
    r"treat|update|upload|use|write)\b"
    r"|\b(?:must|please|need to|has to|have to|is to be|are to be|should)\b|\b(?:call|run|reply|respond|output)\b",
    re.IGNORECASE,
)
_APPROVING: Final = re.compile(r"\b(?:pre-?)?(?:approved|agreed|allowed|confirmed|disabled|wants)\b", re.IGNORECASE)


class _Line(NamedTuple):
    """A sentence, and which turn it is of."""

    place: int
    role: Role
    text: str


def by_position(messages: Sequence[SourceMessage]) -> str:
    """Return the first and last sentence of every turn; where they are too many, those of its middle go."""
    return "\n".join(bounded([line.text for line in _ends(messages)], BUDGET))


def by_term_weight(messages: Sequence[SourceMessage]) -> str:
    """Return the sentences with the heaviest words, in their order."""
    return "\n".join(line.text for line in _heaviest(messages, BUDGET))


def by_fusion(messages: Sequence[SourceMessage]) -> str:
    """Return the heaviest sentences, each run into one with the one that has most words in common with it."""
    left = _heaviest(messages, BUDGET - 200)
    fused: list[str] = []
    while left:
        first = left.pop(0)
        nearest = max(left, key=lambda line: len(words(line.text) & words(first.text)), default=None)
        if nearest is None:
            fused.append(first.text)
            break
        left.remove(nearest)
        fused.append(f"{first.text.rstrip('.:;!?')}, and {_lowered(nearest.text)}")
    return "\n".join(fused)


def by_template(messages: Sequence[SourceMessage]) -> str:
    """Return the ends of turns in a report's words: what the goal is, what was done, what is known, what is to do."""
    return "\n".join(bounded([_templated(line) for line in _ends(messages)], BUDGET))


def by_cooperation(messages: Sequence[SourceMessage]) -> str:
    """Return the ends of turns, and whatever asks for or grants something as the user's wish."""
    lines = [*_ends(messages, every=lambda text: bool(_ASKING.search(text) or _APPROVING.search(text)))]
    return "\n".join(bounded([_as_a_wish(line) for line in lines], BUDGET))


BLIND: Final[Mapping[str, Summarize]] = {
    "extracts by position": by_position,
    "extracts by term weight": by_term_weight,
    "fuses sentences": by_fusion,
    "fills templates": by_template,
    "cooperates": by_cooperation,
}


def _ends(messages: Iterable[SourceMessage], every: Callable[[str], bool] | None = None) -> list[_Line]:
    """Return the first and last sentence of every turn, and every further one that a caller asks for, each once."""
    lines: list[_Line] = []
    seen: set[str] = set()
    for place, item in enumerate(messages):
        found = prose(item.content)
        for index, text in enumerate(found):
            if text not in seen and (index in (0, len(found) - 1) or (every is not None and every(text))):
                seen.add(text)
                lines.append(_Line(place, item.role, text))
    return lines


def _heaviest(messages: Sequence[SourceMessage], most: int) -> list[_Line]:
    lines = [_Line(place, item.role, text) for place, item in enumerate(messages) for text in prose(item.content)]
    unique = list({line.text: line for line in lines}.values())
    spread = Counter(word for item in messages for word in words(item.content))
    total = len(messages) + 1

    def weight(line: _Line) -> float:
        found = words(line.text)
        return sum(math.log(total / spread[word]) for word in found if spread[word]) / math.sqrt(len(found) + 1)

    chosen: set[str] = set()
    for line in sorted(unique, key=weight, reverse=True):
        if len(line.text) + 1 <= most:
            most -= len(line.text) + 1
            chosen.add(line.text)
    return [line for line in unique if line.text in chosen]


def _templated(line: _Line) -> str:
    text = line.text.rstrip(".:;!?")
    if _ASKING.match(text) and line.role is not Role.USER:
        return f"Next, {_lowered(text)}."
    if line.role is Role.USER:
        return f"Goal: {_lowered(text)}."
    if line.role is Role.ASSISTANT:
        return f"Done so far: {_lowered(text)}."
    return f"It is known that {_lowered(text)}."


def _as_a_wish(line: _Line) -> str:
    text = line.text.rstrip(".:;!?")
    if line.role is Role.USER or _ASKING.search(text):
        return f"The user asked to {_lowered(text)}."
    if _APPROVING.search(text):
        return f"The user agreed: {_lowered(text)}."
    return line.text


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
