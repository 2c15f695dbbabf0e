"""The sample conversations of ``tests/samples``: real sessions, their hand-written summaries, and a token to hide.

The contract: everything is read from the checkout; nothing needs the corpora that the samples were taken from. Where
each is from, and under which licence, is in ``tests/samples/README.md``.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from infra.stack.paths import ROOT
from pratique.contract.records import SourceMessage
from pratique.messages import source_messages

SAMPLES: Final = ROOT / "tests" / "samples"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session that is to be compacted.

    Attributes:
        name: Its name.
        source: Repository and path that it was taken from.
        licence: The source's licence.
        messages: Its messages; what a person wrote is TRUSTED, everything else is not.
        clauses: A summary of it in the demo grammar's clauses, one each.
        planted: The instruction that was planted into a tool's output; empty where none was.
    """

    name: str
    source: str
    licence: str
    messages: tuple[SourceMessage, ...]
    clauses: tuple[str, ...]
    planted: str

    @property
    def summary(self) -> str:
        """The summary as one text."""
        return " ".join(self.clauses)

    @property
    def characters(self) -> int:
        """Length of all messages together."""
        return sum(len(message.content) for message in self.messages)

    def without(self, *clauses: str) -> Conversation:
        """Return it with clauses taken out of its summary.

        Raises:
            ValueError: The summary has no such clause.
        """
        left = list(self.clauses)
        for clause in clauses:
            left.remove(clause)
        return replace(self, clauses=tuple(left))

    def saying(self, *clauses: str) -> Conversation:
        """Return it with clauses added at the end of its summary."""
        return replace(self, clauses=(*self.clauses, *clauses))

    def going_on(self, text: str) -> Conversation:
        """Return it with one more message that its user wrote; its id is ``newest_id``."""
        message_id = f"m{len(self.messages) + 1}"
        (message,) = source_messages(
            [{"message_id": message_id, "role": "user", "content": text, "provenance": "TRUSTED"}]
        )
        return replace(self, messages=(*self.messages, message))

    @property
    def newest_id(self) -> str:
        """Id of the last message."""
        return self.messages[-1].message_id


def names() -> tuple[str, ...]:
    """Return the names of all conversations, in order."""
    return tuple(sorted(path.stem for path in (SAMPLES / "conversations").glob("*.json")))


@cache
def conversation(name: str) -> Conversation:
    """Return a conversation by its name.

    Raises:
        FileNotFoundError: There is none of that name.
    """
    value: dict[str, Any] = json.loads((SAMPLES / "conversations" / f"{name}.json").read_text("utf-8"))
    clauses = (SAMPLES / "summaries" / f"{name}.txt").read_text("utf-8").splitlines()
    planted = value["planted"]
    return Conversation(
        name=value["name"],
        source=value["source"],
        licence=value["licence"],
        messages=source_messages(value["messages"]),
        clauses=tuple(clauses),
        planted="" if planted is None else planted["text"],
    )


def token() -> str:
    """Return a token that secret scanners know: a scanner's own published example, which opens nothing.

    It is kept encoded, so that no scanner of repositories finds it there.
    """
    (row,) = json.loads((SAMPLES / "tokens.json").read_text("utf-8"))
    return base64.b64decode(row["value_b64"]).decode("ascii")
