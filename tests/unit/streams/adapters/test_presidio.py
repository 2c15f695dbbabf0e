"""Presidio behind the port: profiles, context, pieces of digests, offsets, and no network."""

from __future__ import annotations

import hashlib
import logging
import socket
from functools import cache
from typing import Never

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.adapters.presidio import PresidioDetector
from streams.adapters.presidio_profiles import SUPPORTED_LANGUAGES, UNADVISED_ENTITY_TYPES
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import DetectorError, LanguageUnsupportedError

CARD = "4111 1111 1111 1111"
MAIL = "bob@example.com"


@cache
def detector() -> PresidioDetector:
    return PresidioDetector()


def profile(*languages: str) -> ScanProfile:
    wanted = languages or tuple(sorted(SUPPORTED_LANGUAGES))
    types = detector().supported_entity_types(wanted)
    return ScanProfile(wanted, tuple(item for item in types if item not in UNADVISED_ENTITY_TYPES))


def find(*texts: str, under: ScanProfile | None = None) -> list[Finding]:
    fields = [Field(f"field[{index}]", text) for index, text in enumerate(texts)]
    return detector().scan(fields, under or profile())


def types(text: str, *languages: str) -> set[str]:
    return {item.type for item in find(text, under=profile(*languages))}


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        (f"Write to {MAIL}.", "en", "EMAIL_ADDRESS"),
        (f"Schreib an {MAIL}.", "ja", "EMAIL_ADDRESS"),
        (f"card {CARD}", "en", "CREDIT_CARD"),
        ("IBAN DE89 3704 0044 0532 0130 00", "fr", "IBAN_CODE"),
        ("host 88.198.17.4 answered", "en", "IP_ADDRESS"),
        ("call +1 212 555 0123", "en", "PHONE_NUMBER"),
        ("my phone is 2125550123", "en", "PHONE_NUMBER"),
        ("Handy 0151 2345678", "de", "PHONE_NUMBER"),
        ("電話 03-3213-1111 まで", "ja", "PHONE_NUMBER"),
        ("my social security number is 536-90-4399", "en", "US_SSN"),
        ("El DNI es 12345678Z.", "es", "ES_NIF"),
        ("PESEL 44051401359", "pl", "PL_PESEL"),
        ("hetu on 131052-308T", "fi", "FI_PERSONAL_IDENTITY_CODE"),
    ],
)
def test_personal_data_is_found_under_its_language(text: str, language: str, kind: str) -> None:
    assert kind in types(text, language)


@pytest.mark.parametrize(
    "text",
    [
        "The deployment is done and 14 tests of 2026-11-01 are green.",
        "build 20261101123456 took 1364650861 ticks, arXiv:2410.00752",
        "SKU 324-700481 restocked, $11,055.00 paid, request 39c0d032-3479-5347-783b-ea5c03479534",
        "etag 121cae7a7c8bfa029782932e04af68ab size 38280793",
    ],
)
def test_ordinary_numbers_are_none(text: str) -> None:
    assert types(text, "en") == set()


def test_digests_hold_no_personal_data() -> None:
    digests = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(2_000)]
    assert find(*digests) == []


def test_a_number_glued_to_a_word_is_still_found() -> None:
    assert "PL_PESEL" in types("PESEL44051401359", "pl")


def test_a_context_word_lifts_a_weak_pattern() -> None:
    assert "US_BANK_NUMBER" not in types("The count is 945456787654.", "en")
    assert "US_BANK_NUMBER" in types("My bank account number is 945456787654.", "en")


def test_a_weak_checksum_needs_a_context_word() -> None:
    assert types("It took 121000358 ticks.", "en") == set()
    assert "ABA_ROUTING_NUMBER" in types("The bank's routing number is 121000358.", "en")


def test_context_does_not_reach_across_fields() -> None:
    assert find("My bank account is", "945456787654", under=profile("en")) == []


def test_findings_are_at_the_characters_of_their_field() -> None:
    texts = ["Prüfe 🙂", f"日本語 {MAIL}", "", f"{MAIL}", f"x {CARD}"]
    found = find(*texts, under=profile("en"))
    spans = {(item.path, texts[int(item.path[6:-1])][item.start : item.end]) for item in found}
    assert spans == {("field[1]", MAIL), ("field[3]", MAIL), ("field[4]", CARD)}
    assert {item.category for item in found} == {Category.PII}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([MAIL, CARD, "word", "é", "12", " "]), min_size=1, max_size=6))
def test_fields_are_found_together_as_they_are_alone(texts: list[str]) -> None:
    under = ScanProfile(("en",), ("CREDIT_CARD", "EMAIL_ADDRESS"))
    alone = [
        (index, item.type, item.start, item.end) for index, text in enumerate(texts) for item in find(text, under=under)
    ]
    together = [(int(item.path[6:-1]), item.type, item.start, item.end) for item in find(*texts, under=under)]
    assert sorted(together) == sorted(alone)


def test_only_the_entity_types_of_the_policy_are_looked_for() -> None:
    under = ScanProfile(("en",), ("CREDIT_CARD",))
    assert [item.type for item in find(f"{MAIL} {CARD}", under=under)] == ["CREDIT_CARD"]


@pytest.mark.parametrize("languages", [(), ("tlh",), ("en", "tlh"), ("EN",), ("en-US",)])
def test_a_language_without_a_profile_is_refused(languages: tuple[str, ...]) -> None:
    with pytest.raises(LanguageUnsupportedError):
        detector().check(ScanProfile(languages, ("EMAIL_ADDRESS",)))


@pytest.mark.parametrize("entities", [(), ("PERSON",), ("EMAIL_ADDRESS", "PERSON"), ("ES_NIF",)])
def test_an_entity_type_that_nothing_finds_is_refused(entities: tuple[str, ...]) -> None:
    with pytest.raises(DetectorError):
        detector().check(ScanProfile(("en",), entities))


def test_every_language_has_a_profile_that_is_accepted() -> None:
    for language in SUPPORTED_LANGUAGES:
        detector().check(profile(language))


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Never:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert find("new@address.museum and bob@example.co.uk")


def test_nothing_of_a_text_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    under = profile("en", "de")
    with caplog.at_level(logging.DEBUG):
        find(f"{MAIL} {CARD} DE89 3704 0044 0532 0130 0?", under=under)
    assert caplog.text == ""


def test_long_prose_costs_no_more_than_its_length(benchmark_text: str) -> None:
    """Presidio's own IN_PAN pattern would take minutes here; a time-out of the test is its failure."""
    assert find(benchmark_text, under=profile("en")) == []


@pytest.fixture
def benchmark_text() -> str:
    return "The build is green, and the notes are in the usual place for whoever takes over. " * 800


def test_the_manifest_is_the_same_for_every_instance() -> None:
    assert PresidioDetector().manifest == detector().manifest
