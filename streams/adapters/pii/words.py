"""Context words for what has one form everywhere, by language, and further ones for Presidio's recognisers.

The contract: data only, in lower case. Checked against the development corpora, written by no native speakers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CARD_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "ar": ("بطاقة", "ائتمان"),
    "bg": ("карта", "картата"),
    "bn": ("কার্ড",),
    "cs": ("kartou", "karta", "karty"),
    "da": ("kort", "kortnummer", "betalingskort"),
    "de": ("kreditkarte", "karte", "kartennummer"),
    "el": ("κάρτα", "κάρτας"),
    "en": ("credit", "card", "visa", "mastercard", "amex", "pan"),
    "es": ("tarjeta", "crédito"),
    "fa": ("کارت",),
    "fi": ("kortti", "kortilla", "luottokort"),
    "fr": ("carte", "cb", "bancaire"),
    "he": ("כרטיס", "אשראי"),
    "hi": ("कार्ड",),
    "hu": ("kártya", "bankkártya"),
    "id": ("kartu",),
    "it": ("carta", "carta di credito"),
    "ja": ("カード",),
    "ko": ("카드",),
    "nl": ("kaart", "creditcard"),
    "no": ("kort", "kortnummer"),
    "pl": ("kartą", "karta", "karty", "karcie"),
    "pt": ("cartão", "cartao"),
    "ro": ("card", "cardul"),
    "ru": ("карта", "картой", "карты"),
    "sk": ("kartou", "karta", "karty"),
    "sv": ("kort", "kortnummer"),
    "th": ("บัตร",),
    "tr": ("kart", "kartı"),
    "uk": ("картка", "карткою", "картки"),
    "vi": ("thẻ",),
    "zh": ("卡号", "卡號", "信用卡", "银行卡"),
}

BIRTH_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "ar": ("تاريخ الميلاد", "ولد", "مواليد"),
    "bg": ("роден", "дата на раждане", "рождена"),
    "bn": ("জন্ম",),
    "cs": ("narozen", "datum narození"),
    "da": ("født", "fødselsdato", "fødselsdag"),
    "de": ("geboren", "geburtsdatum", "geburtstag", "geb."),
    "el": ("γέννησης", "γεννήθηκε"),
    "en": ("born", "birth", "dob", "d.o.b", "birthday", "birthdate"),
    "es": ("nacimiento", "nació", "nacido", "nacida", "cumpleaños"),
    "fa": ("تولد", "متولد"),
    "fi": ("syntynyt", "syntymäaika", "syntymäpäivä", "synt."),
    "fr": ("naissance", "né le", "née le", "né(e)", "anniversaire"),
    "he": ("תאריך לידה", "נולד"),
    "hi": ("जन्म",),
    "hu": ("született", "születési"),
    "id": ("lahir",),
    "it": ("nascita", "nato il", "nata il", "nato a", "compleanno"),
    "ja": ("生年月日", "誕生日", "生まれ"),
    "ko": ("생년월일", "생일", "출생"),
    "nl": ("geboren", "geboortedatum", "verjaardag"),
    "no": ("født", "fødselsdato", "fødselsdag"),
    "pl": ("urodzon", "urodzenia", "ur.", "urodziny"),
    "pt": ("nascimento", "nasceu", "nascido", "nascida", "aniversário"),
    "ro": ("născut", "nașterii", "naștere"),
    "ru": ("рождения", "родился", "родилась", "г.р."),
    "sk": ("narodený", "narodená", "dátum narodenia"),
    "sv": ("född", "födelsedatum", "födelsedag"),
    "th": ("วันเกิด", "เกิดเมื่อ"),
    "tr": ("doğum", "doğdu", "doğumlu"),
    "uk": ("народження", "народився", "народилася"),
    "vi": ("ngày sinh", "sinh ngày"),
    "zh": ("出生", "生日"),
}

EXTRA_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "AU_TFN": ("tax file",),
    "CA_SIN": ("social insurance",),
    "DE_KFZ": ("nummernschild", "wagen"),
    "DE_TAX_ID": ("steuer-id", "steuernummer", "tin", "tax id"),
    "ES_PASSPORT": ("pasaporte",),
    "IBAN_CODE": ("konto", "compte", "cuenta", "conto", "rekening", "счёт", "рахунок", "hesap", "口座", "账号", "계좌"),
    "IN_AADHAAR": ("आधार", "aadhar", "adhar"),
    "IN_PAN": ("पैन", "income tax"),
    "IP_ADDRESS": ("ips", "ip-adresse", "adresse ip", "dirección ip", "indirizzo ip", "endereço ip"),
    "IT_DRIVER_LICENSE": ("licence", "license"),
    "IT_FISCAL_CODE": ("c.f.", "codice"),
    "KR_RRN": ("주민등록번호", "주민번호", "resident number"),
    "PL_PESEL": ("numer pesel",),
    "SE_PERSONNUMMER": ("pnr", "id code", "identity code", "personal number", "pers.nr", "personnr", "fødselsnummer"),
    "SE_ORGANISATIONSNUMMER": ("org.nr", "organisation number"),
    "TH_TNIN": ("บัตรประชาชน", "ปชช", "เลขประจำตัว", "thai id"),
    "TR_NATIONAL_ID": ("tc", "t.c.", "kimlik", "tckn"),
    "UK_NHS": ("nhs number",),
    "UK_VEHICLE_REGISTRATION": ("car", "plate"),
    "US_SSN": ("social security", "ssn", "seguro social", "social-security"),
    "ZA_ID_NUMBER": ("id", "south african"),
}
"""Further words by entity type, for whoever writes of another country's number in his own language."""

WORDS_IN_MATCH: Final[Mapping[str, str]] = {
    "DE_HANDELSREGISTER": "hr[ab]",
    "US_CLAIM_NUMBER": "claim|clm",
    "US_PRESCRIPTION_NUMBER": "rx|prescription",
    "US_PRIOR_AUTHORIZATION_NUMBER": "auth|pa",
    "US_REFERRAL_NUMBER": "ref|inf",
}
"""What is in every match of Presidio's patterns, or in the words that they look for before it."""
