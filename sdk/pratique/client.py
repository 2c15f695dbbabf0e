"""The client: ask the gate whether a summary may replace messages, and build the context from its answer.

The contract: a request is signed over its exact bytes and published once; the verdict topics are read from before it
was sent, so an answer can't be missed; only a verdict that ``pratique.verification`` believes is one. A quarantine is
an answer and never an exception, and so is none in time: both have a bounded fallback context where policy allows one.

One ``Gate`` serves many threads and tasks at once with one producer and one reader. Make it after a fork.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from pratique.asking import GRACE_S, Pending, PendingRecall, Prepared, now_in_ms, outcome
from pratique.candidate import draft_candidate, record_ids
from pratique.commitments import open_commitments
from pratique.context import (
    ContextMessage,
    UsedInMemory,
    UsedVerdicts,
    accepted_context,
    insert,
    quarantined_context,
    unanswered_context,
)
from pratique.contract.avro import encode
from pratique.contract.digests import request_sha256
from pratique.contract.records import (
    CompactionRequested,
    StatedReason,
    Verdict,
    VerdictOutcome,
)
from pratique.contract.signing import Signer
from pratique.contract.topics import COMPACTION_REQUESTED
from pratique.contract.trust import KeyRole
from pratique.errors import ConfigurationError, NoContextError, PratiqueError
from pratique.messages import Messages, source_messages
from pratique.pinned import Document, PinnedPolicy, PolicySource
from pratique.recalling import NO_ANSWER, RecallGate
from pratique.redacting import redacted
from pratique.stack import STACK_FILE, Stack, TrustedSigner
from pratique.transport import Transport
from pratique.verification import Expectation, check_answers

__all__ = ["GRACE_S", "Compaction", "Gate", "Pending", "PendingRecall", "now_in_ms", "outcome"]


@dataclass(frozen=True, slots=True)
class Compaction:
    """The answer to one compaction request.

    Attributes:
        request: The request as sent.
        request_sha256: Digest of its bytes; the verdict is bound to it.
        verdict: The verdict; null where none came in time.
        redacted: Whether this is the answer about a masked summary (``redact``), not about the one that was given.
    """

    request: CompactionRequested
    request_sha256: str
    verdict: Verdict | None
    _context: list[ContextMessage] | PratiqueError
    redacted: bool = False

    @property
    def accepted(self) -> bool:
        """Whether the context holds the summary; else it holds the fallback tail."""
        return self.verdict is not None and self.verdict.outcome is VerdictOutcome.ACCEPTED

    @property
    def reasons(self) -> tuple[StatedReason, ...]:
        """Why not; the first is the primary one. Empty for an acceptance, and where no verdict came."""
        return () if self.verdict is None else self.verdict.reasons

    @property
    def context(self) -> list[ContextMessage]:
        """The messages to insert, system turn first.

        Raises:
            NoContextError: Nothing may be inserted: keep the history as it is.
            PratiqueError: The context could not be built; what is raised says why.
        """
        if isinstance(self._context, PratiqueError):
            raise self._context
        return [dict(message) for message in self._context]


class Gate(RecallGate):
    """Asks for verdicts on behalf of one tenant.

    Args:
        transport: Kafka (``pratique.kafka.KafkaTransport``).
        policies: Verified policy (``pratique.repository.RepositoryPolicies``).
        signer: The tenant's publisher key, which signs compactions.
        tenant_id: The tenant.
        policy_id: The policy that requests are judged under, unless a request names another.
        used: Remembers which verdicts a task has used; give one that lasts where agents restart.
        clock: The time in milliseconds since the epoch.
        loader: The tenant's loader key, which signs recalls; null where this agent recalls nothing.
    """

    def __init__(
        self,
        *,
        transport: Transport,
        policies: PolicySource,
        signer: Signer,
        tenant_id: str,
        policy_id: str,
        used: UsedVerdicts | None = None,
        clock: Callable[[], int] = now_in_ms,
        loader: Signer | None = None,
    ) -> None:
        super().__init__(
            transport=transport,
            policies=policies,
            loader=loader,
            tenant_id=tenant_id,
            policy_id=policy_id,
            used=used or UsedInMemory(),
            clock=clock,
        )
        self._signer = signer

    @classmethod
    def from_stack(
        cls,
        stack_file: str | Path = STACK_FILE,
        *,
        tenant_id: str,
        policy_id: str = "default",
        key: str | Path | None = None,
        used: UsedVerdicts | None = None,
        loader_key: str | Path | None = None,
    ) -> Self:
        """Return a gate for the stack that a ``stack.json`` and the environment describe (``pratique.stack``).

        Args:
            stack_file: What ``make up`` left; it need not exist where the environment says everything.
            tenant_id: The tenant.
            policy_id: The policy that requests are judged under.
            key: The tenant's publisher key: a PEM file, or a directory of them; the stack's key directory otherwise.
            used: As for ``Gate``.
            loader_key: The tenant's loader key, likewise; a gate without one asks about no recalls.

        Raises:
            ConfigurationError: A setting or key is missing or wrong; the message says which.
        """
        stack = Stack.read(stack_file)
        policies = stack.policies(now_in_ms)
        return cls(
            transport=stack.transport(),
            policies=policies,
            signer=TrustedSigner(stack.publisher_keys(tenant_id, key), policies, tenant_id, now_in_ms),
            tenant_id=tenant_id,
            policy_id=policy_id,
            used=used,
            loader=_loader(stack, policies, tenant_id, loader_key),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- asking ------------------------------------------------------------------------------------------------------

    def compact(
        self,
        messages: Messages,
        candidate_json: str,
        *,
        task_id: str,
        commitments: bytes | None = None,
        lineage: Sequence[str] = (),
        wait_s: float | None = None,
        redact: bool = False,
    ) -> Compaction:
        """Ask whether a summary may replace messages, and wait for the answer.

        Args:
            messages: The messages that were summarised, in order: ``SourceMessage`` or mappings with ``message_id``,
                ``role`` and ``content`` (and ``provenance``). System turns are none of them: they come from policy.
            candidate_json: The summarizer's exact output (``draft`` makes one from a bare text).
            task_id: The task whose context it is.
            commitments: The task's signed commitments (a DSSE envelope), where policy has no standing ones.
            lineage: Ids of the verdicts that these messages were compacted from.
            wait_s: Longest wait in seconds, for each answer; the policy's deadline and a grace where not given.
            redact: Whether to mask what a verdict names, and to ask once more under a new request id, where nothing
                but secrets and personal data in the summary keeps it out.

        Returns:
            The answer and the context to insert.

        Raises:
            MalformedError: A message is not of the published language; the gate would refuse it.
            TooLargeError: The request is over 4 MiB.
            UnavailableError: Kafka or the policy repository is away (``fallback`` gives the bounded tail).
            RefusedError: The policy repository's metadata has expired or does not verify.
        """
        policy = self._policies.pinned(self.tenant_id, self.policy_id)
        request = self.request(
            messages, candidate_json, task_id=task_id, commitments=commitments, lineage=lineage, policy=policy
        )
        timeout = policy.deadline_ms / 1000 + GRACE_S if wait_s is None else wait_s
        verdict = self.ask(request, wait_s=timeout)
        masked = self._masked(request, verdict) if redact else None
        was_redacted = False
        if verdict is not None and masked is not None:
            with suppress(*NO_ANSWER):
                again = self.ask(masked, wait_s=self._while_valid_s(verdict, timeout))
                if again is not None:
                    request, verdict, was_redacted = masked, again, True
        return self._answer(request, verdict, policy, was_redacted=was_redacted)

    async def acompact(
        self,
        messages: Messages,
        candidate_json: str,
        *,
        task_id: str,
        commitments: bytes | None = None,
        lineage: Sequence[str] = (),
        wait_s: float | None = None,
        redact: bool = False,
    ) -> Compaction:
        """Do as ``compact`` does without holding up the event loop, or a thread while it waits."""
        policy = await asyncio.to_thread(self._policies.pinned, self.tenant_id, self.policy_id)
        request = await asyncio.to_thread(
            self.request,
            messages,
            candidate_json,
            task_id=task_id,
            commitments=commitments,
            lineage=lineage,
            policy=policy,
        )
        timeout = policy.deadline_ms / 1000 + GRACE_S if wait_s is None else wait_s
        verdict = await self._ask_async(request, timeout)
        masked = await asyncio.to_thread(self._masked, request, verdict) if redact else None
        was_redacted = False
        if verdict is not None and masked is not None:
            with suppress(*NO_ANSWER):
                again = await self._ask_async(masked, self._while_valid_s(verdict, timeout))
                if again is not None:
                    request, verdict, was_redacted = masked, again, True
        return await asyncio.to_thread(self._answer, request, verdict, policy, was_redacted=was_redacted)

    def ask(self, request: CompactionRequested, *, wait_s: float) -> Verdict | None:
        """Send a request as it stands and return its verdict; null where none came in time.

        This is the part below ``compact``: it judges nothing about the request, so it can carry what the gate will
        refuse. It inserts nothing; a verdict alone allows nothing.

        Raises:
            TooLargeError: The request is over 4 MiB.
            MalformedError: The request is not of the published language.
            UnavailableError: Kafka is away, or no trust target was ever loaded.
        """
        return self._wait(self.publish(request), wait_s)

    def publish(self, request: CompactionRequested, *, signer: Signer | None = None) -> Pending:
        """Sign and send a request, with someone waiting for its verdict; call ``forget`` when the wait is over.

        Args:
            request: The request, of any tenant.
            signer: The key to sign with; the gate's own where not given.

        Raises:
            TooLargeError: The request is over 4 MiB.
            MalformedError: The request is not of the published language.
            UnavailableError: Kafka is away, or no trust target was ever loaded.
        """
        prepared = self._prepared(request)
        sent = self._send(prepared, signer or self._signer)
        return Pending(prepared.expectation, sent, prepared.waiter, request)

    def context(self, request: CompactionRequested, verdict: Verdict | None) -> list[ContextMessage]:
        """Return what may be inserted now: what ``compact`` does with the answer that ``ask`` gave.

        Raises:
            NoContextError: Nothing may be inserted.
            VerdictRefusedError: The verdict is not this request's, of another rendering, no longer valid, or used.
            UnavailableError: The pinned policy can't be obtained.
            RefusedError: The commitments are not the task's.
        """
        if verdict is not None:
            check_answers(verdict, Expectation.of(request, encode(request)))
        return self._context(request, verdict, self._policies.pinned(request.tenant_id, request.policy_id))

    # -- building ----------------------------------------------------------------------------------------------------

    def request(
        self,
        messages: Messages,
        candidate_json: str,
        *,
        task_id: str,
        commitments: bytes | None = None,
        lineage: Sequence[str] = (),
        policy: PinnedPolicy | None = None,
    ) -> CompactionRequested:
        """Build a request under a new id; the expected constraint ids are those of policy and commitments.

        Raises:
            MalformedError: A message is not of the published language.
            UnavailableError: The policy can't be obtained.
            RefusedError: The commitments are not the task's, or not signed by a commitment signer.
        """
        policy = policy or self._policies.pinned(self.tenant_id, self.policy_id)
        snapshot = self._snapshot(task_id, commitments, policy)
        return CompactionRequested(
            tenant_id=self.tenant_id,
            task_id=task_id,
            compaction_request_id=str(uuid.uuid4()),
            requested_at=self._clock(),
            policy_id=self.policy_id,
            source_messages=source_messages(messages),
            candidate_json=candidate_json,
            expected_invariant_ids=record_ids(policy.manifest, "invariant_id"),
            expected_commitment_ids=() if snapshot is None else record_ids(snapshot, "commitment_id"),
            commitments=commitments,
            lineage=tuple(lineage),
        )

    def draft(
        self,
        messages: Messages,
        summary_text: str,
        *,
        task_id: str,
        commitments: bytes | None = None,
        narrative_text: str | None = None,
    ) -> str:
        """Return a candidate around a summary, for summarizers that only write text (``pratique.candidate``).

        Raises:
            MalformedError: A message is not of the published language.
            NoContextError: There are no commitments to claim.
            UnavailableError: The policy can't be obtained.
        """
        policy = self._policies.pinned(self.tenant_id, self.policy_id)
        snapshot = self._snapshot(task_id, commitments, policy)
        if snapshot is None:
            raise NoContextError("the request brings no commitments, and policy applies no standing ones")
        return draft_candidate(
            summary_text, source_messages(messages), policy.manifest, snapshot, narrative_text=narrative_text
        )

    def fallback(self, messages: Messages, *, task_id: str, commitments: bytes | None = None) -> list[ContextMessage]:
        """Return the bounded tail without asking: for when Kafka is away.

        Raises:
            MalformedError: A message is not of the published language.
            NoContextError: There are no messages, or no commitments to render.
            UnavailableError: The policy can't be obtained.
        """
        policy = self._policies.pinned(self.tenant_id, self.policy_id)
        snapshot = self._snapshot(task_id, commitments, policy)
        return unanswered_context(policy.render(snapshot), source_messages(messages), policy.fallback_message_count)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _prepared(self, request: CompactionRequested) -> Prepared:
        value = encode(request)
        return self._prepare(COMPACTION_REQUESTED, value, Expectation.of(request, value))

    async def _ask_async(self, request: CompactionRequested, wait_s: float) -> Verdict | None:
        return await self._wait_async(await asyncio.to_thread(self._prepared, request), self._signer, wait_s)

    def _snapshot(self, task_id: str, commitments: bytes | None, policy: PinnedPolicy) -> Document | None:
        if commitments is None:
            return policy.standing
        return open_commitments(
            commitments, self._policies.trust(), tenant_id=self.tenant_id, task_id=task_id, now_ms=self._clock()
        )

    def _masked(self, request: CompactionRequested, verdict: Verdict | None) -> CompactionRequested | None:
        """Return the request to make after this answer to it: its summary masked; null where that mends nothing."""
        if verdict is None or verdict.outcome is not VerdictOutcome.QUARANTINED or verdict.fallback is None:
            return None
        candidate_json = redacted(request.candidate_json, verdict.reasons)
        if candidate_json is None:
            return None
        return replace(
            request,
            candidate_json=candidate_json,
            compaction_request_id=str(uuid.uuid4()),
            requested_at=self._clock(),
        )

    def _answer(
        self, request: CompactionRequested, verdict: Verdict | None, policy: PinnedPolicy, *, was_redacted: bool
    ) -> Compaction:
        context: list[ContextMessage] | PratiqueError
        value = encode(request)
        try:
            if verdict is not None:
                check_answers(verdict, Expectation.of(request, value))
            context = self._context(request, verdict, policy)
        except PratiqueError as error:
            context = error
        return Compaction(request, request_sha256(value), verdict, context, was_redacted)

    def _context(
        self, request: CompactionRequested, verdict: Verdict | None, policy: PinnedPolicy
    ) -> list[ContextMessage]:
        if verdict is None:
            snapshot = self._snapshot(request.task_id, request.commitments, policy)
            instruction = policy.render(snapshot)
            return unanswered_context(instruction, request.source_messages, policy.fallback_message_count)
        if verdict.outcome is VerdictOutcome.QUARANTINED and verdict.fallback is None:
            raise NoContextError("the gate quarantined the request before it had a context: nothing is inserted")
        if verdict.policy_set_sha256 != policy.policy_set_sha256:
            policy = self._policies.pinned(request.tenant_id, request.policy_id, verdict.policy_set_sha256)
        instruction = policy.render(self._snapshot(request.task_id, request.commitments, policy))
        if verdict.outcome is VerdictOutcome.ACCEPTED:
            context = accepted_context(instruction, request.candidate_json, verdict)
        else:
            context = quarantined_context(instruction, request.source_messages, verdict)
        return insert(verdict, context, self._used, requested_at=request.requested_at, now_ms=self._clock())


def _loader(stack: Stack, policies: PolicySource, tenant_id: str, key: str | Path | None) -> TrustedSigner | None:
    """Return the signer of recalls; none where no key was named and the stack has none."""
    try:
        keys = stack.loader_keys(tenant_id, key)
    except ConfigurationError:
        if key is not None:
            raise
        return None
    return TrustedSigner(keys, policies, tenant_id, now_in_ms, KeyRole.LOADER)
