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
    "et": ("EE",),
    "fa": ("IR",),
    "fi": ("FI",),
    "fr": ("FR", "BE", "CH", "CA"),
    "he": ("IL",),
    "hi": ("IN",),
    "hr": ("HR", "BA"),
    "hu": ("HU",),
    "id": ("ID",),
    "is": ("IS",),
    "it": ("IT", "CH"),
    "ja": ("JP",),
    "ko": ("KR",),
    "lt": ("LT",),
    "lv": ("LV",),
    "ms": ("MY",),
    "nl": ("NL", "BE"),
    "no": ("NO",),
    "pl": ("PL",),
    "pt": ("BR", "PT"),
    "ro": ("RO",),
    "ru": ("RU",),
    "sk": ("SK",),
    "sl": ("SI",),
    "sr": ("RS", "BA", "ME"),
    "sv": ("SE",),
    "th": ("TH",),
    "tr": ("TR",),
    "uk": ("UA",),
    "vi": ("VN",),
    "zh": ("CN", "TW", "HK"),
}
"""By language (ISO 639-1): the regions whose national telephone numbers are looked for."""

PHONE_CONTEXT: Final[Mapping[str, tuple[str, ...]]] = {
    "ar": ("هاتف", "جوال", "الهاتف", "موبايل", "تليفون", "محمول"),
    "bg": ("телефон",),
    "bn": ("ফোন", "মোবাইল"),
    "cs": ("telefon", "mobil", "tel"),
    "da": ("telefon", "mobil", "tlf", "mobilnummer"),
    "de": ("telefon", "handy", "mobil", "rufnummer", "tel.", "rückruf", "durchwahl", "tel"),
    "el": ("τηλέφωνο", "κινητό", "τηλ"),
    "en": (
        "phone",
        "tel.",
        "tel:",
        "fax",
        "mobile",
        "call me",
        "call us",
        "cell:",
        "my cell",
        "reach me",
        "whatsapp",
        "tel",
        "contact number",
        "contact no",
        "contact:",
        "phone number",
        "cellphone",
        "ring me",
        "text me",
    ),
    "es": ("teléfono", "telefono", "móvil", "movil", "celular", "fono", "llamar al", "llámame"),
    "et": ("telefon", "mobiil"),
    "fa": ("تلفن", "موبایل"),
    "fi": ("puhelin", "puh."),
    "fr": ("téléphone", "telephone", "portable", "tél.", "tel", "numéro de tél"),
    "he": ("טלפון", "נייד"),
    "hi": ("फ़ोन", "फोन", "मोबाइल"),
    "hr": ("telefon", "mobitel", "tel."),
    "hu": ("telefon", "mobil", "tel", "telefonszám"),
    "id": ("telepon", "ponsel", "hp", "no. hp", "nomor hp", "telp"),
    "is": ("sími", "síma", "farsími"),
    "it": ("telefono", "cellulare", "tel.", "cell.", "chiamare", "tel"),
    "ja": ("電話", "携帯", "tel", "連絡先"),
    "ko": ("전화", "휴대폰", "연락처"),
    "lt": ("telefonas", "tel.", "mobilus"),
    "lv": ("tālrunis", "tel.", "mobilais"),
    "ms": ("telefon",),
    "nl": ("telefoon", "mobiel", "gsm", "bel me", "tel"),
    "no": ("telefon", "mobil", "tlf", "mobilnummer"),
    "pl": ("telefon", "komórka", "tel.", "tel", "komórk"),
    "pt": ("telefone", "celular", "telemóvel", "tel", "fone"),
    "ro": ("telefon", "mobil", "tel"),
    "ru": ("телефон", "моб", "тел."),
    "sk": ("telefón", "mobil"),
    "sl": ("telefon", "mobitel", "tel."),
    "sr": ("telefon", "телефон", "mobilni"),
    "sv": ("telefon", "mobil", "tfn", "tel", "mobilnummer"),
    "th": ("โทร", "มือถือ", "เบอร์"),
    "tr": ("telefon", "cep", "gsm"),
    "uk": ("телефон", "моб", "тел."),
    "vi": ("điện thoại", "di động", "sđt", "đt"),
    "zh": ("电话", "電話", "手机", "手機", "联系方式", "联系电话"),
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
