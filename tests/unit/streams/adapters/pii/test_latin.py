"""A paragraph in another language in Latin letters is told by its function words; names, code and lists are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.pii.latin import WINDOW, LatinCheck
from streams.adapters.pii.latin_words import FUNCTION_WORDS, KIN
from streams.adapters.presidio import PresidioDetector
from streams.adapters.presidio_profiles import SUPPORTED_LANGUAGES
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import LanguageUnsupportedError

TEXTS = {
    "cs": "Plán byl schválen na poslední poradě a do konce týdne se musí dokončit, protože zákazník ho už potřebuje.",
    "da": "Planen blev godkendt på det sidste møde, og den skal være færdig i denne uge, men kunden har ikke svaret.",
    "de": (
        "Der Plan wurde in der letzten Sitzung genehmigt und muss bis zum Ende der Woche "
        "fertig sein, weil der Kunde ihn braucht."
    ),
    "es": (
        "El plan fue aprobado en la última reunión y debe estar terminado antes del "
        "viernes, porque el cliente lo necesita."
    ),
    "et": (
        "Plaan kiideti viimasel koosolekul heaks ja see peab olema valmis enne nädala "
        "lõppu, kuid klient ei ole veel vastanud."
    ),
    "fi": (
        "Suunnitelma hyväksyttiin viime kokouksessa ja sen on oltava valmis ennen viikon "
        "loppua, mutta asiakas ei ole vielä vastannut."
    ),
    "fr": (
        "Le plan a été approuvé lors de la dernière réunion et il doit être terminé "
        "avant vendredi, car le client en a besoin."
    ),
    "hr": (
        "Plan je odobren na zadnjem sastanku i mora biti gotov do kraja tjedna, ali "
        "kupac još nije odgovorio na našu poruku."
    ),
    "hu": (
        "A tervet az utolsó ülésen jóváhagyták, és a hét végére el kell készülnie, mert "
        "az ügyfélnek már szüksége van rá."
    ),
    "id": (
        "Rencana itu sudah disetujui dalam rapat terakhir dan harus selesai sebelum "
        "akhir minggu karena pelanggan tidak akan menunggu."
    ),
    "it": (
        "Il piano è stato approvato nella riunione di ieri e deve essere finito prima di "
        "venerdì, perché il cliente ne ha bisogno."
    ),
    "lt": (
        "Planas buvo patvirtintas per paskutinį susirinkimą ir turi būti baigtas iki "
        "savaitės pabaigos, nes klientas jau laukia jo."
    ),
    "nl": (
        "Het plan is in de laatste vergadering goedgekeurd en het moet voor het einde "
        "van de week klaar zijn, want de klant wacht."
    ),
    "pl": (
        "Plan został zatwierdzony na ostatnim spotkaniu i musi być gotowy do końca "
        "tygodnia, bo klient już na niego czeka."
    ),
    "pt": (
        "O plano foi aprovado na última reunião e deve estar pronto até sexta-feira, "
        "porque o cliente não pode esperar mais."
    ),
    "ro": (
        "Planul a fost aprobat la ultima ședință și trebuie să fie gata până la "
        "sfârșitul săptămânii, pentru că un client îl așteaptă."
    ),
    "sv": (
        "Planen godkändes på det senaste mötet och den ska vara klar i slutet av veckan, "
        "men kunden har inte svarat på vårt brev."
    ),
    "tr": (
        "Plan son toplantıda onaylandı ve hafta sonuna kadar bitmesi gerekiyor, çünkü "
        "müşteri bunu çok bekledi ama henüz cevap yok."
    ),
    "vi": (
        "Kế hoạch đã được phê duyệt trong cuộc họp trước và phải hoàn thành trước cuối "
        "tuần vì khách hàng không thể chờ thêm nữa."
    ),
}
NONE = [
    "The plan was approved in the last meeting and has to be done by Friday, since the customer needs it.",
    "Rückgabe: the field is called Straße, and the value is 'für alle'; see Größe in the table of Maße.",
    "Anna de la Cruz, Vincent van der Berg, Luis de los Santos, Jan van den Heuvel, Maria da Silva e Souza",
    (
        "José García, Łukasz Wójcik, Ömer Çelik, Žofia Nováková, Søren Ågård, Đorđe "
        "Šarić, Müjde Işık, Zoë Brontë, Ana Íñiguez"
    ),
    (
        "for i in range(10): print(i); const el = document.querySelector('#a'); let si = "
        "new Map(); del os.environ['x']; de = en"
    ),
    "de en fr es it nl pl pt sv tr da no fi cs sk hu ro hr sl et lv lt id ms vi af ca",
    "GET /api/v1/orders 200 12ms; POST /api/v1/users 201 40ms; DELETE /api/v1/orders/17 404 3ms; level=info msg=done",
    "See M. Milton, Bioestadistica para las ciencias de la salud, 1992: x = array([1, 2, 3]); y = array([4, 5, 6])",
    (
        "He said: 'Il piano è stato approvato.' That means that the plan was approved, "
        "and that we can go on with the work."
    ),
    "ve bir da de",
    "pl-PL, de-DE, fr-FR",
    "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor",
]


@pytest.mark.parametrize(("language", "text"), TEXTS.items())
def test_a_paragraph_is_foreign_where_its_language_is_missing(language: str, text: str) -> None:
    assert LatinCheck(["en"]).is_foreign(text)
    assert LatinCheck(["en", "ja"]).is_foreign(f"The notes of the meeting are these.\n\n{text}\n\nThen the build ran.")
    assert not LatinCheck(["en", language]).is_foreign(text)
    assert not LatinCheck([language]).is_foreign(text)
    assert not LatinCheck(SUPPORTED_LANGUAGES).is_foreign(text)


@pytest.mark.parametrize("text", NONE)
def test_names_code_lists_and_quotations_are_not(text: str) -> None:
    assert not LatinCheck(["en"]).is_foreign(text)
    assert not LatinCheck(["en", "de"]).is_foreign(text)
    assert not LatinCheck(SUPPORTED_LANGUAGES).is_foreign(text)


def test_english_is_foreign_to_others() -> None:
    assert LatinCheck(["ja"]).is_foreign(NONE[0])
    assert LatinCheck(["pl"]).is_foreign(NONE[0])


def test_a_stretch_is_found_in_the_midst_of_a_long_paragraph() -> None:
    english = "the build was run again and all of the tests are green now "
    text = english * 40 + TEXTS["pl"] + " " + TEXTS["pl"].upper() + " " + english * 40
    assert LatinCheck(["en"]).is_foreign(text)
    assert not LatinCheck(["en"]).is_foreign(english * 80)


@given(st.lists(st.sampled_from(sorted(FUNCTION_WORDS["en"])), min_size=1, max_size=3 * WINDOW))
def test_words_of_a_profile_are_never_foreign(words: list[str]) -> None:
    assert not LatinCheck(["en"]).is_foreign(" ".join(words))


@given(st.text(max_size=200))
def test_what_every_language_covers_is_looked_at_and_any_text_ends(text: str) -> None:
    assert LatinCheck(FUNCTION_WORDS).is_foreign(text) is False


def test_kin_are_languages_that_have_words() -> None:
    assert set().union(*KIN) <= FUNCTION_WORDS.keys() | {"sr", "ms"}


def test_the_detector_refuses_the_field() -> None:
    with pytest.raises(LanguageUnsupportedError):
        PresidioDetector().scan([Field("a", "fine"), Field("b", TEXTS["pl"])], ScanProfile(("en",), ("EMAIL_ADDRESS",)))
