"""The signed fixture set through every step: intake, both workers, the join (AID-D-001.005 G001)."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from pratique.contract.digests import finding_id, recall_population_sha256
from pratique.contract.records import Disposition, Verdict
from streams.application.recall_admission import expected_keys
from streams.application.recall_audit import Found, audit_recall
from streams.domain.policy.model import PolicySet
from tests.fakes.recall import FakeView, ScriptedPromptSafety
from tests.fakes.recall_path import RecallPath
from tests.fakes.steps import NOW_MS
from tests.unit.streams.application.recalls import SCAN, recall_set
from tests.unit.streams.domain.recall.samples import POLICY
from tests.vectors.generate_recall import fixture_request, fixtures, verified_fixtures
from tests.vectors.recall_cases import CASES, QUARANTINED

FIXTURES: Any = verified_fixtures()
NAMES = [case["name"] for case in FIXTURES["cases"]]
SCANNED = replace(SCAN, timeout_ms=2_000)


def set_with(*, partial_admission: bool) -> PolicySet:
    return recall_set(replace(POLICY, partial_admission=partial_admission), SCANNED)


@pytest.fixture
def hanging() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def path_of(hanging: threading.Event, *, partial_admission: bool = True, timeout_ms: int = 2_000) -> RecallPath:
    view = FakeView()
    for item in FIXTURES["quarantined"]:
        view.add(item["text"], item["tenant_id"])
    pinned = set_with(partial_admission=partial_admission)
    pinned = replace(pinned, scan=replace(pinned.scan, timeout_ms=timeout_ms))
    return RecallPath(pinned, detector=ScriptedPromptSafety(hanging=hanging), view=view)


def admitted(verdict: Verdict) -> list[str]:
    return [item.entry_id for item in verdict.entries or () if item.disposition is Disposition.ADMITTED]


def test_the_set_is_signed_and_is_what_its_source_says() -> None:
    assert FIXTURES["cases"] == json.loads(json.dumps(CASES))
    assert FIXTURES["quarantined"] == list(QUARANTINED)
    assert len(set(NAMES)) == len(NAMES)


def test_a_changed_set_does_not_verify(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:  # noqa: ANN401 - a path
    envelope = json.loads(fixtures())
    envelope["payload"] = "e30="
    (tmp_path / "changed.json").write_text(json.dumps(envelope))
    monkeypatch.setattr("tests.vectors.generate_recall.FIXTURES", tmp_path / "changed.json")
    with pytest.raises(Exception, match="does not verify"):
        verified_fixtures()


@pytest.mark.parametrize("case", FIXTURES["cases"], ids=NAMES)
def test_every_fixture_comes_to_what_it_must(case: Any, hanging: threading.Event) -> None:  # noqa: ANN401 - any JSON
    path = path_of(hanging, timeout_ms=100 if case["name"] == "detector-timeout" else 2_000)
    asked = fixture_request(case, requested_at=NOW_MS)
    (verdict,) = asyncio.run(path.recall(asked))
    expected = case["expected"]
    assert verdict.outcome.value == expected["outcome"]
    assert list(dict.fromkeys(reason.code for reason in verdict.reasons)) == expected["codes"]
    assert admitted(verdict) == expected["admitted"]
    findings = [json.loads(finding.finding_json) for finding in path.findings]
    assert [finding["finding_status"] for finding in findings] == expected["findings"]
    event = None if verdict.event_json is None else json.loads(verdict.event_json)
    assert (event and [event["control_status"], event["finding_status"]]) == expected["roll_up"]
    assert [finding_id(finding) for finding in findings] == [finding.finding_id for finding in path.findings]
    checks = audit_recall(verdict, path.findings, asked)
    assert [item for item in checks if item.found is Found.DIFFERS] == []


@pytest.mark.parametrize("case", FIXTURES["cases"], ids=NAMES)
def test_without_partial_admission_all_or_nothing(case: Any, hanging: threading.Event) -> None:  # noqa: ANN401 - any JSON
    path = path_of(hanging, partial_admission=False, timeout_ms=100 if case["name"] == "detector-timeout" else 2_000)
    (verdict,) = asyncio.run(path.recall(fixture_request(case, requested_at=NOW_MS)))
    assert admitted(verdict) == ([] if case["expected"]["codes"] else case["expected"]["admitted"])


@pytest.mark.parametrize(
    "path",
    [
        RecallPath(set_with(partial_admission=True), detector=None),
        RecallPath(set_with(partial_admission=True), view=FakeView(failing=True)),
        RecallPath(set_with(partial_admission=True), view=None),
        RecallPath(set_with(partial_admission=True), keys=None),
    ],
)
def test_where_nothing_can_be_measured_no_fixture_is_clean(path: RecallPath) -> None:
    cases = [case for case in FIXTURES["cases"] if case["request"]["tenant_id"] == "tenant-a"]
    verdicts = asyncio.run(path.recall(*(fixture_request(case, requested_at=NOW_MS) for case in cases)))
    assert len(verdicts) == len(cases)
    assert {verdict.outcome.value for verdict in verdicts} == {"QUARANTINED"}
    assert [admitted(verdict) for verdict in verdicts] == [[]] * len(cases)
    assert {json.loads(finding.finding_json)["finding_status"] for finding in path.findings} == {"UNKNOWN"}


def test_reordering_the_population_changes_no_digest(hanging: threading.Event) -> None:
    case = next(case for case in FIXTURES["cases"] if case["name"] == "delayed-trigger-and-role")
    asked = fixture_request(case, requested_at=NOW_MS)
    order = random.Random(20_261_129)  # noqa: S311 - a shuffle, no secret
    for _ in range(5):
        entries = tuple(order.sample(asked.entries, len(asked.entries)))
        manifest = tuple(order.sample(asked.expected_entries, len(asked.expected_entries)))
        shuffled = replace(asked, entries=entries, expected_entries=manifest)
        (verdict,) = asyncio.run(path_of(hanging).recall(shuffled))
        assert verdict.source_population_sha256 == recall_population_sha256(expected_keys(asked))
        assert admitted(verdict) == ["benign"]


def test_the_same_keys_in_two_tenants_are_two_populations(hanging: threading.Event) -> None:
    cases = [case for case in FIXTURES["cases"] if case["name"].startswith("same-keys-")]
    ours, theirs = (fixture_request(case, requested_at=NOW_MS) for case in cases)
    keys = [(entry.entry_id, entry.memory_version, entry.content) for entry in ours.entries]
    assert keys == [(entry.entry_id, entry.memory_version, entry.content) for entry in theirs.entries]
    verdicts = asyncio.run(path_of(hanging).recall(ours, theirs))
    assert len({verdict.source_population_sha256 for verdict in verdicts}) == 2
    assert {verdict.tenant_id: verdict.outcome.value for verdict in verdicts} == {
        "tenant-a": "ACCEPTED",
        "tenant-b": "QUARANTINED",
    }
