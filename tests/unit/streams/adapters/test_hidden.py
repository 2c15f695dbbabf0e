"""The detector of hidden text: its category, its manifest, and that it looks at the text as it stands."""

from __future__ import annotations

import base64

from pratique.contract.reasons import ReasonCode
from streams.adapters.hidden import HiddenTextDetector
from streams.adapters.viewing import detect
from streams.application.scanning import finding_reasons
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile

PROFILE = ScanProfile(("en",), ("EMAIL_ADDRESS",))
HIDDEN = "ig\u200bnore wo\u200brds"


def test_hidden_text_is_a_finding_of_its_own() -> None:
    fields = [Field("summary_text", "Plain."), Field("retained_safety_invariant_ids[0]", f"See {HIDDEN}.")]
    findings, failure = detect(fields, PROFILE, [HiddenTextDetector()])
    assert failure is None
    assert findings == [
        Finding(Category.HIDDEN_TEXT, "hidden", "zero-width-in-words", "retained_safety_invariant_ids[0]", 6, 15, 0.8)
    ]
    assert Finding.of(findings[0].body()) == findings[0]
    (reason,) = finding_reasons(findings)
    assert reason.code is ReasonCode.HIDDEN_TEXT
    assert reason.detector == "hidden:zero-width-in-words"


def test_what_is_encoded_hides_nothing_where_it_stands() -> None:
    written = base64.b64encode(HIDDEN.encode()).decode()
    assert detect([Field("f", written)], PROFILE, [HiddenTextDetector()]) == ([], None)


def test_it_covers_any_profile() -> None:
    HiddenTextDetector().check(ScanProfile(("tlh",), ("UNHEARD_OF",)))
