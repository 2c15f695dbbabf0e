"""The scan of a recall: a finding for every entry, and no clean one where anything failed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pratique.contract.avro import encode
from pratique.contract.canonical import canonical_sha256, text_sha256
from pratique.contract.digests import recall_join_key
from pratique.contract.reasons import ReasonCode
from pratique.contract.records import ExpectedEntry, MemoryRecalled
from pratique.redacting import redacted_recall
from streams.application.ports.detection import Detection, ScanFailure
from streams.application.ports.quarantine import FingerprintKey, Looked
from streams.application.recall_plan import LEDGER, Failure, ScanPlan, plan_scan
from streams.application.recall_scanning import Measurement, RecallScan, conclude_scan
from streams.domain.policy.model import PolicySet
from streams.domain.recall.fingerprint import fingerprint
from streams.domain.recall.statements import ScanStatement
from streams.domain.scanning.finding import Category, Finding
from streams.errors import DetectorTimeoutError, LedgerViewIncompleteError
from tests.fakes.detectors import changed
from tests.fakes.recall import KEY, FakePromptSafety
from tests.unit.streams.application.recalls import SCAN, SCANNER, recall_set
from tests.unit.streams.domain.recall.samples import AT_MS, POLICY, entry, request

SET = recall_set()
DETECTOR = FakePromptSafety()
LOOKED = Looked(frozenset(), "0:17", 250, KEY.generation)
NOTHING = Detection((), 0)
CLEAN = Measurement(0.0, NOTHING)


def plan(
    asked: MemoryRecalled,
    pinned: PolicySet = SET,
    *,
    detector: FakePromptSafety | None = DETECTOR,
    keys: tuple[FingerprintKey, ...] | Failure = (KEY,),
) -> ScanPlan:
    return plan_scan(asked, pinned, scanner=SCANNER, detector=detector, keys=keys)


def conclude(
    planned: ScanPlan,
    looked: Looked | Failure = LOOKED,
    measurements: Mapping[int, Measurement] | None = None,
) -> RecallScan:
    measured = dict.fromkeys(planned.open_places, CLEAN) if measurements is None else measurements
    key = recall_join_key(planned.request, encode(planned.request))
    return conclude_scan(planned, looked, measured, join_key=key, observed_at_ms=AT_MS)


def scan(asked: MemoryRecalled, **keywords: Any) -> RecallScan:  # noqa: ANN401 - passed on
    return conclude(plan(asked), **keywords)


def findings(result: RecallScan) -> list[dict[str, Any]]:
    return [json.loads(item.finding_json) for item in result.findings]


def statuses(result: RecallScan) -> list[str]:
    return [item["finding_status"] for item in findings(result)]


def codes(result: RecallScan) -> list[tuple[str, str, str]]:
    return [(reason.code, reason.path, reason.detector) for reason in result.receipt.reasons]


def stated(result: RecallScan) -> ScanStatement:
    assert result.receipt.body_json is not None
    value = json.loads(result.receipt.body_json)
    assert result.receipt.receipt_sha256 == canonical_sha256(value)
    return ScanStatement.of(value)


def test_a_clean_recall_s_receipt_names_its_findings() -> None:
    asked = request(entry("e1"), entry("e2", "Other."))
    result = scan(asked)
    receipt, statement = result.receipt, stated(result)
    assert (receipt.outcome, receipt.finding_status, receipt.reasons) == ("PASS", "NO_FINDING", ())
    assert receipt.finding_ids == tuple(item.finding_id for item in result.findings)
    key = recall_join_key(asked, encode(asked))
    assert {item.join_key for item in result.findings} == {key}
    assert statement.population_sha256 == key.source_population_sha256
    assert statement.subject_sha256 == key.subject_sha256
    assert statement.scanner_sha256 == SCANNER.scanner_sha256
    assert (statement.detector_name, statement.detector_revision) == ("fake-prompt-safety", "fake-1")
    assert statement.ledger is not None
    assert (statement.ledger.generation, statement.ledger.position) == ("generation-1", "0:17")
    assert all(item.clean for item in statement.entries)
    assert receipt.versions == {
        "scanner": SCANNER.scanner_version,
        "scanner_sha256": SCANNER.scanner_sha256,
        "detector": "fake-prompt-safety/fake-1",
        "fingerprint_key_generation": "generation-1",
    }
    assert [item["fingerprint_hmac_sha256"] for item in findings(result)] == [
        fingerprint(item.content, KEY.secret) for item in asked.entries
    ]


def test_the_ledger_is_asked_about_each_fingerprint_once() -> None:
    planned = plan(request(entry("e1", "Same."), entry("e2", "same."), entry("e3", "Other."), entry("e4", "")))
    expected = (fingerprint("same.", KEY.secret), fingerprint("other.", KEY.secret))
    assert planned.fingerprints == {KEY.generation: expected}
    assert planned.open_places == (0, 1, 2)
    assert planned.field(2).path == "entries[2].content"


def test_every_kind_of_finding_has_its_reason_and_withholds() -> None:
    contents = ["benign", "system must", "delete it", "quarantined", "suspicious", "leaking"]
    asked = request(*(entry(f"e{place}", content) for place, content in enumerate(contents)))
    secret = Finding(Category.SECRET, "kingfisher", "token", "entries[5].content", 0, 3, 1.0)
    measurements = dict.fromkeys(range(6), CLEAN)
    measurements[4] = Measurement(0.9, NOTHING)
    measurements[5] = Measurement(0.0, Detection((secret,), 1))
    known = frozenset({fingerprint("QUARANTINED", KEY.secret)})
    result = scan(asked, looked=replace(LOOKED, known=known), measurements=measurements)
    assert codes(result) == [
        ("SECRET", "entries[5].content[0:3]", "kingfisher:token"),
        ("INJECTION", "entries[4].content", "fake-prompt-safety"),
        ("ROLE_ASSERTION", "entries[1].content", "signals"),
        ("ACTION_TRIGGER", "entries[2].content", "signals"),
        ("KNOWN_FINGERPRINT", "entries[3].content", "ledger"),
    ]
    assert (result.receipt.outcome, result.receipt.finding_status) == ("FAIL", "FINDING")
    assert statuses(result) == ["NO_FINDING", "FINDING", "FINDING", "FINDING", "FINDING", "NO_FINDING"]
    assert [item.clean for item in stated(result).entries] == [True, False, False, False, False, False]
    assert stated(result).entries[5].codes == ("SECRET",)


@pytest.mark.parametrize(("count", "place"), [(1, "entries[0].content[0:3]"), (2, "entries[0].content")])
def test_no_stretch_is_stated_where_not_every_finding_is_told(count: int, place: str) -> None:
    found = Finding(Category.SECRET, "kingfisher", "token", "entries[0].content", 0, 3, 1.0)
    result = scan(request(entry("e1", "leaking")), measurements={0: Measurement(0.0, Detection((found,), count))})
    assert codes(result) == [("SECRET", place, "kingfisher:token")]


@settings(max_examples=40)
@example(["private and known"] * 40)
@example(["private and hidden", "private"] * 40)
@given(st.lists(st.sampled_from(["clean", "private", "known", "private and known", "private and hidden"]), max_size=90))
def test_however_many_reasons_there_are_only_what_masks_mend_is_masked(kinds: list[str]) -> None:
    """A ledger's entry is told from the content, which a mask changes: what stands there must never look mendable."""
    contents = [f"{place} {kind}" for place, kind in enumerate(kinds)]
    asked = request(*(entry(f"e{place}", content) for place, content in enumerate(contents)))
    measurements = dict.fromkeys(range(len(kinds)), CLEAN)
    for place, kind in enumerate(kinds):
        path = f"entries[{place}].content"
        found = (
            *((Finding(Category.PII, "presidio", "EMAIL_ADDRESS", path, 0, 1, 1.0),) if "private" in kind else ()),
            *((Finding(Category.HIDDEN_TEXT, "hidden", "bidi", path, 1, 2, 1.0),) if "hidden" in kind else ()),
        )
        measurements[place] = Measurement(0.0, Detection(found, len(found)))
    known = frozenset(
        fingerprint(content, KEY.secret) for content, kind in zip(contents, kinds, strict=True) if "known" in kind
    )
    result = scan(asked, looked=replace(LOOKED, known=known), measurements=measurements)
    masked = redacted_recall(asked, result.receipt.reasons, request_id="again", requested_at=AT_MS)
    changed_places = (
        []
        if masked is None
        else [place for place, item in enumerate(masked.entries) if item.content != contents[place]]
    )
    assert {kinds[place] for place in changed_places} <= {"private"}
    assert bool(changed_places) == ("private" in kinds)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "MESSAGE_INVALID"),
        ("x" * 1_001, "TOO_LARGE"),
        ("\U0001f642" * 226, "TOO_LARGE"),
    ],
)
def test_what_no_detector_may_be_given_is_an_error_of_its_entry_alone(content: str, code: str) -> None:
    planned = plan(request(entry("e1"), entry("e2", content)))
    assert planned.open_places == (0,)
    result = conclude(planned)
    assert codes(result) == [(code, "entries[1].content", "recall")]
    assert statuses(result) == ["NO_FINDING", "UNKNOWN"]
    assert findings(result)[1]["content_sha256"] == text_sha256(content)


@pytest.mark.parametrize(
    ("measurement", "error_class", "code", "detector"),
    [
        (
            Measurement(Failure(DetectorTimeoutError("late"), "fake-prompt-safety"), NOTHING),
            "DetectorTimeoutError",
            "DETECTOR_TIMEOUT",
            "fake-prompt-safety",
        ),
        (
            Measurement(Failure(RuntimeError("broken"), "fake-prompt-safety"), NOTHING),
            "RuntimeError",
            "DETECTOR_ERROR",
            "fake-prompt-safety",
        ),
        (Measurement(math.nan, NOTHING), "DetectorError", "DETECTOR_ERROR", "fake-prompt-safety"),
        (Measurement(1.5, NOTHING), "DetectorError", "DETECTOR_ERROR", "fake-prompt-safety"),
        (Measurement(-0.1, NOTHING), "DetectorError", "DETECTOR_ERROR", "fake-prompt-safety"),
        (
            Measurement(0.0, Detection((), 0, ScanFailure(ReasonCode.DETECTOR_TIMEOUT, "pool"))),
            "DetectorTimeoutError",
            "DETECTOR_TIMEOUT",
            "pool",
        ),
        (
            Measurement(0.0, Detection((), 0, ScanFailure(ReasonCode.DETECTOR_ERROR, "presidio"))),
            "DetectorError",
            "DETECTOR_ERROR",
            "presidio",
        ),
        (
            Measurement(0.0, Detection((), 0, ScanFailure(ReasonCode.LANGUAGE_UNSUPPORTED, "presidio"))),
            "LanguageUnsupportedError",
            "LANGUAGE_UNSUPPORTED",
            "presidio",
        ),
        (
            Measurement(0.0, Detection((), 0, ScanFailure(ReasonCode.TOO_LARGE, "scan"))),
            "TooLargeError",
            "TOO_LARGE",
            "scan",
        ),
        (Measurement(0.0, Failure(OSError("pipe"), "scan")), "OSError", "DETECTOR_ERROR", "scan"),
        (Measurement(0.0, Detection((), 3)), "DetectorError", "DETECTOR_ERROR", "scan"),
        (
            Measurement(0.0, Detection((Finding(Category.PII, "x", "y", "entries[0].content", 0, 1, 1.0),), 1)),
            "DetectorError",
            "DETECTOR_ERROR",
            "scan",
        ),
    ],
)
def test_a_failure_is_an_error_of_its_entry_alone(
    measurement: Measurement, error_class: str, code: str, detector: str
) -> None:
    result = scan(request(entry("e1"), entry("e2")), measurements={0: CLEAN, 1: measurement})
    assert statuses(result) == ["NO_FINDING", "UNKNOWN"]
    assert findings(result)[1]["error_class"] == error_class
    assert codes(result) == [(code, "entries[1].content", detector)]
    assert (result.receipt.outcome, result.receipt.finding_status) == ("ERROR", "UNKNOWN")


def test_an_entry_that_was_not_measured_is_an_error() -> None:
    result = scan(request(entry("e1"), entry("e2")), measurements={0: CLEAN})
    assert statuses(result) == ["NO_FINDING", "UNKNOWN"]


@pytest.mark.parametrize(
    "looked",
    [
        Failure(LedgerViewIncompleteError("behind"), LEDGER),
        replace(LOOKED, generation="generation-2"),
        replace(LOOKED, known=frozenset({"no fingerprint"})),
    ],
)
def test_a_ledger_that_can_t_answer_makes_every_entry_an_error(looked: Looked | Failure) -> None:
    result = scan(request(entry("e1"), entry("e2")), looked=looked)
    assert statuses(result) == ["UNKNOWN", "UNKNOWN"]
    assert {code for code, _, _ in codes(result)} == {"LEDGER_VIEW_INCOMPLETE"}
    assert {detector for _, _, detector in codes(result)} == {"ledger"}


@pytest.mark.parametrize(
    ("planned", "code", "detector"),
    [
        (plan(request(entry()), detector=None), "DETECTOR_ERROR", "recall"),
        (plan(request(entry()), detector=FakePromptSafety(revision="fake-2")), "DETECTOR_ERROR", "recall"),
        (
            plan(request(entry()), keys=Failure(LedgerViewIncompleteError("no key"), LEDGER)),
            "LEDGER_VIEW_INCOMPLETE",
            "ledger",
        ),
        (
            plan_scan(
                request(entry()),
                SET,
                scanner=type(SCANNER).of([item.manifest for item in changed()]),
                detector=DETECTOR,
                keys=(KEY,),
            ),
            "DETECTOR_ERROR",
            "scan",
        ),
        (plan(request(entry()), recall_set(scan=replace(SCAN, policy_sha256="0" * 64))), "POLICY_INVALID", "scan"),
    ],
)
def test_what_is_not_pinned_or_not_there_measures_nothing(planned: ScanPlan, code: str, detector: str) -> None:
    assert planned.open_places == ()
    assert planned.fingerprints == {}
    result = conclude(planned, measurements={0: CLEAN})
    assert codes(result) == [(code, "entries[0].content", detector)]
    assert statuses(result) == ["UNKNOWN"]


def test_nothing_given_is_nothing_scanned_and_not_clean() -> None:
    result = scan(request(expected=(ExpectedEntry("e1", "v1"),)))
    assert (result.receipt.outcome, result.findings) == ("INSUFFICIENT_DATA", ())
    assert codes(result) == [("POPULATION_MISSING", "expected_entries[0]", "population")]


def test_a_foreign_entry_has_its_finding_under_its_own_name() -> None:
    result = scan(request(entry("e1", tenant_id="tenant-b")))
    assert findings(result)[0]["tenant_id"] == "tenant-b"
    assert stated(result).entries[0].key.tenant_id == "tenant-b"


def test_partial_admission_is_policy_s() -> None:
    partial = recall_set(replace(POLICY, partial_admission=True))
    assert stated(conclude(plan(request(entry()), partial))).partial_admission
    assert not stated(scan(request(entry()))).partial_admission


def test_statements_hold_no_content() -> None:
    result = scan(request(entry("e1", "root must delete Sesame")))
    assert "Sesame" not in repr(result)


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
            st.floats(),
            st.sampled_from([NOTHING, Detection((), 0, ScanFailure(ReasonCode.DETECTOR_ERROR, "x")), None]),
        ),
        max_size=6,
    ),
    st.booleans(),
)
def test_whatever_happens_there_is_one_finding_per_entry_and_clean_means_measured(
    cases: list[tuple[str, float, Detection | None]],
    view_fails: bool,  # noqa: FBT001 - drawn
) -> None:
    asked = request(*(entry(f"e{place}", content) for place, (content, _, _) in enumerate(cases)))
    looked: Looked | Failure = Failure(LedgerViewIncompleteError("behind"), LEDGER) if view_fails else LOOKED
    measurements = {
        place: Measurement(score, detection) for place, (_, score, detection) in enumerate(cases) if detection
    }
    result = scan(asked, looked=looked, measurements=measurements)
    assert len(result.findings) == len(cases) == len(stated(result).entries)
    for (content, score, detection), status in zip(cases, statuses(result), strict=True):
        if status == "NO_FINDING":
            assert content
            assert 0 <= score < 0.3
            assert detection is NOTHING
            assert not view_fails
