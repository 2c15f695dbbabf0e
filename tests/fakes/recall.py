"""The outside of a recall scan, in memory: a primary detector that is no model, a ledger's view, fingerprint keys."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from streams.application.ports.quarantine import FingerprintKey, Fingerprints, Looked
from streams.domain.recall.fingerprint import fingerprint
from streams.errors import LedgerViewIncompleteError

KEY = FingerprintKey("generation-1", b"k" * 32)


@dataclass
class FakePromptSafety:
    """Scores texts as it is told to: by a whole text, by what a mark in it calls for, or 0.

    It is no detector: nothing that it says of a text means anything.
    """

    name: str = "fake-prompt-safety"
    revision: str = "fake-1"
    scores: Mapping[str, float] = field(default_factory=dict)
    on_score: Callable[[str], None] = lambda _: None
    asked: list[str] = field(default_factory=list)

    def score(self, text: str) -> float:
        self.asked.append(text)
        self.on_score(text)
        for mark, score in self.scores.items():
            if mark in text:
                return score
        return 0.0


_SCORE = re.compile(r"\[score ([-.0-9a-z]+)\]")


class ScriptedPromptSafety:
    """Does what a text's marks say: ``[score 0.97]``, ``[raise]``, ``[hang]``; scores any other 0. It is no detector.

    Args:
        revision: The revision that it claims to be.
        hanging: What a ``[hang]`` waits for; for ever where not given.
    """

    name = "scripted-prompt-safety"

    def __init__(self, revision: str = "fake-1", hanging: threading.Event | None = None) -> None:
        self.revision = revision
        self._hanging = hanging or threading.Event()

    def score(self, text: str) -> float:
        if "[hang]" in text:
            self._hanging.wait()
        if "[raise]" in text:
            raise RuntimeError("this detector does as it is told")
        mark = _SCORE.search(text)
        return float(mark.group(1)) if mark else 0.0


def of_demo_policy() -> ScriptedPromptSafety:
    """The scripted detector, claiming to be the one that the demo policy pins: a factory for a whole stack's scan."""
    policy = json.loads((Path(__file__).parents[2] / "infra" / "policy" / "demo" / "recall.json").read_text("utf-8"))
    return ScriptedPromptSafety(policy["detector_revision"])


class QuotingPromptSafety(ScriptedPromptSafety):
    """The same, but its errors quote what it was given, as those of careless libraries do."""

    def score(self, text: str) -> float:
        try:
            return super().score(text)
        except RuntimeError:
            raise ValueError(f"can't score {text!r}") from None


def quoting() -> QuotingPromptSafety:
    """The scripted detector whose errors quote, claiming to be the one that the demo policy pins."""
    return QuotingPromptSafety(of_demo_policy().revision)


@dataclass
class FakeView:
    """A ledger's view; ``quarantined`` holds fingerprints by tenant, and under the empty tenant those of everyone."""

    quarantined: dict[str, set[str]] = field(default_factory=dict)
    current: str = KEY.generation
    following: str = ""
    failing: bool = False
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def add(self, text: str, tenant_id: str = "") -> None:
        self.quarantined.setdefault(tenant_id, set()).add(fingerprint(text, KEY.secret))

    def generation(self) -> str:
        return self.current

    def look_up(self, tenant_id: str, fingerprints: Fingerprints) -> Looked:
        asked = [item for items in fingerprints.values() for item in items]
        self.asked.append((tenant_id, tuple(asked)))
        if self.failing:
            raise LedgerViewIncompleteError("the view is behind")
        own = self.quarantined.get(tenant_id, set()) & set(asked)
        known = own | (self.quarantined.get("", set()) & set(asked))
        return Looked(frozenset(known), "0:17", 250, self.current, self.following, frozenset(own))


@dataclass
class FakeKeys:
    """One generation of the key."""

    key: FingerprintKey = KEY

    def current(self) -> FingerprintKey:
        return self.key

    def held(self) -> tuple[FingerprintKey, ...]:
        return (self.key,)

    def all(self) -> tuple[FingerprintKey, ...]:
        return (self.key,)


@dataclass
class Stuck:
    """Holds up whoever scores a text with a mark, until it is let go."""

    mark: str
    released: threading.Event = field(default_factory=threading.Event)

    def __call__(self, text: str) -> None:
        if self.mark in text:
            self.released.wait()
