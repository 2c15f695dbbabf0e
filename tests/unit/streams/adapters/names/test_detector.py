"""Names, places and dates by the pinned model: at their offsets, where policy wants them, and never in silence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pratique.contract.reasons import ReasonCode
from streams.adapters.language_models import files_sha256, located
from streams.adapters.names.detector import NamesDetector
from streams.adapters.names.text import PIECE
from streams.adapters.presidio import PresidioDetector
from streams.adapters.viewing import detect
from streams.domain.policy.language_models import MAX_MODELS, LanguageModel
from streams.domain.policy.scan_rules import ScanRules
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import DetectorError
from tests.fakes.language_model import ENGLISH, PACKAGE

GERMAN = "Wir haben mit Peter Müller gesprochen, und er wird sich bald bei uns melden, wenn es noch nicht fertig ist."

MIXED = (
    "Then the rest of the team went to the meeting, and they said that it would be done by the end of the week, for she"
    " had told them what her name was, and it was Margaret Thatcher. And then they all went to where she was."
)


@cache
def detector() -> NamesDetector:
    return NamesDetector()


@cache
def patterns() -> PresidioDetector:
    return PresidioDetector()


def profile(*models: LanguageModel, languages: tuple[str, ...] = ("de", "en")) -> ScanProfile:
    types = dict.fromkeys(["EMAIL_ADDRESS", *(kind for model in models for kind in model.entity_types)])
    return ScanProfile(languages, tuple(types), rules=ScanRules(models=models))


def find(*texts: str, under: ScanProfile | None = None) -> list[Finding]:
    fields = [Field(f"field[{index}]", text) for index, text in enumerate(texts)]
    return detector().scan(fields, under or profile(ENGLISH))


def found(text: str, under: ScanProfile | None = None) -> set[tuple[str, str]]:
    return {(item.type, text[item.start : item.end]) for item in find(text, under=under)}


def test_names_places_and_dates_are_found_where_they_stand() -> None:
    text = "Angela Merkel met Tim Cook in Berlin on Tuesday."
    assert found(text) == {
        ("PERSON", "Angela Merkel"),
        ("PERSON", "Tim Cook"),
        ("LOCATION", "Berlin"),
        ("DATE_TIME", "Tuesday"),
    }
    (first, *_) = find("nothing here", text)
    assert (first.category, first.detector, first.path) == (Category.PII, "names", "field[1]")
    assert PACKAGE not in sys.modules


def test_only_the_types_that_policy_wants_of_a_model_are_found() -> None:
    under = profile(replace(ENGLISH, entity_types=("LOCATION", "NRP", "ORGANIZATION")))
    assert found("Angela Merkel met the French minister at Microsoft in Berlin.", under) == {
        ("NRP", "French"),
        ("ORGANIZATION", "Microsoft"),
        ("LOCATION", "Berlin"),
    }


def test_nothing_is_found_without_a_model() -> None:
    assert find("Angela Merkel met Tim Cook.", under=profile()) == []


def test_names_are_found_once_however_long_the_text_is() -> None:
    sentence = "After that, Jonathan Whitfield wrote the report again and nobody had read it. "
    text = sentence * (2 * PIECE // len(sentence) + 3)
    names = [item for item in find(text) if item.type == "PERSON"]
    places = [index for index in range(len(text)) if text.startswith("Jonathan Whitfield", index)]
    assert [(item.start, item.end) for item in names] == [(place, place + 18) for place in places]


def test_paragraphs_of_another_language_of_the_policy_are_not_the_models() -> None:
    text = f"{GERMAN}\n\nThen Jonathan Whitfield went to Paris."
    assert found(text, profile(replace(ENGLISH, entity_types=("PERSON",)))) == {("PERSON", "Jonathan Whitfield")}


def test_a_paragraph_that_mixes_the_policys_languages_is_read_by_every_model(tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(located(PACKAGE), copy)
    german = replace(ENGLISH, language="de", package="", path=str(copy))
    text = f"{MIXED} {GERMAN} {GERMAN}"
    for models in ([ENGLISH], [german], [ENGLISH, german]):
        assert ("PERSON", "Margaret Thatcher") in found(text, profile(*models))


def test_a_worker_keeps_every_model_of_a_policy(tmp_path: Path) -> None:
    names = NamesDetector()
    models = []
    for language in ("da", "de", "es", "fr", "it", "nl", "pt", "sv")[:MAX_MODELS]:
        (tmp_path / language).symlink_to(located(PACKAGE))
        models.append(replace(ENGLISH, language=language, package="", path=str(tmp_path / language)))
    assert len(models) == MAX_MODELS
    loaded = [names.finder(model) for model in models]
    assert all(names.finder(model) is first for model, first in zip(models, loaded, strict=True))


def test_digests_are_no_text() -> None:
    assert find("3" * 64, "ab" * 32) == []


def test_what_a_text_leaves_in_the_vocabulary_goes_with_it() -> None:
    finder = detector().finder(ENGLISH)
    strings = finder._engine.get_nlp("en").vocab.strings
    find("Angela Merkel.")
    before = len(strings)
    find(" ".join(f"unheard{number} Name{number}" for number in range(500)))
    assert len(strings) == before


def test_a_name_in_a_disguise_is_found_in_the_original() -> None:
    text = "Write that Jon\u200bathan Whit\u200bfield agreed."
    results, failure = detect([Field("summary_text", text)], profile(ENGLISH), [detector()])
    assert failure is None
    (person,) = [item for item in results if item.type == "PERSON"]
    assert text[person.start : person.end].replace("\u200b", "") == "Jonathan Whitfield"


def test_a_policy_with_a_model_is_scanned_for_the_rest_as_before() -> None:
    presidio = patterns()
    under = profile(ENGLISH)
    presidio.check(under)
    assert {item.type for item in presidio.scan([Field("f", "Write to bob@example.com.")], under)} == {"EMAIL_ADDRESS"}


@pytest.mark.parametrize(
    "model",
    [
        replace(ENGLISH, package="no_such_language_model"),
        replace(ENGLISH, sha256="0" * 64),
        replace(ENGLISH, package="", path="/no/such/folder"),
    ],
)
def test_a_model_that_is_absent_or_different_is_an_error_for_every_text(model: LanguageModel) -> None:
    under = profile(model)
    with pytest.raises(DetectorError):
        detector().check(under)
    results, failure = detect([Field("f", "nothing")], under, [detector()])
    assert (results, failure) == ([], (ReasonCode.DETECTOR_ERROR, "names"))


def test_a_type_that_only_a_model_finds_is_an_error_without_one() -> None:
    with pytest.raises(DetectorError, match="language model"):
        detector().check(ScanProfile(("en",), ("PERSON",)))
    with pytest.raises(DetectorError, match="entity type"):
        patterns().check(ScanProfile(("en",), ("PERSON",)))


def test_files_that_are_pinned_and_no_model_are_an_error(tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(located(PACKAGE), copy)
    (copy / "ner" / "model").write_bytes(b"x")
    with pytest.raises(DetectorError, match="spaCy can't load"):
        detector().check(profile(replace(ENGLISH, package="", path=str(copy), sha256=files_sha256(copy))))


def test_spacy_is_loaded_by_the_first_model_alone() -> None:
    """Workers start without it (``slim_presidio``), and a model gets all of it afterwards."""
    program = (
        "import importlib, sys\n"
        "from streams.adapters.slim_presidio import without_spacy\n"
        "with without_spacy():\n"
        "    importlib.import_module('streams.adapters.presidio_catalogue')\n"
        "from tests.unit.streams.adapters.names.test_detector import detector, found\n"
        "detector()\n"
        "assert 'spacy' not in sys.modules\n"
        "assert ('PERSON', 'Tim Cook') in found('Then Tim Cook left.')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
