"""The demo's automatic quarantine: what a verdict puts into the review queue, and a curator's word on it.

The contract: nobody but the gate proposes anything here, under policies that have a rule for it. A curator's commands
are `pratique quarantine`, run as a person would run it, and the queue is read by its list. What a row tells as "in the
ledger after" is the time between the verdict and the entry that took effect: until then detectors alone stand between
the text and a prompt.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from infra.stack.demo_report import Planned, Row
from infra.stack.memories import Memory, Recall, disguised, planted
from infra.stack.scenarios import APPLIED, TENANT, Ending, Expected
from pratique.contract.reasons import ReasonCode
from streams.domain.quarantine.review import ReviewState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from infra.stack.asking import Platform
    from pratique.contract.canonical import JsonValue
    from pratique.contract.records import Verdict

ANSWER_S: Final = 30.0
"""Longest wait for what becomes of a proposal, in seconds."""

REVIEWED_POLICY: Final = "demo-reviewed"
AT_ONCE_POLICY: Final = "demo-at-once"

RULE: Final[Mapping[str, JsonValue]] = {
    "codes": [ReasonCode.INJECTION.value],
    "minimum_characters": 40,
    "hourly_quota": 20,
    "expires_after_ms": 30 * 24 * 60 * 60 * 1000,
}
RULES: Final[Mapping[str, Mapping[str, JsonValue]]] = {
    REVIEWED_POLICY: {**RULE, "effect": "REVIEW"},
    AT_ONCE_POLICY: {**RULE, "effect": "QUARANTINE"},
}
"""The rule for recalls of each policy here, which is the default one but for it."""

_INJECTION: Final = Expected.quarantined(ReasonCode.INJECTION)


def _noted(entry_id: str, origin: str, **changes: Any) -> Recall:  # noqa: ANN401 - fields of a recall
    """Return a recall of a poisoned memory that is no other row's."""
    memory = Memory(entry_id, f"{origin}: {planted().content}")
    return Recall(brought=(memory,), manifest=(entry_id,), **changes)


PROPOSED: Final = _noted(
    "release-notes",
    "From the release notes",
    name="automatic-found",
    title="a poisoned memory, under a policy that proposes what it finds",
    expected=_INJECTION,
    policy_id=REVIEWED_POLICY,
)
WAITING: Final = Planned(
    "automatic-review",
    "its text in `pratique quarantine list`: by itself, for review",
    Expected(Ending.REVIEW, (ReasonCode.INJECTION.value,)),
)
CONFIRMED: Final = Planned("automatic-confirm", "confirmed by a curator, `pratique quarantine confirm`", APPLIED)
KNOWN: Final = Recall(
    "automatic-known",
    "that text under the default policy, in capitals and other spaces",
    tuple(map(disguised, PROPOSED.brought)),
    PROPOSED.manifest,
    Expected.quarantined(ReasonCode.INJECTION, ReasonCode.KNOWN_FINGERPRINT),
)
AT_ONCE: Final = _noted(
    "build-log",
    "Remembered from a build log",
    name="automatic-at-once",
    title="another one, under a policy by which it counts at once",
    expected=_INJECTION,
    policy_id=AT_ONCE_POLICY,
)
RELEASED: Final = Planned(
    "automatic-release",
    "released by a curator, and asked about again by `pratique quarantine release`",
    Expected(Ending.APPLIED, (ReasonCode.INJECTION.value,)),
)


def planned() -> tuple[Planned, ...]:
    """Return the rows that ``Reviewer.rows`` comes to, in order."""
    return (Planned.of(PROPOSED), WAITING, CONFIRMED, Planned.of(KNOWN), Planned.of(AT_ONCE), RELEASED)


class Console(Protocol):
    """Runs a `pratique` command that has to end with a status, and returns what it printed."""

    def __call__(self, *arguments: str, status: int = 0) -> str:
        """Run it."""
        ...


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A curator of the demo's tenant who reads the review queue.

    Attributes:
        platform: Asks about recalls.
        console: Runs commands.
    """

    platform: Platform
    console: Console

    def rows(self) -> Iterator[Row]:
        """Go through both texts' story, up to where one is not there; each row is done when it is returned."""
        found = self.platform.recall(PROPOSED)
        yield found.row
        waiting, took = _timed(lambda: self._queued(found.verdict, ReviewState.PENDING))
        if waiting is None:
            yield _row(WAITING, Ending.UNANSWERED, took)
            return
        yield _row(WAITING, Ending.REVIEW, took, waiting["codes"], "nothing yet: it waits for a curator")
        _, took = _timed(lambda: self._spoken("confirm", waiting, "planted, as the notes show"))
        known = self._queued(found.verdict, ReviewState.CONFIRMED)
        yield _row(CONFIRMED, Ending.APPLIED if known else Ending.UNANSWERED, took, inserted=_window(known))
        yield self.platform.recall(KNOWN).row

        found = self.platform.recall(AT_ONCE)
        counts = self._queued(found.verdict, ReviewState.EFFECTIVE)
        fault = found.row.fault or ("" if counts else "its text is not in the ledger")
        yield replace(found.row, inserted=f"{found.row.inserted}; {_window(counts)}", fault=fault)
        if counts is None:
            return
        said, took = _timed(lambda: self._spoken("release", counts, "the log was our own", status=1))
        again = said["rescan"]
        fault = "" if said["state"] == ReviewState.RELEASED.value and not again["admitted"] else "it is admitted again"
        inserted = "nothing: what is found in it now withholds it"
        yield _row(RELEASED, Ending.APPLIED, took, again["codes"], inserted, fault)

    def _queued(self, verdict: Verdict | None, state: ReviewState) -> dict[str, Any] | None:
        """Return the queue's entry of a verdict once it is in a state; null where that did not come in time."""
        if verdict is None:
            return None
        until = time.monotonic() + ANSWER_S
        while time.monotonic() < until:
            said = json.loads(self.console("quarantine", "list", "--all", "--tenant", TENANT, "--json"))
            for entry in said["entries"]:
                if (entry["verdict_id"], entry["state"]) == (verdict.verdict_id, state.value):
                    return dict(entry)
        return None

    def _spoken(self, word: str, entry: Mapping[str, Any], reason: str, *, status: int = 0) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(
            self.console(
                *("quarantine", word, entry["fingerprint"], "--tenant", TENANT, "--reason", reason, "--json"),
                status=status,
            )
        )
        return said


def _timed(done: Callable[[], Any]) -> tuple[Any, int]:
    started = time.monotonic()
    result = done()
    return result, round((time.monotonic() - started) * 1000)


def _window(entry: Mapping[str, Any] | None) -> str:
    """Return how long after its verdict an entry took effect, in words."""
    return "" if entry is None else f"in the ledger {entry['window_ms'] / 1000:.2f} s after its verdict"


def _row(
    planned: Planned,
    ending: Ending,
    took: int,
    codes: tuple[str, ...] | list[str] = (),
    inserted: str = "",
    fault: str = "",
) -> Row:
    return Row(planned.name, planned.title, planned.expected, ending, tuple(codes), "", took, inserted, fault)
