"""National numbers that Presidio's catalogue lacks: form, check digits, and the words that stand beside them.

The contract: one row a number, with the languages whose profiles look for it (``national_form``).
"""

from __future__ import annotations

from typing import Final

from streams.adapters.pii import checksums as check
from streams.adapters.pii.national_europe import EUROPE
from streams.adapters.pii.national_form import Alone, D, E, NationalNumber
from streams.adapters.pii.national_world import WORLD

NATIONAL_NUMBERS: Final = (*EUROPE, *WORLD)

_MIXED: Final = r"(?=[A-Z\d]{0,8}[A-Z])(?=(?:[A-Z]{0,8}\d){4})[A-Z\d]{8,9}"
"""Letters among digits, as Germany's passports have them."""

_PASSPORT_WORDS: Final = {
    "ar": ("جواز",),
    "bg": ("паспорт",),
    "bn": ("পাসপোর্ট",),
    "cs": ("cestovní pas", "pasu", "číslo pasu"),
    "da": ("pasnummer", "pasnr"),
    "de": ("reisepass", "passnummer", "passnr"),
    "el": ("διαβατήριο", "διαβατηρίου"),
    "en": ("passport",),
    "es": ("pasaporte",),
    "et": ("passi number", "passi nr"),
    "fa": ("گذرنامه", "پاسپورت"),
    "fi": ("passi",),
    "fr": ("passeport",),
    "he": ("דרכון",),
    "hi": ("पासपोर्ट",),
    "hr": ("putovnic",),
    "hu": ("útlevél",),
    "id": ("paspor",),
    "is": ("vegabréf",),
    "it": ("passaporto",),
    "ja": ("パスポート", "旅券"),
    "ko": ("여권",),
    "lt": ("paso numeris", "paso nr", "pasas"),
    "lv": ("pases numurs", "pase"),
    "ms": ("pasport",),
    "nl": ("paspoort",),
    "no": ("passnummer",),
    "pl": ("paszport",),
    "pt": ("passaporte",),
    "ro": ("pașaport", "pasaport"),
    "ru": ("загранпаспорт", "паспорт"),
    "sk": ("cestovný pas", "číslo pasu"),
    "sl": ("potni list", "potnega lista"),
    "sr": ("pasoš", "пасош"),
    "sv": ("passnummer",),
    "th": ("หนังสือเดินทาง", "พาสปอร์ต"),
    "tr": ("pasaport",),
    "uk": ("закордонний паспорт", "паспорт"),
    "vi": ("hộ chiếu",),
    "zh": ("护照", "護照"),
}

PASSPORTS: Final = tuple(
    NationalNumber(
        "PASSPORT",
        (language,),
        D + r"(?:[A-Z]{1,3}[ -]?\d{6,8}|\d{2} ?\d{7}|\d{9}|\d{2}[A-Z]{2}\d{5}|" + _MIXED + ")" + E,
        check.any_number,
        Alone.NEVER,
        words,
    )
    for language, words in sorted(_PASSPORT_WORDS.items())
)
"""Passports of any state, beside the word for one."""

_PLATE: Final = (
    D + r"(?=(?:[ -]?[A-ZА-Я\d]){5,10}(?![\w-]))(?=(?:[A-ZА-Я][ -]?){0,4}\d)(?=(?:\d[ -]?){0,4}[A-ZА-Я])"
    r"[A-ZА-Я\d]{1,7}(?:[ -][A-ZА-Я\d]{1,4}){0,3}(?![\w-])"
    r"|[\u4e00-\u9fff][A-Z][ ·]?[A-Z\d]{5,6}(?![A-Za-z\d])"
)
"""Capitals and digits in up to four groups, five to ten in all; in China a province in front."""

_PLATE_WORDS: Final = {
    "ar": ("لوحة",),
    "cs": ("spz", "registrační značka", "poznávací značka"),
    "da": ("nummerplade", "registreringsnummer"),
    "de": ("kennzeichen", "nummernschild"),
    "el": ("πινακίδα", "αριθμός κυκλοφορίας"),
    "en": (
        "license plate",
        "licence plate",
        "number plate",
        "plate number",
        "registration plate",
        "plate no",
        "vehicle registration",
        "car registration",
    ),
    "es": ("matrícula", "matricula", "placas", "placa del"),
    "fi": ("rekisterinumero", "rekisteritunnus", "rekisterikilpi"),
    "fr": ("immatricul", "plaque"),
    "hr": ("registarska oznaka", "registracija vozila"),
    "hu": ("rendszám",),
    "id": ("plat nomor", "nomor polisi", "nopol"),
    "it": ("targa", "targata", "targato"),
    "nl": ("kenteken",),
    "no": ("registreringsnummer", "bilskilt", "skiltnummer"),
    "pl": ("rejestracyjn", "nr rej"),
    "pt": ("placa do", "placa:", "com placa", "de placa", "matrícula"),
    "ro": ("înmatriculare", "inmatriculare"),
    "ru": ("госномер", "гос. номер", "номерной знак", "гос номер"),
    "sk": ("ečv", "špz", "evidenčné číslo"),
    "sv": ("registreringsnummer", "regnr", "reg.nr"),
    "tr": ("plaka",),
    "uk": ("держномер", "номерний знак"),
    "vi": ("biển số",),
    "zh": ("车牌", "車牌"),
}

PLATES: Final = tuple(
    NationalNumber("LICENSE_PLATE", (language,), _PLATE, check.any_number, Alone.NEVER, words)
    for language, words in sorted(_PLATE_WORDS.items())
)
"""Plates of vehicles in any state, beside the word for one."""

_VEHICLE_WORDS: Final = {
    "de": ("fin", "fahrgestellnummer", "fahrzeug-identifizierungsnummer", "vin"),
    "en": ("vin", "vehicle identification", "chassis number", "chassis no"),
    "es": ("bastidor", "vin"),
    "fr": ("numéro de série", "numéro de châssis", "vin"),
    "it": ("telaio", "vin"),
    "nl": ("chassisnummer", "vin"),
    "pl": ("vin", "nadwozia"),
    "pt": ("chassi", "vin"),
    "ru": ("vin", "вин"),
    "sv": ("chassinummer", "vin"),
    "tr": ("şasi", "vin"),
}

VEHICLES: Final = tuple(
    NationalNumber("VIN", (language,), D + r"[A-HJ-NPR-Z\d]{13}\d{4}" + E, check.any_number, Alone.NEVER, words)
    for language, words in sorted(_VEHICLE_WORDS.items())
)
"""Vehicle identification numbers (ISO 3779), beside the word for one: those of Europe have no check digit."""
