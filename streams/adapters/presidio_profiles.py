"""Which of Presidio's recognisers make a language profile, and which are left out and why.

The contract: a language is supported exactly when it has a row here. Presidio's country-specific recognisers belong
to their country's language in Presidio's own catalogue; its generic ones (e-mail, IBAN, cards, addresses of machines)
hold in any language; telephone numbers are read as those regions write them, and in international form everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PHONE_REGIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "ar": ("SA", "EG", "AE", "MA"),
    "bg": ("BG",),
    "bn": ("BD",),
    "cs": ("CZ",),
    "da": ("DK",),
    "de": ("DE", "AT", "CH"),
    "el": ("GR",),
    "en": ("US", "GB", "IN", "AU", "CA", "IE", "NZ", "ZA", "SG", "PH", "NG", "KE", "HK"),
    "es": ("ES", "MX", "AR", "CO", "CL", "PE"),
    "fa": ("IR",),
    "fi": ("FI",),
    "fr": ("FR", "BE", "CH", "CA"),
    "he": ("IL",),
    "hi": ("IN",),
    "hu": ("HU",),
    "id": ("ID",),
    "it": ("IT", "CH"),
    "ja": ("JP",),
    "ko": ("KR",),
    "nl": ("NL", "BE"),
    "no": ("NO",),
    "pl": ("PL",),
    "pt": ("BR", "PT"),
    "ro": ("RO",),
    "ru": ("RU",),
    "sk": ("SK",),
    "sv": ("SE",),
    "th": ("TH",),
    "tr": ("TR",),
    "uk": ("UA",),
    "vi": ("VN",),
    "zh": ("CN", "TW", "HK"),
}
"""By language (ISO 639-1): the regions whose national telephone numbers are looked for."""

PHONE_CONTEXT: Final[Mapping[str, tuple[str, ...]]] = {
    "ar": ("هاتف", "جوال", "الهاتف"),
    "bg": ("телефон",),
    "bn": ("ফোন", "মোবাইল"),
    "cs": ("telefon", "mobil"),
    "da": ("telefon", "mobil"),
    "de": ("telefon", "handy", "mobil", "rufnummer", "tel."),
    "el": ("τηλέφωνο", "κινητό"),
    "en": ("phone", "tel.", "tel:", "fax", "mobile", "call me", "call us", "cell:", "my cell", "reach me", "whatsapp"),
    "es": ("teléfono", "telefono", "móvil", "movil", "celular"),
    "fa": ("تلفن", "موبایل"),
    "fi": ("puhelin", "puh."),
    "fr": ("téléphone", "telephone", "portable", "tél."),
    "he": ("טלפון", "נייד"),
    "hi": ("फ़ोन", "फोन", "मोबाइल"),
    "hu": ("telefon", "mobil"),
    "id": ("telepon", "ponsel"),
    "it": ("telefono", "cellulare", "tel."),
    "ja": ("電話", "携帯"),
    "ko": ("전화", "휴대폰", "연락처"),
    "nl": ("telefoon", "mobiel"),
    "no": ("telefon", "mobil"),
    "pl": ("telefon", "komórka", "tel."),
    "pt": ("telefone", "celular", "telemóvel"),
    "ro": ("telefon", "mobil"),
    "ru": ("телефон", "моб", "тел."),
    "sk": ("telefón", "mobil"),
    "sv": ("telefon", "mobil"),
    "th": ("โทร", "มือถือ"),
    "tr": ("telefon", "cep"),
    "uk": ("телефон", "моб", "тел."),
    "vi": ("điện thoại", "di động"),
    "zh": ("电话", "電話", "手机", "手機"),
}
"""By language: words that make a run of digits a telephone number. Presidio's English list is not used: its "number",
"call" and "cell" are in every second log line."""

SUPPORTED_LANGUAGES: Final = frozenset(PHONE_REGIONS)

EXCLUDED_RECOGNIZERS: Final = frozenset(
    {
        "HuggingFaceNerRecognizer",  # needs a language model
        "BasicLangExtractRecognizer",  # asks a model over the network
    }
)

EXCLUDED_PATTERNS: Final = frozenset(
    {
        # Two unbounded look-aheads at every word: quadratic in prose without four digits in a row (64 KB: minutes),
        # and any ten characters of it are a match, at score 0.01.
        ("InPanRecognizer", "PAN (Low)"),
    }
)
"""(recogniser, pattern) pairs that are dropped."""

UNADVISED_ENTITY_TYPES: Final = frozenset(
    {
        "DATE_TIME",  # no personal data by itself; every second summary holds a date
        "URL",  # the same
        "UUID",  # the same
    }
)
"""Found where policy names them, but left out of the default policy: they block what is no leak."""
