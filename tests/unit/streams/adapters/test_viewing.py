"""Detectors see every reading; a finding stands where the original has it, once, with how it was read."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

import pytest

from pratique.contract.canonical import canonical_sha256
from pratique.contract.reasons import ReasonCode
from streams.adapters.viewing import VIEWS, detect
from streams.domain.policy.model import ViewLimits
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import DetectorManifest
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.domain.scanning.views.limits import most_read
from streams.domain.scanning.views.model import View
from streams.domain.scanning.views.readings import readings
from tests.fakes.detectors import REFUSE, STRAY, ScriptedDetector

PROFILE = ScanProfile(("en",), ("EMAIL_ADDRESS",))
SCRIPTED = ScriptedDetector()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def found(*texts: str, profile: ScanProfile = PROFILE) -> list[Finding]:
    findings, failure = detect([Field(f"f{place}", text) for place, text in enumerate(texts)], profile, [SCRIPTED])
    assert failure is None
    return findings


def test_a_plain_finding_has_no_detail() -> None:
    (finding,) = found("here <secret> is")
    assert (finding.start, finding.end, finding.detail) == (5, 13, "")
    assert "detail" not in finding.body()


def test_what_is_found_in_a_reading_is_reported_at_its_run_in_its_field() -> None:
    run = encoded("words and <secret> and words")
    (finding,) = found("nothing here", f"see {run} there")
    assert finding == Finding(Category.SECRET, "scripted", "mark", "f1", 4, 4 + len(run), 0.9, "base64")
    assert finding.body()["detail"] == "base64"
    assert Finding.of(finding.body()) == finding


def test_what_several_readings_say_is_found_once_and_the_plain_one_wins() -> None:
    (finding,) = found("a <secret> with caf&eacute; and %41 beside")
    assert (finding.start, finding.end, finding.detail) == (2, 10, "")


def test_two_places_are_two_findings_and_two_categories_too() -> None:
    first, second = encoded("one <secret> of them"), encoded("<secret> and <pii> of them")
    findings = found(f"{first} {second}")
    assert [(item.category, item.start) for item in findings] == [
        (Category.SECRET, 0),
        (Category.PII, len(first) + 1),
        (Category.SECRET, len(first) + 1),
    ]


def test_disguises_in_each_other_are_named_from_the_outside() -> None:
    (finding,) = found(f"see {encoded(encoded('words <secret> words').replace('Z', '%5A'))} there")
    assert finding.detail == "base64+percent+base64"


def test_no_finding_reaches_across_what_was_left_out() -> None:
    assert found("%3Csecr" + " words" * 60 + " et%3E") == []


def listed(*values: str) -> list[Finding]:
    fields = [Field("summary_text", "Plain."), *(Field(f"ids[{place}]", value) for place, value in enumerate(values))]
    findings, failure = detect(fields, PROFILE, [SCRIPTED])
    assert failure is None
    return findings


def test_what_is_split_over_short_fields_of_a_list_stands_where_it_begins() -> None:
    (finding,) = listed("one", "two <sec", "ret> three")
    assert finding == Finding(Category.SECRET, "scripted", "mark", "ids[1]", 4, 8, 0.9, "across")


def test_it_may_be_disguised_as_well() -> None:
    run = encoded("words and <secret> and words")
    (finding,) = listed("one " + run[:15], run[15:] + " two")
    assert (finding.path, finding.start, finding.end, finding.detail) == ("ids[0]", 4, 19, "across+base64")


def test_what_is_in_one_field_is_found_there_alone() -> None:
    assert [(item.path, item.detail) for item in listed("<secret>", "and", encoded("words <secret> words"))] == [
        ("ids[0]", ""),
        ("ids[2]", "base64"),
    ]


@pytest.mark.parametrize(
    "values", [("<sec", "0" * 64, "ret>"), ("<sec", "x" * 300 + "ret>"), ("<sec" + "x" * 300, "ret>")]
)
def test_long_fields_and_digests_are_no_parts(values: tuple[str, ...]) -> None:
    assert listed(*values) == []


class Recorder(ScriptedDetector):
    """Remembers what it was given, and finds nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[str] = []

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002 - it only records
        self.given += [field.value for field in fields]
        return []


class OwnReader(Recorder):
    own_views = True


def test_a_detector_that_takes_disguises_off_itself_gets_the_text_alone() -> None:
    text = f"see {encoded('words and more words')} there"
    ordinary, own = Recorder(), OwnReader()
    detect([Field("f", text)], PROFILE, [ordinary, own])
    assert own.given == [text]
    assert ordinary.given == [text, "see words and more words there"]


def test_a_text_whose_readings_exceed_the_bounds_is_too_large() -> None:
    profile = ScanProfile(("en",), ("EMAIL_ADDRESS",), ViewLimits(max_characters=10))
    assert detect([Field("f", encoded("words and <secret>"))], profile, [SCRIPTED]) == (
        [],
        (ReasonCode.TOO_LARGE, VIEWS),
    )


def test_many_fields_have_no_more_readings_together_than_one_of_their_length() -> None:
    text = " ".join(encoded(f"words {number} and more of them") for number in range(3)) + " p4ssw0rd %41 \u0430a"
    assert sum(len(view.text) for view in readings(text)) < most_read(len(text))
    assert detect([Field("f", text)], PROFILE, [SCRIPTED]) == ([], None)
    fields = [Field(f"f{place}", text) for place in range(100)]
    assert detect(fields, PROFILE, [SCRIPTED]) == ([], (ReasonCode.TOO_LARGE, VIEWS))


@pytest.mark.parametrize("mark", [STRAY, REFUSE])
def test_a_detector_that_fails_over_a_reading_fails(mark: str) -> None:
    findings, failure = detect([Field("f", encoded(f"<secret> {mark}"))], PROFILE, [SCRIPTED])
    assert findings == []
    assert failure is not None
    assert failure[0] is ReasonCode.DETECTOR_ERROR


class Reaching(ScriptedDetector):
    """Finds something beyond the end."""

    @property
    def manifest(self) -> DetectorManifest:
        return DetectorManifest("reaching", "1", canonical_sha256([]), {})

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002
        return [
            Finding(Category.PII, "reaching", "x", field.path, 0, len(field.value) + 1, 1.0) for field in fields[1:]
        ]


def test_a_finding_beyond_its_reading_is_a_failure() -> None:
    _, failure = detect([Field("f", encoded("words and more words"))], PROFILE, [Reaching()])
    assert failure == (ReasonCode.DETECTOR_ERROR, "reaching")


def test_how_a_view_was_read_is_asked_as_often_however_much_is_found_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def kinds(view: View) -> tuple[str, ...]:
        asked.append(view.text)
        return ()

    monkeypatch.setattr(View, "kinds", property(kinds))
    counts = []
    for several in (2, 8):
        asked.clear()
        found("%41 " + "<secret> <pii> " * several)
        counts.append(len(asked))
    assert counts[0] == counts[1]


class Spanning(ScriptedDetector):
    """Finds tokens that go on as long as there are letters."""

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002
        return [
            Finding(Category.SECRET, "scripted", "mark", field.path, *match.span(), 0.9)
            for field in fields
            for match in re.finditer(r"tok1_\w+", field.value)
        ]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("see tok1_abcdefgh12\nijklmn34opqr there", [(4, 32, "joined")]),
        ("see tok1_abcdefgh12ijklmn34 there", [(4, 27, "")]),
        ("see tok1_abcdefgh12\ntok1_ijklmn34 there", [(4, 19, ""), (20, 33, "")]),
        ("tok1_abcdefgh12\nijklmn34opqr and tok1_second123", [(0, 28, "joined"), (33, 47, "")]),
    ],
)
def test_a_reading_that_says_more_than_the_plain_text_stands_for_both(
    text: str, spans: list[tuple[int, int, str]]
) -> None:
    findings, failure = detect([Field("f", text)], PROFILE, [Spanning()])
    assert failure is None
    assert [(item.start, item.end, item.detail) for item in findings] == spans
