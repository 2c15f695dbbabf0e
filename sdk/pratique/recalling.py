"""Asking about recalled memories: what a loader brought, and what of it may enter a prompt.

The contract (AID-D-001.005): only what a believed verdict admits is returned, for the request that it answers, each
content hashed again at that moment, and each verdict once. No verdict means no memories. Where nothing was expected and
nothing came, nothing is asked. What is returned is data for a prompt, and never an instruction. Where no answer to a
masked recall comes, the answer to the first one stands.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from pratique.asking import GRACE_S, Asker, PendingRecall, Prepared
from pratique.context import UsedVerdicts
from pratique.contract.avro import encode
from pratique.contract.records import MemoryEntry, MemoryRecalled, Verdict, VerdictOutcome
from pratique.contract.signing import Signer
from pratique.contract.topics import MEMORY_RECALLED
from pratique.errors import ConfigurationError, TooLargeError, UnavailableError
from pratique.memories import Entries, Expectations, admitted, expected_entries, memory_entries
from pratique.pinned import PolicySource
from pratique.recall_verification import RecallExpectation
from pratique.redacting import redacted_recall
from pratique.transport import Transport
from pratique.verification import check_answers, check_moment

NO_ANSWER: Final = (UnavailableError, TooLargeError)
"""What leaves a masked request without an answer: a broker that is away, or masks longer than what they mask."""


class RecallGate(Asker):
    """The part of ``Gate`` that asks about recalls; arguments as there."""

    def __init__(
        self,
        *,
        transport: Transport,
        policies: PolicySource,
        loader: Signer | None,
        tenant_id: str,
        policy_id: str,
        used: UsedVerdicts,
        clock: Callable[[], int],
    ) -> None:
        super().__init__(transport, policies, clock)
        self.tenant_id = tenant_id
        self.policy_id = policy_id
        self._used = used
        self._loader = loader

    def recall(
        self,
        entries: Entries,
        expected: Expectations,
        *,
        task_id: str,
        wait_s: float | None = None,
        redact: bool = False,
    ) -> list[MemoryEntry]:
        """Ask whether recalled memories may enter a prompt, and return those that may.

        Args:
            entries: What the loader brought: ``MemoryEntry``, or mappings with ``entry_id``, ``memory_version`` and
                ``content`` (and ``provenance``; ``tenant_id`` where the store says whose it is).
            expected: The loader's manifest: id and version of every memory that this recall should bring.
            task_id: The task whose prompt it is.
            wait_s: Longest wait in seconds, for each answer; the policy's deadline and a grace where not given.
            redact: Whether to mask what a verdict names in memories that nothing but secrets and personal data keeps
                out, and to ask once more under a new request id. A masked memory has a version of its own.

        Returns:
            The admitted entries, in order; none where no verdict came in time.

        Raises:
            MalformedError: An entry is not of the published language.
            TooLargeError: The request is over 4 MiB.
            UnavailableError: Kafka or the policy repository is away: there are no memories then.
            RefusedError: The policy repository's metadata has expired, or the verdict may not be acted on any more.
            ConfigurationError: This gate has no loader key.
        """
        request = self.recall_request(entries, expected, task_id=task_id)
        if not request.entries and not request.expected_entries:
            return []
        timeout = self._patience_s() if wait_s is None else wait_s
        verdict = self.ask_recall(request, wait_s=timeout)
        masked = self._masked_recall(request, verdict) if redact else None
        if verdict is not None and masked is not None:
            with suppress(*NO_ANSWER):
                again = self.ask_recall(masked, wait_s=self._while_valid_s(verdict, timeout))
                if again is not None:
                    request, verdict = masked, again
        return self.memories(request, verdict)

    async def arecall(
        self,
        entries: Entries,
        expected: Expectations,
        *,
        task_id: str,
        wait_s: float | None = None,
        redact: bool = False,
    ) -> list[MemoryEntry]:
        """Do as ``recall`` does without holding up the event loop, or a thread while it waits."""
        request = await asyncio.to_thread(self.recall_request, entries, expected, task_id=task_id)
        if not request.entries and not request.expected_entries:
            return []
        timeout = await asyncio.to_thread(self._patience_s) if wait_s is None else wait_s
        verdict = await self._ask_recall_async(request, timeout)
        masked = await asyncio.to_thread(self._masked_recall, request, verdict) if redact else None
        if verdict is not None and masked is not None:
            with suppress(*NO_ANSWER):
                again = await self._ask_recall_async(masked, self._while_valid_s(verdict, timeout))
                if again is not None:
                    request, verdict = masked, again
        return await asyncio.to_thread(self.memories, request, verdict)

    def recall_request(self, entries: Entries, expected: Expectations, *, task_id: str) -> MemoryRecalled:
        """Build a recall under a new id.

        Raises:
            MalformedError: An entry is not of the published language.
        """
        request_id = str(uuid.uuid4())
        return MemoryRecalled(
            tenant_id=self.tenant_id,
            task_id=task_id,
            recall_request_id=request_id,
            requested_at=self._clock(),
            policy_id=self.policy_id,
            entries=memory_entries(entries, tenant_id=self.tenant_id, recall_request_id=request_id),
            expected_entries=expected_entries(expected),
        )

    def ask_recall(self, request: MemoryRecalled, *, wait_s: float) -> Verdict | None:
        """Send a recall as it stands and return its verdict; null where none came in time.

        Raises:
            TooLargeError: The request is over 4 MiB.
            MalformedError: The request is not of the published language.
            UnavailableError: Kafka is away, or no trust target was ever loaded.
            ConfigurationError: This gate has no loader key.
        """
        return self._wait(self.publish_recall(request), wait_s)

    def publish_recall(self, request: MemoryRecalled, *, signer: Signer | None = None) -> PendingRecall:
        """Sign and send a recall, with someone waiting for its verdict; call ``forget`` when the wait is over.

        Args:
            request: The request, of any tenant.
            signer: The loader key to sign with; the gate's own where not given.

        Raises:
            TooLargeError: The request is over 4 MiB.
            MalformedError: The request is not of the published language.
            UnavailableError: Kafka is away, or no trust target was ever loaded.
            ConfigurationError: This gate has no loader key, and none is given.
        """
        prepared = self._prepared_recall(request)
        sent = self._send(prepared, self._recall_signer(signer))
        return PendingRecall(prepared.expectation, sent, prepared.waiter, request)

    def memories(self, request: MemoryRecalled, verdict: Verdict | None) -> list[MemoryEntry]:
        """Return what may enter the prompt now: what ``recall`` does with the answer that ``ask_recall`` gave.

        Raises:
            VerdictRefusedError: The verdict is not this request's, no longer valid, or used already.
        """
        if verdict is None:
            return []
        check_answers(verdict, RecallExpectation.of(request, encode(request)))
        found = admitted(request, verdict)
        if found:
            now_ms = self._clock()
            check_moment(verdict, request.requested_at, now_ms)
            self._used.claim(
                verdict.tenant_id,
                verdict.task_id,
                verdict.verdict_id,
                valid_until=verdict.valid_until,
                now_ms=now_ms,
            )
        return found

    def _masked_recall(self, request: MemoryRecalled, verdict: Verdict | None) -> MemoryRecalled | None:
        if verdict is None or verdict.outcome is not VerdictOutcome.QUARANTINED:
            return None
        return redacted_recall(request, verdict.reasons, request_id=str(uuid.uuid4()), requested_at=self._clock())

    def _while_valid_s(self, verdict: Verdict, wait_s: float) -> float:
        """Return how long a second answer is waited for: half the time that the first one is still valid."""
        return max(0.0, min(wait_s, (verdict.valid_until - self._clock()) / 2000))

    def _patience_s(self) -> float:
        return self._policies.pinned(self.tenant_id, self.policy_id).deadline_ms / 1000 + GRACE_S

    def _prepared_recall(self, request: MemoryRecalled) -> Prepared:
        value = encode(request)
        return self._prepare(MEMORY_RECALLED, value, RecallExpectation.of(request, value))

    async def _ask_recall_async(self, request: MemoryRecalled, wait_s: float) -> Verdict | None:
        prepared = await asyncio.to_thread(self._prepared_recall, request)
        return await self._wait_async(prepared, self._recall_signer(None), wait_s)

    def _recall_signer(self, signer: Signer | None) -> Signer:
        chosen = signer or self._loader
        if chosen is None:
            raise ConfigurationError(
                f"this gate has no loader key of tenant {self.tenant_id}: name one (Gate's loader, loader_key, or "
                f"loader/{self.tenant_id}/<key id>.pem in the key directory)"
            )
        return chosen
