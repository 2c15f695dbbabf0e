"""What counts as personal data: numbers beside words and without, formats by country, and addresses of nobody."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.pii.checksums import luhn
from streams.adapters.pii.national import NATIONAL_NUMBERS, Alone, NationalNumber
from streams.adapters.presidio import PresidioDetector
from streams.adapters.presidio_profiles import SUPPORTED_LANGUAGES, UNADVISED_ENTITY_TYPES
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.unit.streams.adapters.pii.numbers import EXAMPLES

BY_CHECK = {number.check: number for number in NATIONAL_NUMBERS}
NATIONAL = [(BY_CHECK[passes], value) for passes, value in EXAMPLES if passes in BY_CHECK and passes is not luhn]
WRITTEN = {
    "HK_IDENTITY": lambda value: f"{value[:-1]}({value[-1]})",
    "CL_RUT": lambda value: f"{value[:-1]}-{value[-1]}",
}


@cache
def detector() -> PresidioDetector:
    return PresidioDetector()


@cache
def everything() -> ScanProfile:
    languages = tuple(sorted(SUPPORTED_LANGUAGES))
    types = detector().supported_entity_types(languages)
    return ScanProfile(languages, tuple(item for item in types if item not in UNADVISED_ENTITY_TYPES))


def types(text: str) -> set[str]:
    return {item.type for item in detector().scan([Field("text", text)], everything())}


def written(entity: str, value: str) -> str:
    return WRITTEN[entity](value) if entity in WRITTEN else value


@pytest.mark.parametrize(("number", "value"), NATIONAL)
def test_a_national_number_is_found_beside_each_of_its_words(number: NationalNumber, value: str) -> None:
    missed = [word for word in number.words if number.entity not in types(f"{word} {written(number.entity, value)}.")]
    assert not missed


@pytest.mark.parametrize(("number", "value"), NATIONAL)
def test_with_a_wrong_check_digit_it_is_not(number: NationalNumber, value: str) -> None:
    place = 3 if number.entity == "AT_SVNR" else len(value) - 1
    other = "5" if value[place] != "5" else "6"
    wrong = written(number.entity, value[:place] + other + value[place + 1 :])
    assert number.entity not in types(f"{number.words[0]} {wrong}.")


@pytest.mark.parametrize(("number", "value"), NATIONAL)
def test_without_a_word_it_is_found_only_where_chance_hardly_makes_one(number: NationalNumber, value: str) -> None:
    found = number.entity in types(f"it is {written(number.entity, value)} there")
    assert found == (number.alone is Alone.ALWAYS)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("o cliente 390.533.447-05 pagou", "BR_CPF"),
        ("empresa 16.727.230/0001-97", "BR_CNPJ"),
        ("klant 85.07.30-033.28 belde", "BE_NATIONAL_NUMBER"),
        ("pacient 710319/2745 dorazil", "CZ_SK_BIRTH_NUMBER"),
        ("клиент 112-233-445 95 принят", "RU_SNILS"),
        ("die Nummer 756.9217.0769.85 gilt", "CH_AHV"),
        ("patient 2 95 10 99 126 111 93 vu", "FR_NIR"),
        ("documento 12.345.678-Z", "ES_NIF"),
        ("Zahlung mit Karte 2387 3147 8932 8808", "CREDIT_CARD"),
        ("she was born on 12 March 1984", "DATE_OF_BIRTH"),
        ("date of birth is 22-nov-1972", "DATE_OF_BIRTH"),
        ("DVLA NO is MORGA 753116 SM91J 01", "UK_DRIVING_LICENCE"),
        ("NI number AZ 123 456 A", "UK_NINO"),
        ("Geburtsdatum: 12.03.1984", "DATE_OF_BIRTH"),
        ("生年月日は1984年3月12日です", "DATE_OF_BIRTH"),
        ("date de naissance 12/03/1984", "DATE_OF_BIRTH"),
        ("Reisepass C01X00T47 oder AB1234567", "PASSPORT"),
        ("номер паспорта: AB 1234567", "PASSPORT"),
        ("telefon +46-022-970-497", "PHONE_NUMBER"),
        ("전화 +82 23 8859 8514", "PHONE_NUMBER"),
        ("call (212) 555-0123 today", "PHONE_NUMBER"),
        ("Tel. 030 1234567", "PHONE_NUMBER"),
        ("Adresse: Otto-Rosenberg-Straße 61, Flöha", "STREET_ADDRESS"),
        ("Adresse: Feldweg 12, 04103 Leipzig", "STREET_ADDRESS"),
        ("Parcel goes to 642 Craigdoo Terrace, Abertillery.", "STREET_ADDRESS"),
        ("habite 1392 Rue Théophile Bader, Versailles", "STREET_ADDRESS"),
        ("su dirección Calle Río Genil, 74, Pamplona", "STREET_ADDRESS"),
        ("Spedire a 385 Viale Capo Mele, L'Aquila", "STREET_ADDRESS"),
        ("mieszka przy ul. Stelmachów 45, Wojnicz", "STREET_ADDRESS"),
        ("живёт: ул. Алабяна 74, Псков", "STREET_ADDRESS"),
        ("Adres: Aladoğan Caddesi 706, Sakarya", "STREET_ADDRESS"),
        ("Telefoon 12, adres Kruisbergseweg 63, Beets", "STREET_ADDRESS"),
        ("adresa Šebelova 151, Český Brod", "STREET_ADDRESS"),
        ("地址是天河街道263号", "STREET_ADDRESS"),
        ("住所は佐世保市3-11-72", "STREET_ADDRESS"),
        ("주소 작장대로 748, 강진군", "STREET_ADDRESS"),
    ],
)
def test_formats_by_country(text: str, kind: str) -> None:
    assert kind in types(text)


@pytest.mark.parametrize(
    "text",
    [
        "listening on http://127.0.0.1:8000/docs and [::1]:8000, bound to 0.0.0.0",
        "255.255.255.255 and ff02::1",
    ],
)
def test_addresses_of_nobody_are_none(text: str) -> None:
    assert types(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "her IP is 192.168.0.17",
        "IP: 2001:db8::17",
        "from 93.184.216.34",
        "the pod got 10.0.3.17",
        "as in 192.0.2.7",
        "mapped to ::ffff:192.168.1.1",
    ],
)
def test_an_address_of_some_machine_counts(text: str) -> None:
    assert types(text) == {"IP_ADDRESS"}


@pytest.mark.parametrize("domain", ["example.com", "example.org", "example.net"])
def test_an_address_at_a_documentation_domain_counts(domain: str) -> None:
    assert types(f"write to jane.doe@{domain}") == {"EMAIL_ADDRESS"}


@pytest.mark.parametrize("domain", ["host.invalid", "box.test", "printer.localhost", "svc.cluster.internal"])
def test_an_address_without_a_public_suffix_does_not(domain: str) -> None:
    assert types(f"write to jane.doe@{domain}") == set()


@pytest.mark.parametrize(
    "text",
    [
        "consumer lag 443881, offset 4896116755 at 1730462400123 ms",
        "SKU 209-740664, order 123-4567890-1234567, part 1234-5678-9012",
        "uuid 9014f0ee-e7b5-d71c-8107-17e7fc520fde in 721807 us",
        "ISBN 978-3-16-148410-0, at 52.520008, 13.404954, Chrome/120.0.6099.71",
        "ticket ABC123456 and part A12345678, cells A1 B22 and D333",
        "-rw-r--r-- 1 root root 20263 Nov 30 13:55, index 20edef5..5857437 100755",
        "Speicherplatz 100 GB, Arbeitsplatz 3, Schritt 7",
        "포트로 8000 연결, 버전으로 3 설치",
        "2 route GET, 3 cours API, 81.81 via ACH In",
    ],
)
def test_ordinary_numbers_are_nobodys(text: str) -> None:
    assert types(text) == set()


@pytest.mark.parametrize(("text", "kind"), [("121000358", "ABA_ROUTING_NUMBER"), ("BO12345678A", "DE_FUEHRERSCHEIN")])
def test_a_field_that_is_nothing_but_a_number_needs_no_word(text: str, kind: str) -> None:
    assert kind in types(f' "{text}".')
    assert kind not in types(f"took {text} of it")


@pytest.mark.parametrize("text", ["8000", "123456", "4096", "INV-12", "A1"])
def test_but_it_needs_a_form_or_a_check_digit(text: str) -> None:
    assert types(text) == set()


def test_words_count_on_both_sides_up_to_punctuation() -> None:
    assert "SE_PERSONNUMMER" in types("8112189876 är mitt personnummer")
    assert "SE_PERSONNUMMER" not in types("8112189876, och ett personnummer")


def test_a_short_word_stands_by_itself() -> None:
    assert "JP_MY_NUMBER" in types("my number 123456789018")
    assert "NL_BSN" in types("bsn 111222333")
    assert "NL_BSN" not in types("absnt 111222333")


@given(st.integers(min_value=10**8, max_value=10**15 - 1))
def test_bare_digits_in_a_sentence_are_no_number_of_a_person(number: int) -> None:
    assert types(f"value {number} ok") <= {"FR_NIR", "CREDIT_CARD"}
