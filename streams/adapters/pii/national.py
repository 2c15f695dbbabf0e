"""National numbers that Presidio's catalogue lacks: form, check digits, and the words that stand beside them.

The contract: one row a number, with the languages whose profiles look for it. Of what is not ``Alone``, the words
beside it decide; they are in lower case, and ``streams.adapters.pii.context`` says how they match.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple

from streams.adapters.pii import checksums as check


class Alone(Enum):
    """When a number is a finding without a word beside it.

    Form and checks together have to be passed by fewer than about one in five hundred numbers of that form.
    """

    NEVER = "never"
    PUNCTUATED = "punctuated"
    ALWAYS = "always"


class NationalNumber(NamedTuple):
    """A number that a state gives to a person.

    Attributes:
        entity: Its entity type, as policy names it.
        languages: Whose profiles look for it (ISO 639-1).
        form: A regular expression, letters in upper case.
        check: Whether the number without separators is right; ``any_number`` where nothing can tell.
        alone: Whether it is a finding without a word beside it.
        words: The words beside it.
    """

    entity: str
    languages: tuple[str, ...]
    form: str
    check: Callable[[str], bool]
    alone: Alone
    words: tuple[str, ...]


_D = r"(?<![\w-])(?<!\d[./])"
"""Before a number: no letter, digit, hyphen, nor a digit with a dot or slash."""
_E = r"(?![\w-]|[./]\d)"
"""Behind it: the same."""

_RU_ID: Final = ("паспорт", "серия")

NATIONAL_NUMBERS: Final = (
    NationalNumber(
        "FR_NIR",
        ("fr",),
        _D
        + r"[1-478] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3}[ /]?(?:0[1-9]|[1-8]\d|9[0-7])"
        + _E,
        check.fr_nir,
        Alone.ALWAYS,
        ("sécurité sociale", "securite sociale", "nir", "numéro de sécu", "n° de sécu", "insee", "carte vitale"),
    ),
    NationalNumber(
        "BR_CPF",
        ("pt",),
        _D + r"\d{3}\.?\d{3}\.?\d{3}[-/]?\d{2}" + _E,
        check.br_cpf,
        Alone.PUNCTUATED,
        ("cpf", "cadastro de pessoas", "contribuinte", "documento"),
    ),
    NationalNumber(
        "BR_CNPJ",
        ("pt",),
        _D + r"\d{2}\.?\d{3}\.?\d{3}/?\d{4}-?\d{2}" + _E,
        check.br_cnpj,
        Alone.PUNCTUATED,
        ("cnpj", "empresa"),
    ),
    NationalNumber(
        "PT_NIF",
        ("pt",),
        _D + r"[1235689]\d{2}([ .]?)\d{3}\1\d{3}" + _E,
        check.pt_nif,
        Alone.NEVER,
        ("nif", "contribuinte", "identificação fiscal", "número fiscal"),
    ),
    NationalNumber(
        "NL_BSN",
        ("nl",),
        _D + r"\d{9}|" + _D + r"\d{4}[ .]\d{2}[ .]\d{3}" + _E + r"|" + _D + r"\d{3}[ .]\d{3}[ .]\d{3}" + _E,
        check.nl_bsn,
        Alone.NEVER,
        ("bsn", "burgerservicenummer", "sofinummer", "sofi-nummer", "sofi"),
    ),
    NationalNumber(
        "BE_NATIONAL_NUMBER",
        ("nl", "fr", "de"),
        _D + r"\d{2}[. ]?\d{2}[. ]?\d{2}[- ]?\d{3}[. ]?\d{2}" + _E,
        check.be_national,
        Alone.PUNCTUATED,
        ("rijksregister", "insz", "registre national", "numéro national", "niss", "nationalregister"),
    ),
    NationalNumber(
        "CZ_SK_BIRTH_NUMBER",
        ("cs", "sk"),
        _D + r"\d{2}(?:[0257][1-9]|[1368][0-2])(?:0[1-9]|[12]\d|3[01])/?\d{3,4}" + _E,
        check.cz_birth,
        Alone.PUNCTUATED,
        ("rodné číslo", "rodne cislo", "rodného čísla", "rodným číslom", "rodným číslem", "r. č.", "r.č.", "rč"),
    ),
    NationalNumber(
        "RU_INN", ("ru",), _D + r"\d{12}" + _E, check.ru_inn, Alone.NEVER, ("инн", "налогоплательщик", "inn")
    ),
    NationalNumber(
        "RU_SNILS",
        ("ru",),
        _D + r"\d{3}-?\d{3}-?\d{3}[- ]?\d{2}" + _E,
        check.ru_snils,
        Alone.PUNCTUATED,
        ("снилс", "страховой номер", "пенсионн", "snils"),
    ),
    NationalNumber(
        "RU_PASSPORT", ("ru",), _D + r"\d{2} ?\d{2}[ №]{0,3}\d{6}" + _E, check.any_number, Alone.NEVER, _RU_ID
    ),
    NationalNumber(
        "UA_RNOKPP",
        ("uk",),
        _D + r"\d{10}" + _E,
        check.ua_rnokpp,
        Alone.NEVER,
        ("рнокпп", "іпн", "ідентифікаційний", "податковий номер", "ідентифікаційного", "податків", "ипн"),
    ),
    NationalNumber(
        "UA_PASSPORT",
        ("uk",),
        _D + r"(?:[АВСЕНІКМОРТХЮABCEHIKMOPTX]{2} ?\d{6}|\d{9})" + _E,
        check.any_number,
        Alone.NEVER,
        ("паспорт", "серія", "id-картк", "passport"),
    ),
    NationalNumber(
        "CN_RESIDENT_ID",
        ("zh",),
        _D + r"[1-9]\d{5} ?(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]) ?\d{3}[\dX]" + _E,
        check.cn_resident,
        Alone.ALWAYS,
        ("身份证", "身份證", "公民身份", "证件号", "resident identity"),
    ),
    NationalNumber(
        "TW_IDENTITY",
        ("zh",),
        _D + r"[A-Z][1289]\d{8}" + _E,
        check.tw_identity,
        Alone.NEVER,
        ("身分證", "身份證", "統一編號", "身分证", "台湾", "臺灣", "居留證"),
    ),
    NationalNumber(
        "HK_IDENTITY",
        ("zh", "en"),
        _D + r"[A-Z]{1,2}\d{6} ?\([0-9A]\)",
        check.hk_identity,
        Alone.ALWAYS,
        ("身份證", "香港", "hkid", "hong kong"),
    ),
    NationalNumber(
        "JP_MY_NUMBER",
        ("ja",),
        _D + r"\d{4}[- ]?\d{4}[- ]?\d{4}" + _E,
        check.jp_my_number,
        Alone.NEVER,
        ("マイナンバー", "個人番号", "my number"),
    ),
    NationalNumber(
        "NO_FODSELSNUMMER",
        ("no",),
        _D + r"[0-7]\d[0-5]\d{3}[ -]?\d{5}" + _E,
        check.no_identity,
        Alone.PUNCTUATED,
        ("fødselsnummer", "fodselsnummer", "personnummer", "d-nummer", "fnr"),
    ),
    NationalNumber(
        "DK_CPR",
        ("da",),
        _D + r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}[- ]?\d{4}" + _E,
        check.dk_cpr,
        Alone.NEVER,
        ("cpr", "personnummer", "cpr-nummer", "cpr-nr"),
    ),
    NationalNumber(
        "RO_CNP",
        ("ro",),
        _D + r"[1-9]\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{6}" + _E,
        check.ro_cnp,
        Alone.NEVER,
        ("cnp", "cod numeric personal", "codul numeric"),
    ),
    NationalNumber(
        "GR_AMKA",
        ("el",),
        _D + r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{7}" + _E,
        check.gr_amka,
        Alone.NEVER,
        ("αμκα", "amka", "κοινωνικής ασφάλισης"),
    ),
    NationalNumber(
        "GR_AFM", ("el",), _D + r"\d{9}" + _E, check.gr_afm, Alone.NEVER, ("αφμ", "α.φ.μ.", "afm", "φορολογικ")
    ),
    NationalNumber(
        "HU_TAJ",
        ("hu",),
        _D + r"\d{3}([ -]?)\d{3}\1\d{3}" + _E,
        check.hu_taj,
        Alone.NEVER,
        ("taj", "társadalombiztosítás"),
    ),
    NationalNumber(
        "HU_TAX_ID", ("hu",), _D + r"8\d{9}" + _E, check.hu_tax, Alone.NEVER, ("adóazonosító", "adóazonosit", "adószám")
    ),
    NationalNumber(
        "CH_AHV",
        ("de", "fr", "it"),
        _D + r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}" + _E,
        check.ch_ahv,
        Alone.ALWAYS,
        ("ahv", "avs", "sozialversicherung", "assurance sociale"),
    ),
    NationalNumber(
        "AT_SVNR",
        ("de",),
        _D + r"[1-9]\d{3}[ -]?(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}" + _E,
        check.at_svnr,
        Alone.NEVER,
        ("sozialversicherung", "svnr", "sv-nummer", "versicherungsnummer", "sv-nr"),
    ),
    NationalNumber(
        "IL_IDENTITY",
        ("he",),
        _D + r"\d{9}" + _E,
        check.il_identity,
        Alone.NEVER,
        ("תעודת זהות", "ת.ז", "ת״ז", "מספר זהות"),
    ),
    NationalNumber(
        "BG_EGN",
        ("bg",),
        _D + r"\d{2}[0-5]\d[0-3]\d{5}" + _E,
        check.bg_egn,
        Alone.NEVER,
        ("егн", "единен граждански", "egn"),
    ),
    NationalNumber(
        "ES_NUSS",
        ("es",),
        _D + r"\d{2}[ /-]?\d{8}[ /-]?\d{2}" + _E,
        check.es_nuss,
        Alone.NEVER,
        ("seguridad social", "nuss", "naf", "afiliación", "afiliacion"),
    ),
    NationalNumber(
        "ES_NIF",
        ("es",),
        _D + r"(?:\d{2}\.\d{3}\.\d{3}|\d{8}|[XYZ][ -]?\d{7})[ -]?[A-HJ-NP-TV-Z]" + _E,
        check.es_dni,
        Alone.ALWAYS,
        ("dni", "nif", "nie", "identidad"),
    ),
    NationalNumber(
        "MX_CURP",
        ("es",),
        _D + r"[A-ZÑ]{4}\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[HMX][A-ZÑ]{5}[A-Z0-9]\d" + _E,
        check.mx_curp,
        Alone.ALWAYS,
        ("curp",),
    ),
    NationalNumber(
        "MX_RFC",
        ("es",),
        _D + r"[A-ZÑ&]{3,4}[ -]?\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[ -]?[A-Z0-9]{2}[\dA]" + _E,
        check.mx_rfc,
        Alone.ALWAYS,
        ("rfc", "registro federal", "contribuyente"),
    ),
    NationalNumber(
        "AR_CUIT",
        ("es",),
        _D + r"(?:2[03457]|3[034])-?\d{8}-?\d" + _E,
        check.ar_cuit,
        Alone.PUNCTUATED,
        ("cuit", "cuil"),
    ),
    NationalNumber(
        "CL_RUT",
        ("es",),
        _D + r"(?:\d{1,2}\.\d{3}\.\d{3}|\d{7,8})-[\dK]" + _E,
        check.cl_rut,
        Alone.NEVER,
        ("rut", "run", "rol único", "chilen"),
    ),
    NationalNumber(
        "PL_NIP",
        ("pl",),
        _D + r"(?:\d{3}-\d{3}-\d{2}-\d{2}|\d{3}-\d{2}-\d{2}-\d{3}|\d{10})" + _E,
        check.pl_nip,
        Alone.PUNCTUATED,
        ("nip", "identyfikacji podatkowej"),
    ),
    NationalNumber(
        "PL_IDENTITY_CARD",
        ("pl",),
        _D + r"[A-Z]{3} ?\d{6}" + _E,
        check.pl_identity_card,
        Alone.NEVER,
        ("dowód", "dowodu", "dowod", "seria i numer"),
    ),
    NationalNumber(
        "IR_NATIONAL_CODE",
        ("fa",),
        _D + r"\d{3}-?\d{6}-?\d" + _E,
        check.ir_national,
        Alone.NEVER,
        ("کد ملی", "شماره ملی", "کدملی"),
    ),
    NationalNumber(
        "SA_NATIONAL_ID",
        ("ar",),
        _D + r"[12]\d{9}" + _E,
        check.luhn,
        Alone.NEVER,
        ("الهوية", "هوية", "إقامة", "الإقامة"),
    ),
    NationalNumber(
        "EG_NATIONAL_ID",
        ("ar",),
        _D + r"[23]\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:0[1-4]|[1-3]\d|88)\d{5}" + _E,
        check.eg_national,
        Alone.NEVER,
        ("الرقم القومي", "رقم قومي", "القومي", "بطاقة"),
    ),
    NationalNumber(
        "ID_NIK",
        ("id",),
        _D + r"[1-9]\d{5}[0-7]\d(?:0[1-9]|1[0-2])\d{6}" + _E,
        check.id_nik,
        Alone.NEVER,
        ("nik", "ktp", "nomor induk", "kependudukan"),
    ),
    NationalNumber(
        "VN_CCCD",
        ("vi",),
        _D + r"0\d{2}[0-9]\d{8}" + _E,
        check.any_number,
        Alone.NEVER,
        ("cccd", "căn cước", "cmnd", "chứng minh"),
    ),
    NationalNumber(
        "BD_NID",
        ("bn",),
        _D + r"(?:\d{10}|\d{13}|\d{17})" + _E,
        check.any_number,
        Alone.NEVER,
        ("জাতীয় পরিচয়", "এনআইডি", "nid"),
    ),
    NationalNumber(
        "UK_DRIVING_LICENCE",
        ("en",),
        _D + r"[A-Z]{1,5}9{0,4} ?\d{3} ?\d{3} ?[A-Z][A-Z9] ?\d[A-Z0-9]{2}(?: ?\d{2})?" + _E,
        check.any_number,
        Alone.NEVER,
        ("dvla", "driving licence", "driving license", "driver's licence", "licence number", "license number"),
    ),
    NationalNumber(
        "UK_NINO",
        ("en",),
        _D + r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{3} ?\d{3} ?[A-D]" + _E,
        check.any_number,
        Alone.NEVER,
        ("national insurance", "nino", "ni number", "ni no"),
    ),
    NationalNumber(
        "IE_PPS",
        ("en",),
        _D + r"\d{7}[A-W][A-IW]?" + _E,
        check.any_number,
        Alone.NEVER,
        ("pps", "ppsn", "personal public service"),
    ),
)

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
    "fa": ("گذرنامه", "پاسپورت"),
    "fi": ("passi",),
    "fr": ("passeport",),
    "he": ("דרכון",),
    "hi": ("पासपोर्ट",),
    "hu": ("útlevél",),
    "id": ("paspor",),
    "it": ("passaporto",),
    "ja": ("パスポート", "旅券"),
    "ko": ("여권",),
    "nl": ("paspoort",),
    "no": ("passnummer",),
    "pl": ("paszport",),
    "pt": ("passaporte",),
    "ro": ("pașaport", "pasaport"),
    "ru": ("загранпаспорт", "паспорт"),
    "sk": ("cestovný pas", "číslo pasu"),
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
        _D + r"(?:[A-Z]{1,2}[ -]?\d{6,8}|\d{2} ?\d{7}|\d{9}|\d{2}[A-Z]{2}\d{5})" + _E,
        check.any_number,
        Alone.NEVER,
        words,
    )
    for language, words in sorted(_PASSPORT_WORDS.items())
)
"""Passports of any state, beside the word for one."""
