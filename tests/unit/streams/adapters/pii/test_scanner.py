"""What counts as personal data: numbers beside words and without, formats by country, and addresses of nobody."""

from __future__ import annotations

from functools import cache
from typing import Never

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.pii.checksums import luhn
from streams.adapters.pii.national import NATIONAL_NUMBERS
from streams.adapters.pii.national_form import Alone, NationalNumber
from streams.adapters.pii.reading import readable
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
    "TH_TNIN": lambda value: f"{value[0]}-{value[1:5]}-{value[5:10]}-{value[10:12]}-{value[12]}",
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
    place = {"AT_SVNR": 3, "IS_KENNITALA": 8}.get(number.entity, len(value) - 1)
    other = "5" if value[place] != "5" else "6"
    wrong = written(number.entity, value[:place] + other + value[place + 1 :])
    assert number.entity not in types(f"{number.words[0]} {wrong}.")


@pytest.mark.parametrize(("number", "value"), NATIONAL)
def test_without_a_word_it_is_found_only_where_chance_hardly_makes_one(number: NationalNumber, value: str) -> None:
    shown = written(number.entity, value)
    expected = number.alone is Alone.ALWAYS or (number.alone is Alone.PUNCTUATED and not shown.isalnum())
    assert (number.entity in types(f"it is {shown} there")) == expected


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
        ("ship it to 898 Wilson Creek Apt. 586, Danielmouth, NS G6P 1M2", "STREET_ADDRESS"),
        ("she moved to Flat 18, Declan River, Clareside, LN0 9JS", "STREET_ADDRESS"),
        ("adresa: Kremnická 380, 757 91 Jilemnice", "STREET_ADDRESS"),
        ("lakcím: Nyíregyházai utca 137., Debrecen", "STREET_ADDRESS"),
        ("alamat: Jalan Pacuan Kuda No. 37, Lubuklinggau", "STREET_ADDRESS"),
        ("διεύθυνση: Λεχαίου 3, ΤΚ 43818 Κοζάνη", "STREET_ADDRESS"),
        ("地址：鳳山光華路6段23號0樓", "STREET_ADDRESS"),
        ("her contact number is (750)737-1911x75940", "PHONE_NUMBER"),
        ("téléphone 01 42 68 53 00 ext. 12", "PHONE_NUMBER"),
        ("llamar al +52 1 55 1234 5678", "PHONE_NUMBER"),
        ("tlf 22 33 44 55", "PHONE_NUMBER"),
        ("tfn 0946-342 69", "PHONE_NUMBER"),
        ("номер 8 (638) 613-29-31", "PHONE_NUMBER"),
        ("carte bancaire 676392628134", "CREDIT_CARD"),
        ("Kartennummer 30124691191946", "CREDIT_CARD"),
        ("paid 4012888888881881 12/27 123", "CREDIT_CARD"),
        ("plaque d'immatriculation AB-123-CD", "LICENSE_PLATE"),
        ("matrícula 1234 BCD", "LICENSE_PLATE"),
        ("kenteken 12-AB-34", "LICENSE_PLATE"),
        ("车牌 京A12345", "LICENSE_PLATE"),
        ("VIN 1HGCM82633A004352", "VIN"),
        ("Reisepassnummer C01X0006H", "PASSPORT"),
        ("CNH 62472927637", "BR_CNH"),
        ("cédula de ciudadanía 1.020.345.678", "LATAM_CEDULA"),
        ("DNI argentino 30.123.456", "AR_DNI"),
        ("CNIC 42201-1234567-1", "PK_CNIC"),
        ("MyKad 850412-14-5678", "MY_MYKAD"),
        ("his Emirates ID 784-1985-1234567-8", "AE_EMIRATES_ID"),
        ("personas kods 161175-19997", "LV_PERSONAS_KODS"),
        ("SIN 046 454 286", "CA_SIN"),
        ("KRA PIN A012345678Z", "KE_KRA_PIN"),
        ("運転免許証番号 305012345678", "JP_DRIVER_LICENSE"),
        ("eth wallet 0x52908400098527886E0F7030069857D2E4169EE7", "CRYPTO"),
        ("driver's license D1234567 (California)", "US_DRIVER_LICENSE"),
        ("member id XEA123456789", "US_HEALTH_INSURANCE_MEMBER_ID"),
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


def test_beside_a_word_no_numbering_plan_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object) -> Never:
        raise AssertionError("a text of nothing but numbers would cost that for each")

    profile = ScanProfile(("de",), ("PHONE_NUMBER",))
    detector().scanner(profile)
    monkeypatch.setattr("streams.adapters.pii.phones.phonenumbers.parse", asked)
    assert len(detector().scan([Field("text", "tel 030 1234567 " * 50)], profile)) == 50


DUMPS = [
    "SHA1 Fingerprint=AB:CD:EF:12:34:56:78:90:AB:CD:EF:12:34:56:78:90:AB:CD:EF:12",
    "MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
    "modulus: 00:c3:9b:1a:54:23:8d:ff:10:9e",
    "X509v3 Subject Key Identifier:\n    7f:45:4c:46:02:01:\n    01:00:00:00:3a:1f\n",
    "at 12:30:45-12:30:45 and 12:30:45:12:30:45, on 26-11-30-14-05-09",
    "01:23:45:67:89:ab:cd:ef is the WWN",
    "7f-45-4c-46-02-01-01-00-00-00",
    "fe80::12:34:56:78:9a:bc:1",
    "ff:ff:ff:ff:ff:ff, 00:00:00:00:00:00, 01:00:5e:00:00:fb and 33:33:00:00:00:01",
]


@pytest.mark.parametrize("text", DUMPS)
def test_bytes_and_times_are_no_address_of_a_card(text: str) -> None:
    assert types(text) <= {"IP_ADDRESS"}
    assert "MAC_ADDRESS" not in types(text)


@given(st.binary(min_size=7, max_size=40), st.sampled_from(":-"))
def test_more_bytes_than_six_are_never_one(content: bytes, between: str) -> None:
    assert types(f"bytes {content.hex(between)} end") == set()


@given(st.binary(min_size=6, max_size=6), st.sampled_from(":-"))
def test_six_bytes_beside_the_word_are_one_unless_nobodys(content: bytes, between: str) -> None:
    is_group = content[:3] == b"\x01\x00\x5e" or content[:2] == b"33" or len(set(content)) == 1
    assert types(f"mac {content.hex(between)} end") == {"MAC_ADDRESS"} or is_group


@pytest.mark.parametrize("text", ["3c:22:fb:9a:01:7e up", "eth0: 3C-22-FB-9A-01-7E", "mac 3c22.fb9a.017e"])
def test_six_bytes_are_a_card(text: str) -> None:
    assert types(text) == {"MAC_ADDRESS"}


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
        "ISBN-10 0-306-40615-2, order 100-4829-33821, sipariş no 20261130-42",
        "bbox 120 340 880 910 and grid 31U DQ 48251 11932",
        "GNU General Public License v2, GPL-2+-or-X11, drivers/media/i2c/vs6624.c",
        "DFARS 252.227-7013, handle 1895.22/1013, J. Optim. 79, 157-181 (1993)",
        "points (0.362568364506, 0.47271235) and (0.4831460674157303 + 0.2584269662)",
        "AVX512CD, AVX512BW and CAS 7732-18-5",
        "git@github.com:acme/repo.git was cloned",
        'curl -X POST -F "file=@printenv.pl" -F note=@notes.md -d @body.rs --data-binary=@run.sh',
        "recall policy recall-1, memberof-refint2, version-policy pydantic-v2",
        "the VMMMMMVDVMMMMMMMMVMVMVMV table",
        "12.345.678",
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


@pytest.mark.parametrize(
    ("text", "marked"),
    [("bc1" + "2" * 30, True), ("1" + "a" * 30, True), ("3" * 20 + "B" + "4" * 10, True), ("1" * 30, False)],
)
def test_what_is_in_a_coins_address_but_digits_is_seen(text: str, *, marked: bool) -> None:
    (rule,) = (rule for rule in detector().scanner(everything()).rules if rule.name == "CryptoRecognizer")
    assert [form.may_match(readable(text), marked=True) for form in rule.forms] == [marked]
