"""Whether a verdict on a recall is one that a client may act on.

The contract: beside what holds of every verdict (``pratique.verification``), a verdict on a recall

1. speaks of no candidate, rendering or fallback;
2. names only entries that were given, with the contents that were given;
3. admits something only where it names all of them, the recall is exactly what the loader expected, and each has its
   finding; what its event says is the seed's roll-up of as many findings;
4. accepts only where it admits everything, states no reason, and the roll-up is clean and of the manifest's population.

So a verdict that was forged or went wrong can at most withhold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pratique.contract.canonical import JsonValue, text_sha256
from pratique.contract.digests import recall_join_key
from pratique.contract.records import Disposition, EntryVerdict, MemoryRecalled, Origin, Verdict, VerdictOutcome
from pratique.errors import VerdictRefusedError
from pratique.verification import Expected, canonical_event

_ADMITTED: Final = Disposition.ADMITTED


@dataclass(frozen=True)
class RecallExpectation(Expected):
    """What a verdict on a recall must speak of.

    Attributes:
        given: Id, version and content digest of each given entry, in order.
        whole: Whether the given entries are exactly those that the loader expected.
    """

    given: tuple[tuple[str, str, str], ...]
    whole: bool

    @classmethod
    def of(cls, request: MemoryRecalled, value: bytes) -> RecallExpectation:
        """Return what the verdict on a recall must speak of.

        Args:
            request: The request.
            value: The same, as published.

        Raises:
            MalformedError: A text in it holds a lone surrogate.
        """
        key = recall_join_key(request, value)
        expected = Counter((item.entry_id, item.memory_version) for item in request.expected_entries)
        given = Counter((item.entry_id, item.memory_version) for item in request.entries)
        own = (request.tenant_id, request.recall_request_id)
        return cls(
            origin=Origin.RECALL,
            tenant_id=request.tenant_id,
            task_id=request.task_id,
            request_id=request.recall_request_id,
            policy_id=request.policy_id,
            request_sha256=key.request_sha256,
            subject_sha256=key.subject_sha256,
            source_population_sha256=str(key.source_population_sha256),
            requested_at=request.requested_at,
            given=tuple((item.entry_id, item.memory_version, text_sha256(item.content)) for item in request.entries),
            whole=given == expected
            and len(given) == len(request.entries)
            and all((item.tenant_id, item.recall_request_id) == own for item in request.entries),
        )

    def check(self, verdict: Verdict) -> None:
        """Check what a verdict says of the entries.

        Raises:
            VerdictRefusedError: It is of other entries, or admits what it may not.
        """
        compactions = (verdict.compacted_output_sha256, verdict.rendered_policy_sha256, verdict.fallback)
        if compactions != (None, None, None) or verdict.accepted_text_sha256s:
            raise VerdictRefusedError("verdict on a recall speaks of a summary", check="binding")
        if verdict.entries is None:
            raise VerdictRefusedError("verdict on a recall names no entries", check="entries")
        rows = tuple((row.entry_id, row.memory_version, row.content_sha256) for row in verdict.entries)
        if not set(rows) <= set(self.given):
            raise VerdictRefusedError("verdict names an entry that was not given", check="entries")
        event = canonical_event(verdict)
        if any(row.disposition is _ADMITTED for row in verdict.entries):
            self._check_admission(verdict.entries, rows, event)
        if verdict.outcome is VerdictOutcome.ACCEPTED:
            self._check_acceptance(verdict, event)

    def _check_admission(
        self,
        entries: tuple[EntryVerdict, ...],
        rows: tuple[tuple[str, str, str], ...],
        event: Mapping[str, JsonValue] | None,
    ) -> None:
        if not self.whole or rows != self.given:
            raise VerdictRefusedError(
                "something is admitted of a recall that is not what was expected", check="admission"
            )
        if any(row.finding_id is None for row in entries if row.disposition is _ADMITTED):
            raise VerdictRefusedError("an entry is admitted without a finding", check="admission")
        if event is None or event.get("evaluated_count") != len(rows):
            raise VerdictRefusedError("something is admitted without a roll-up of all findings", check="event")

    def _check_acceptance(self, verdict: Verdict, event: Mapping[str, JsonValue] | None) -> None:
        if verdict.reasons or not verdict.entries or any(row.disposition is not _ADMITTED for row in verdict.entries):
            raise VerdictRefusedError("acceptance states a reason or withholds an entry", check="acceptance")
        clean: dict[str, JsonValue] = {
            "control_status": "PASS",
            "finding_status": "NO_FINDING",
            "evaluated_count": len(self.given),
            "population_sha256": self.source_population_sha256,
        }
        if event != clean:
            raise VerdictRefusedError("acceptance's roll-up is not clean, or of another population", check="event")
