"""Street addresses as languages write them: a word for a street, a name, a number.

The contract: data only. Each form comes with its hint, a word that is in every match, by which the index knows
where the form need not be tried. A word for a street that is a common word otherwise ("Platz", "run", the Korean
particle) counts only where a postcode or, in English, a place follows. Names are bounded in words and length.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class AddressForm(NamedTuple):
    """One way to write an address.

    Attributes:
        form: What matches, letters as written.
        hint: Words one of which is in every match; none where words do not tell.
    """

    form: str
    hint: str


_UP: Final = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪĮİĶŁĻŃŅŇŐŒŔŘŚŞŠȘŤŢȚŪŮŰŲŹŻŽΑ-ΩΆΈΉΊΌΎΏ"
_UP_CYRILLIC: Final = "А-ЯЁІЇЄҐ"
_NAME: Final = rf"[{_UP}][\w'’.-]{{0,24}}"
_NAMES: Final = rf"{_NAME}(?: [\w'’.-]{{1,24}}){{0,4}}"
_CYRILLIC_NAMES: Final = rf"[{_UP_CYRILLIC}][\w.-]{{0,24}}(?: [\w.-]{{1,24}}){{0,3}}"
_POSTCODE: Final = (
    rf",{{0,2}} (?:[A-Z]{{1,2}}-|ΤΚ )?"
    rf"(?:\d{{4,6}}(?: ?[A-Z]{{2}})?|\d{{3}} \d{{2}}|\d{{2}}-\d{{3}}|\d{{5}}-\d{{3}}),? [{_UP}]"
)
_PLACES: Final = rf"(?:, [{_UP}][\w'’.-]{{1,24}}(?: [{_UP}][\w'’.-]{{1,24}}){{0,2}}){{1,2}}"
_STATES: Final = (
    r",? (?:[A-Z]{2} \d{5}(?:-\d{4})?|[A-Z]{2},? [A-Z]\d[A-Z] ?\d[A-Z]\d|[A-Z]{2,3},? \d{4}"
    r"|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})(?![\w-])"
)
"""States with postcodes of the United States, Canada, and Australia, and postcodes of the United Kingdom."""
_PLACE: Final = rf"(?:{_POSTCODE}|, [{_UP}])"
_NUMBER: Final = r"\d{1,4} ?[a-zA-Z]?(?:[-/]\d{1,4})?(?![\w-])"
_BEFORE: Final = r"(?<![\w-])"
_NR: Final = r",? (?:(?:n|nr|no|núm|№|д|буд)[.ºo°:]{0,2} ?)?"


def _behind(streets: str, common: str) -> tuple[AddressForm, ...]:
    """Return forms whose word for a street ends the name: Germanic and Finnic compounds."""
    name = rf"{_BEFORE}{_NAME}(?: {_NAME})?"
    forms = [AddressForm(rf"{name}(?:{streets}) {_NUMBER}", rf"(?:{streets}) \d")]
    if common:
        forms.append(AddressForm(rf"{name}(?:{common}) {_NUMBER}(?={_POSTCODE})", rf"(?:{common}) \d"))
    return tuple(forms)


def _before(streets: str, names: str = _NAMES) -> tuple[AddressForm, ...]:
    """Return forms whose word for a street comes first: Romance and Slavic languages."""
    return (AddressForm(rf"{_BEFORE}(?:{streets}) ?{names}{_NR}{_NUMBER}", rf"(?:{streets}) ?"),)


def _number_first(streets: str, common: str) -> tuple[AddressForm, ...]:
    """Return forms that begin with the number and go on with the word for a street."""
    number = r"(?<![\w.,/-])\d{1,4}(?: ?bis| ?ter)?,? "
    hint = r"\d(?: ?bis| ?ter)?,? "
    join = r"(?:(?:de|du|des|la|le|les|degli|della|del|dei|delle) |l['’]|d['’])*"
    return (
        AddressForm(rf"{number}(?:{streets}) {join}{_NAMES}", rf"{hint}(?:{streets}) "),
        AddressForm(rf"{number}(?:{common}) {join}{_NAMES}(?={_POSTCODE})", rf"{hint}(?:{common}) "),
    )


_GERMAN: Final = _behind(
    " ?(?:[Ss]traße|[Ss]trasse|[Ss]tr\\.|[Aa]llee|[Gg]asse|[Cc]haussee)",
    " ?(?:[Ww]eg|[Pp]latz|[Rr]ing|[Dd]amm|[Uu]fer|brücke)",
)
_ENGLISH_STREETS: Final = (
    r"Street|St\.?|Avenue|Ave\.?|Road|Rd\.?|Boulevard|Blvd\.?|Lane|Ln\.?|Crescent|Terrace|Parkway|Pkwy\.?"
    "|Highway|Freeway"
)
_ENGLISH_COMMON: Final = (
    "Drive|Dr\\.?|Court|Ct\\.?|Place|Pl\\.?|Square|Sq\\.?|Way|Circle|Close|Row|Hill|Gardens|Grove|Mews|Creek|Landing|Run|Walk"
    "|Trail|Path|Alley|Plaza|Loop|Ridge|Heights|View|Park|Green|Point|Rise|Vale|Passage|Bay|Bend|Cove|Crossing|Field|Glen"
)
_ENGLISH_NAMES: Final = rf"(?<![\w.,/-])\d{{1,5}}[A-Za-z]? (?:{_NAME} ){{1,4}}?"

_HAN: Final = r"[\u4e00-\u9fff]"
_KANA_OR_HAN: Final = r"[\u3040-\u30ff\u4e00-\u9fff]"
_HYPHEN: Final = r"[-\u2010-\u2015\u2212ー]"
_KOREAN_STREET: Final = r"[가-힣]{1,12}(?:\d{1,3}(?:로|길|거리)|로|길|거리) ?\d{1,4}(?:번길 ?\d{1,4})?(?:-\d{1,3})?"

STREET_FORMS: Final[Mapping[str, tuple[AddressForm, ...]]] = {
    "bg": _before("ул\\.|улица|бул\\.|булевард", _CYRILLIC_NAMES),
    "da": _behind("gade|vej|vejen|gaden|allé|stræde", ""),
    "de": _GERMAN,
    "en": (
        AddressForm(rf"{_ENGLISH_NAMES}(?:{_ENGLISH_STREETS})(?![\w-])", rf" (?:{_ENGLISH_STREETS})"),
        AddressForm(rf"{_ENGLISH_NAMES}(?:{_ENGLISH_COMMON})(?=, [A-Z])", rf" (?:{_ENGLISH_COMMON}), "),
        AddressForm(
            rf"(?<![\w.,/-])(?:(?:Flat|Studio|Unit|Apt\.?|Suite) \d{{1,4}},? )?\d{{0,5}}[A-Za-z]? ?"
            rf"{_NAMES}{_PLACES}{_STATES}",
            r"[A-Z]{2} \d{5}|[A-Z]\d[A-Z] ?\d[A-Z]\d|[A-Z]{2,3},? \d{4}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}",
        ),
    ),
    "es": _before(
        r"(?:Calle|C/|Avenida|Avda\.?|Av\.|Paseo|Plaza|Carretera|Camino|Ronda|Travesía)(?: de(?: la| los| las|l)?)?"
    ),
    "el": _before("Οδός|οδός|Λεωφόρος|Λεωφ\\.|Λ\\."),
    "hu": _behind(" (?:utca|út|útja|tér|körút|sétány|köz|sor|dűlő|rakpart)", ""),
    "id": _before("Jalan|Jl\\.|Gang|Gg\\."),
    "ms": _before("Jalan|Jl\\.|Lorong|Persiaran"),
    "hr": _before("ulica|Ulica|trg|Trg"),
    "fi": _behind("katu|tie|kuja|polku|puistikko|bulevardi|kaari|ranta", ""),
    "fr": _number_first(
        "[Rr]ue|[Aa]venue|[Aa]v\\.|[Bb]oulevard|[Bb]d|[Ii]mpasse|[Cc]hemin|[Aa]llée|[Qq]uai",
        "[Pp]lace|[Rr]oute|[Ss]quare|[Vv]oie|[Cc]ours|[Pp]assage",
    ),
    "it": (
        *_number_first("Via|Viale|Piazza|Corso|Vicolo|Piazzale", "Largo|Strada"),
        *_before(
            r"(?:Via|Viale|Piazza|Corso|Vicolo|Piazzale|Largo|Contrada|Borgo|Strada|Rotonda|Canale|Stretto|Incrocio)"
            r"(?: (?:de|del|della|degli|dei|delle))?"
        ),
    ),
    "ja": (
        AddressForm(
            rf"{_HAN}{{1,6}}[市区町村郡]{_KANA_OR_HAN}{{0,10}} ?\d{{1,4}}(?:{_HYPHEN}\d{{1,4}}){{1,3}}",
            "[市区町村郡]",
        ),
        AddressForm(r"[\u4e00-\u9fff]{1,6}\d{1,2}丁目\d{1,3}(?:番|[-\u2010-\u2015])(?:地の?|\d{1,3}号?)?", "丁目"),
    ),
    "ko": (
        AddressForm(
            _KOREAN_STREET + r"(?=,? [가-힣]{1,8}[시구군동읍면](?![가-힣]))",
            "[로길리]",
        ),
        AddressForm(
            r"[가-힣]{1,8}[시구군동읍면] " + _KOREAN_STREET + r"(?!\d)",
            "[로길리]",
        ),
    ),
    "nl": _behind("straat|laan|gracht|plein|singel|steeg|kade", "weg|dijk|hof|buurt|pad"),
    "no": _behind("gate|gata|gaten|veien|vegen|vei", ""),
    "pl": _before(r"ul\.|al\.|pl\.|os\.|ulica|ulicy|aleja|alei|plac|osiedle|aleje"),
    "pt": _before(r"(?:Rua|Avenida|Av\.|Travessa|Praça|Rodovia|Alameda|Estrada)(?: (?:de|do|da|dos|das))?"),
    "ro": _before(r"str\.|Str\.|strada|Strada|bd\.|Bd\.|bulevardul|Bulevardul|aleea|Aleea|calea|Calea"),
    "ru": _before(
        r"ул\.|улица|улице|пр-т|проспект|пер\.|переулок|бульвар|б-р|шоссе|ш\.|наб\.|[Аа]ллея|алл\.|пр\.|пл\.|площадь",
        _CYRILLIC_NAMES,
    ),
    "sv": _behind("gatan|vägen|gata|stigen|gränd|torget|gränden", "väg|torg"),
    "tr": (
        AddressForm(
            rf"{_BEFORE}{_NAME}(?: {_NAME}){{0,2}} (?:Caddesi|Cad\.|Cd\.|Sokağı|Sokak|Sok\."
            rf"|Sk\.|Bulvarı|Blv\.|Mahallesi|Mah\.)"
            rf",? (?:No ?[:.]? ?)?{_NUMBER}",
            r"(?:Caddesi|Cad\.|Cd\.|Soka.{1,2}|Sok\.|Sk\.|Bulvar.|Blv\.|Mahallesi|Mah\.),? (?:No ?[:.]? ?)?\d",
        ),
    ),
    "uk": _before(
        r"вул\.|вулиця|вулиці|просп\.|проспект|пров\.|провулок|бульвар|площа|набережна|узвіз", _CYRILLIC_NAMES
    ),
    "zh": (
        AddressForm(
            r"[\u4e00-\u9fff]{1,12}[路街道巷弄条條段村] ?(?:\d{1,2}[段巷弄])?\d{1,5} ?[号號弄]",
            r"[路街道巷弄条條段村] ?\d{1,5} ?[号號弄段巷]",
        ),
    ),
}
"""By language: forms that need no word beside them."""

NAMED_FORM: Final = AddressForm(
    rf"{_BEFORE}(?:{_NAMES},? {_NUMBER}(?={_PLACE})|\d{{1,5}} {_NAMES}, [{_UP}][\w'’-]{{2,24}})",
    r"\d[a-zA-Z]?(?:[-/]\d{1,4})?,? |\d [^\n]{1,130}, ",
)
"""A name and a number, or the other way round, and a place: an address beside a word for one."""

ADDRESS_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "cs": ("adresa", "adrese", "bydliště", "bydlí", "bytem"),
    "da": ("adresse", "bor på"),
    "el": ("διεύθυνση", "κατοικεί", "διαμένει"),
    "et": ("aadress", "elab"),
    "hr": ("adresa", "stanuje"),
    "de": ("adresse", "anschrift", "wohnt", "wohnhaft"),
    "en": (
        "home address",
        "street address",
        "mailing address",
        "postal address",
        "lives at",
        "live at",
        "residing at",
        "parcel",
        "deliver",
        "ship to",
        "shipping address",
        "their address is",
        "my address is",
        "her address is",
        "his address is",
        "billing address",
        "address:",
    ),
    "es": ("dirección", "domicilio", "vive en", "enviar a", "entrega"),
    "fi": ("osoite", "asuu"),
    "fr": ("adresse postale", "habite", "domicile", "domicilié"),
    "hu": ("lakcím", "lakcíme", "lakik"),
    "it": ("indirizzo", "abita", "residente", "spedire", "consegna"),
    "nl": ("adres", "woont"),
    "no": ("adresse", "bor i"),
    "pl": ("adres", "mieszka", "zamieszk"),
    "pt": ("endereço", "morada", "mora em", "reside"),
    "ro": ("adresa", "domiciliu", "locuiește"),
    "sk": ("adresa", "bydlisko", "býva"),
    "sv": ("adress", "bor på"),
    "tr": ("adres",),
    "vi": ("địa chỉ",),
}
"""By language: words for an address."""
