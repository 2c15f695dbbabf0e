"""What may be inserted into an agent's context: the only place where a verdict turns into messages.

The contract (AID-I-004.008 G001): the system turn is the trusted instruction, rendered from the pinned policy and
nothing else; an accepted summary is data under ``role=user`` with the seed's marker, and an accepted narrative is data
under ``role=user`` too, apart from it, between delimiters that it can't write (``pratique.untrusted``). A quarantine
keeps the bounded tail that the verdict names; no verdict keeps the tail that policy bounds. What is inserted is hashed
again here, at the moment of insertion, and a verdict is used once. Where the verdict names no tail, nothing is
inserted.

It does not check signatures: it is given a verdict that ``pratique.verification`` believed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final, Protocol

from pratique.contract.canonical import canonical_sha256, parse_json, text_sha256
from pratique.contract.narrative import NARRATIVE_ASSURANCE, narrative_of
from pratique.contract.records import SourceMessage, Verdict, VerdictOutcome
from pratique.errors import NoContextError, VerdictRefusedError
from pratique.pinned import Instruction
from pratique.untrusted import untrusted_summary
from pratique.verification import check_moment

MARKER: Final = "[UNTRUSTED COMPACTED CONTEXT DATA]\n"
"""The line that stands before a summary (AID-I-004.008 G001)."""

_SWEEP_EVERY_MS: Final = 60_000

ContextMessage = dict[str, str]
"""``role`` and ``content``, as chat models take them."""


class UsedVerdicts(Protocol):
    """Which verdicts a task has used. Safe for many threads; an agent that restarts wants one that lasts."""

    def claim(self, tenant_id: str, task_id: str, verdict_id: str, *, valid_until: int, now_ms: int) -> None:
        """Note a verdict as used.

        Args:
            tenant_id: The task's tenant.
            task_id: The task.
            verdict_id: The verdict.
            valid_until: From when on it would be refused anyway, in milliseconds since the epoch.
            now_ms: Now, in milliseconds since the epoch.

        Raises:
            VerdictRefusedError: The task has used it (check ``used``).
        """
        ...


class UsedInMemory:
    """``UsedVerdicts`` that last as long as the process; a verdict is forgotten once it could not be used anyway."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[tuple[str, str, str], int] = {}
        self._swept_at = 0

    def claim(self, tenant_id: str, task_id: str, verdict_id: str, *, valid_until: int, now_ms: int) -> None:
        """Note a verdict as used; see ``UsedVerdicts.claim``."""
        with self._lock:
            if now_ms - self._swept_at > _SWEEP_EVERY_MS:
                self._used = {key: until for key, until in self._used.items() if until > now_ms}
                self._swept_at = now_ms
            key = (tenant_id, task_id, verdict_id)
            if key in self._used:
                raise VerdictRefusedError("the task has used this verdict already", check="used")
            self._used[key] = valid_until


def accepted_context(instruction: Instruction, candidate_json: str, verdict: Verdict) -> list[ContextMessage]:
    """Return the context that an acceptance allows.

    Args:
        instruction: Rendered from the set that the verdict pins.
        candidate_json: The candidate whose summary is to be inserted; it is hashed here.
        verdict: A believed verdict.

    Raises:
        VerdictRefusedError: It is no acceptance, or of another candidate or policy rendering.
    """
    if verdict.outcome is not VerdictOutcome.ACCEPTED:
        raise VerdictRefusedError("verdict is no acceptance", check="acceptance")
    _check_rendering(instruction, verdict)
    if text_sha256(candidate_json) != verdict.subject_sha256:
        raise VerdictRefusedError("candidate is not the one that was judged", check="binding")
    candidate = parse_json(candidate_json)
    if canonical_sha256(candidate) != verdict.compacted_output_sha256:
        raise VerdictRefusedError("candidate's parsed form is not the one that was judged", check="binding")
    summary = candidate.get("summary_text") if isinstance(candidate, dict) else None
    if not isinstance(summary, str) or not summary:
        raise VerdictRefusedError("candidate has no summary", check="binding")
    context = [_system(instruction), {"role": "user", "content": MARKER + summary}]
    narrative = narrative_of(candidate)
    if (narrative is not None) != (verdict.assurance == NARRATIVE_ASSURANCE):
        raise VerdictRefusedError("verdict is of another assurance than the candidate's", check="acceptance")
    return context if narrative is None else [*context, {"role": "user", "content": untrusted_summary(narrative)}]


def quarantined_context(
    instruction: Instruction, messages: Sequence[SourceMessage], verdict: Verdict
) -> list[ContextMessage]:
    """Return the bounded tail that a quarantine keeps.

    Args:
        instruction: Rendered from the set that the verdict pins.
        messages: The messages that were to be replaced.
        verdict: A believed verdict.

    Raises:
        NoContextError: The verdict names no tail: nothing is inserted.
        VerdictRefusedError: What it names is not the messages' tail, or it is of another policy rendering.
    """
    if verdict.fallback is None:
        raise NoContextError("the gate quarantined the request before it had a context: nothing is inserted")
    _check_rendering(instruction, verdict)
    keep = verdict.fallback.keep_message_ids
    tail = messages[len(messages) - len(keep) :] if 0 < len(keep) <= len(messages) else ()
    if not keep or tuple(item.message_id for item in tail) != keep:
        raise VerdictRefusedError("the fallback is not the messages' tail", check="fallback")
    return [_system(instruction), *map(_message, tail)]


def unanswered_context(
    instruction: Instruction, messages: Sequence[SourceMessage], fallback_message_count: int
) -> list[ContextMessage]:
    """Return the tail that policy bounds, for a request that got no verdict in time.

    Raises:
        NoContextError: There are no messages, or policy's bound is not positive.
    """
    if fallback_message_count < 1 or not messages:
        raise NoContextError("there is nothing to fall back to")
    return [_system(instruction), *map(_message, messages[-fallback_message_count:])]


def insert(
    verdict: Verdict, context: list[ContextMessage], used: UsedVerdicts, *, requested_at: int, now_ms: int
) -> list[ContextMessage]:
    """Return a verdict's context for insertion now, once.

    Raises:
        VerdictRefusedError: The verdict may no longer be acted on, or the task has used it.
    """
    check_moment(verdict, requested_at, now_ms)
    used.claim(verdict.tenant_id, verdict.task_id, verdict.verdict_id, valid_until=verdict.valid_until, now_ms=now_ms)
    return context


def _check_rendering(instruction: Instruction, verdict: Verdict) -> None:
    if instruction.rendered_policy_sha256 != verdict.rendered_policy_sha256:
        raise VerdictRefusedError("the policy rendered here is not the one that was judged under", check="rendering")


def _system(instruction: Instruction) -> ContextMessage:
    return {"role": "system", "content": instruction.text}


def _message(message: SourceMessage) -> ContextMessage:
    return {"role": message.role.value, "content": message.content}
