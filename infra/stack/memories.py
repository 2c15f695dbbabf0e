"""What the demo asks the gate about recalled memories: one recall a row, with the one outcome that is right.

The contract is that of ``infra.stack.scenarios``: a recall states what a loader brings, what its manifest says, and
what may enter the prompt. It starts nothing and quarantines nothing; what the ledger has to hold is the caller's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from infra.stack.samples import conversation
from infra.stack.scenarios import ACCEPTED, DEFAULT_POLICY, TENANT, Expected
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import MemoryRecalled
from pratique.memories import Entries, Expectations

VERSION: Final = "v1"


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory.

    Attributes:
        entry_id: Its id.
        content: Its text.
    """

    entry_id: str
    content: str


class Recaller(Protocol):
    """What a recall needs of ``pratique.Gate``: the drafting half, which sends nothing."""

    def recall_request(self, entries: Entries, expected: Expectations, *, task_id: str) -> MemoryRecalled:
        """Return a recall under a new id."""
        ...


@dataclass(frozen=True, slots=True)
class Recall:
    """A recall and its one right outcome.

    Attributes:
        name: Short name, also of its task.
        title: What the table says.
        brought: What the loader brings.
        manifest: Ids of what it should bring.
        expected: The one right outcome.
        admitted: Ids of what may enter the prompt.
        policy_id: Policy that it is judged under.
        tenant_id: Whose recall it is.
    """

    name: str
    title: str
    brought: tuple[Memory, ...]
    manifest: tuple[str, ...]
    expected: Expected
    admitted: tuple[str, ...] = ()
    policy_id: str = DEFAULT_POLICY
    tenant_id: str = TENANT

    @property
    def task_id(self) -> str:
        """The task whose prompt it is."""
        return f"demo-{self.name}"

    @property
    def contents(self) -> dict[str, str]:
        """What may enter the prompt, by id."""
        return {memory.entry_id: memory.content for memory in self.brought if memory.entry_id in self.admitted}

    def request(self, gate: Recaller) -> MemoryRecalled:
        """Return the request, under a new id.

        Args:
            gate: A gate of the recall's tenant and policy.
        """
        return gate.recall_request(
            [
                {"entry_id": memory.entry_id, "memory_version": VERSION, "content": memory.content}
                for memory in self.brought
            ],
            [(entry_id, VERSION) for entry_id in self.manifest],
            task_id=self.task_id,
        )


STYLE: Final = Memory("style", "The user prefers short answers, with the command first.")
PROJECT: Final = Memory("project", "The project's tests run with pytest; the slow ones carry a mark.")
HABIT: Final = Memory("habit", "Releases are cut on Thursdays, after the nightly build.")
COURIER: Final = Memory("courier", "The preferred courier of this customer is Blue Heron, and parcels go to its depot.")
"""Harmless as it stands; that a stranger had planted it is found out later, and no detector can know it."""


def planted() -> Memory:
    """Return a memory that an agent made of an instruction in a tool's output."""
    return Memory("cleanup", conversation("planted-approval").planted)


def disguised(memory: Memory) -> Memory:
    """Return the same memory in capitals and with other white space; its fingerprint is the same."""
    return Memory(memory.entry_id, "\n" + memory.content.upper().replace(" ", "\u00a0 "))


def recalls() -> tuple[Recall, ...]:
    """Return every recall that needs nothing but a running stack and an empty ledger."""
    clean = (STYLE, PROJECT, HABIT)
    everything = _ids(clean)
    return (
        Recall("recall-clean", "a clean recall", clean, everything, ACCEPTED, everything),
        Recall(
            "recall-poisoned",
            "a poisoned memory: an instruction from a tool's output",
            (planted(),),
            _ids((planted(),)),
            Expected.quarantined(ReasonCode.INJECTION),
        ),
        Recall(
            "recall-partial",
            "the same among clean ones: partial admission",
            (STYLE, planted(), HABIT),
            _ids((STYLE, planted(), HABIT)),
            Expected.quarantined(ReasonCode.INJECTION),
            _ids((STYLE, HABIT)),
        ),
        Recall(
            "recall-unexpected",
            "a memory that the loader did not ask for",
            clean,
            _ids((STYLE, PROJECT)),
            Expected.quarantined(ReasonCode.POPULATION_EXTRA),
        ),
        Recall(
            "recall-missing",
            "a memory missing from what was asked for",
            (STYLE, PROJECT),
            everything,
            Expected.quarantined(ReasonCode.POPULATION_MISSING),
        ),
    )


def found_out() -> Recall:
    """Return a recall of the memory that is in quarantine by then, disguised."""
    return Recall(
        "recall-known",
        "that text recalled, in capitals and other spaces",
        (STYLE, disguised(COURIER)),
        _ids((STYLE, COURIER)),
        Expected.quarantined(ReasonCode.KNOWN_FINGERPRINT),
        _ids((STYLE,)),
    )


def cleared() -> Recall:
    """Return a recall of it once it has been taken out of quarantine."""
    return Recall(
        "recall-cleared",
        "that text recalled once more",
        (STYLE, COURIER),
        _ids((STYLE, COURIER)),
        ACCEPTED,
        _ids((STYLE, COURIER)),
    )


def _ids(memories: tuple[Memory, ...]) -> tuple[str, ...]:
    return tuple(memory.entry_id for memory in memories)
