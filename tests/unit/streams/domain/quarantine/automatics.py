"""Verdicts, nominations and additions to try the rules of automatic quarantine with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from pratique.contract.reasons import ReasonCode
from pratique.contract.records import JoinKey, NominatedText, Nomination, Origin, StatedReason, Verdict, VerdictOutcome
from streams.domain.policy.model import QuarantineEffect, QuarantineRule
from streams.domain.policy.quarantine_rules import DAY_MS
from streams.domain.quarantine.automatic import AutomaticAddition, additions
from tests.unit.streams.domain.quarantine.builders import FINGERPRINT, NOW, TENANT
from tests.vectors.contract_samples import VERDICT

JOIN: Final = JoinKey(TENANT, Origin.RECALL, "recall-1", "1" * 64, "2" * 64, "3" * 64)
RULE: Final = QuarantineRule(
    (ReasonCode.INJECTION, ReasonCode.PREDICATE_CONFLICT), 24, 5, 30 * DAY_MS, QuarantineEffect.REVIEW
)
AT_ONCE: Final = replace(RULE, effect=QuarantineEffect.QUARANTINE)


def reason(code: str, path: str) -> StatedReason:
    return StatedReason(code, path, "a detector", "HIGH")


def verdict(*reasons: StatedReason, **changes: Any) -> Verdict:  # noqa: ANN401 - any field
    made = replace(
        VERDICT,
        origin=Origin.RECALL,
        outcome=VerdictOutcome.QUARANTINED,
        tenant_id=TENANT,
        request_sha256=JOIN.request_sha256,
        reasons=reasons,
        decided_at=NOW - 1000,
    )
    return replace(made, **changes)


def text(place: int = 0, fingerprint: str = FINGERPRINT, *codes: str) -> NominatedText:
    return NominatedText(f"entries[{place}].content", fingerprint, codes)


def nomination(*texts: NominatedText, **changes: Any) -> Nomination:  # noqa: ANN401 - any field
    made = Nomination("2026-1", ("INJECTION", "PREDICATE_CONFLICT"), "recall-3", "injection-1", texts)
    return replace(made, **changes)


def addition(fingerprint: str = FINGERPRINT, *, tenant_id: str = TENANT, decided_at: int = NOW) -> AutomaticAddition:
    """Return the addition that follows from a verdict about one text."""
    key = replace(JOIN, tenant_id=tenant_id)
    (made,) = additions(
        verdict(tenant_id=tenant_id, decided_at=decided_at), nomination(text(0, fingerprint, "INJECTION")), key
    )
    return made
