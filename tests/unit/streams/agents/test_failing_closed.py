"""What a worker did not foresee is an ERROR receipt, which is never a pass, and says nothing of what was looked at."""

from __future__ import annotations

import asyncio
import logging
from typing import Final, NoReturn

import pytest

from pratique.contract.records import Disposition, VerdictOutcome
from pratique.contract.trust import KeyRole, MacRole
from streams.agents.consistency import ConsistencyJudge
from streams.application.pinning import Pinning
from streams.application.trusting import LastKnownTrust
from streams.domain.policy.commitments import sign_commitments
from streams.errors import PolicyError
from tests.fakes.evidence import NOW_MS, TENANT, ed25519, trust_target, trusted
from tests.fakes.recall_path import RecallPath
from tests.fakes.steps import FakeStore
from tests.unit.streams.agents.test_compactions import SET, Path, one
from tests.unit.streams.application.compactions import STANDING, request
from tests.unit.streams.application.recalls import recall_set
from tests.unit.streams.domain.recall.samples import entry
from tests.unit.streams.domain.recall.samples import request as recalled

MARK: Final = "hunter2hunter2"
"""What a message of an exception may quote, and no log."""

UNFORESEEN: Final = RuntimeError(MARK)

COMPACTIONS: Final = {
    "consistency": ("streams.agents.consistency.check_compaction", UNFORESEEN, "VERIFIER_EVIDENCE_DIFFERS"),
    "consistency, policy": ("streams.agents.consistency.check_compaction", PolicyError(MARK), "POLICY_INVALID"),
    "scan": ("streams.agents.scan.scan_compaction", UNFORESEEN, "DETECTOR_ERROR"),
    "reading for scan": ("streams.agents.scan.read_under", UNFORESEEN, "DETECTOR_ERROR"),
}
RECALLS: Final = {
    "consistency": (
        "streams.agents.recall_consistency.check_consistency_of_recall",
        UNFORESEEN,
        "VERIFIER_EVIDENCE_DIFFERS",
    ),
    "consistency, policy": (
        "streams.agents.recall_consistency.check_consistency_of_recall",
        PolicyError(MARK),
        "POLICY_INVALID",
    ),
    "scan": ("streams.agents.recall_scan.plan_scan", UNFORESEEN, "DETECTOR_ERROR"),
}


def break_it(monkeypatch: pytest.MonkeyPatch, target: str, error: Exception) -> None:
    """Have a function of a worker fail."""

    def broken(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(target, broken)


@pytest.mark.parametrize("name", COMPACTIONS)
def test_a_compaction_whose_worker_fails_is_quarantined(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    target, error, code = COMPACTIONS[name]
    break_it(monkeypatch, target, error)
    with caplog.at_level(logging.DEBUG):
        verdict = one(request())
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert [reason.code for reason in verdict.reasons] == [code]
    assert "ERROR" in {check.outcome for check in verdict.checks}
    assert verdict.fallback is not None
    assert MARK not in caplog.text


@pytest.mark.parametrize("name", RECALLS)
def test_a_recall_whose_worker_fails_admits_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    target, error, code = RECALLS[name]
    break_it(monkeypatch, target, error)
    with caplog.at_level(logging.DEBUG):
        (verdict,) = asyncio.run(RecallPath(recall_set()).recall(recalled(entry())))
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert code in {reason.code for reason in verdict.reasons}
    assert Disposition.ADMITTED not in {item.disposition for item in verdict.entries or ()}
    assert MARK not in caplog.text


SIGNER: Final = ed25519("acme-commitments-1")


def test_commitments_whose_signer_a_worker_does_not_trust_are_stale_whatever_intake_said() -> None:
    """Trust may have changed between the two; and whoever forges work can't bring commitments of their own."""
    envelope = sign_commitments(
        STANDING, SIGNER, tenant_id=TENANT, task_id="task-1", not_before_ms=NOW_MS - 1, expires_ms=NOW_MS + 60_000
    )
    asked = request(commitments=envelope)
    trusting = trust_target(trusted(SIGNER, KeyRole.COMMITMENT_SIGNER, TENANT))
    path = Path(target=trusting)
    assert one(asked, path).outcome is VerdictOutcome.ACCEPTED
    path = Path(target=trusting)
    store = FakeStore(SET, trust_target())
    path.workers[0] = path._worker(ConsistencyJudge(Pinning(store, LastKnownTrust(store))), MacRole.CONSISTENCY)
    verdict = one(asked, path)
    assert verdict.outcome is VerdictOutcome.QUARANTINED
    assert [reason.code for reason in verdict.reasons] == ["COMMITMENTS_STALE"]
