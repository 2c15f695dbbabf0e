"""A stretch in a script that no language of the profile is written in is told; a word or a name is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.pii.scripts import SCRIPTS, ScriptCheck
from streams.adapters.presidio import PresidioDetector
from streams.adapters.presidio_profiles import SUPPORTED_LANGUAGES
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import LanguageUnsupportedError

TEXTS = {
    "ar": "تمت الموافقة على الخطة في الاجتماع الأخير",
    "bn": "গত বৈঠকে পরিকল্পনাটি অনুমোদন করা হয়েছিল",
    "el": "Το σχέδιο εγκρίθηκε στην τελευταία συνάντηση",
    "fa": "این برنامه در آخرین جلسه تصویب شد و ادامه دارد",
    "he": "התוכנית אושרה בישיבה האחרונה של הצוות המלא",
    "hi": "पिछली बैठक में योजना को मंजूरी दी गई थी",
    "ja": "前回の会議で計画が承認されました。",
    "ko": "지난 회의에서 계획이 승인되었습니다.",
    "ru": "План был утверждён на последнем совещании",
    "th": "แผนงานได้รับการอนุมัติในการประชุมครั้งที่แล้ว",
    "uk": "План було затверджено на останній нараді",
    "zh": "该计划在上次会议上获得批准，将于下周开始。",
}
NONE_OF_OURS = [
    "திட்டம் கடந்த கூட்டத்தில் அங்கீகரிக்கப்பட்டது",
    "გეგმა დამტკიცდა ბოლო შეხვედრაზე",
    "ծրագիրը հաստատվել է վերջին հանդիպմանը",
]


@pytest.mark.parametrize(("language", "text"), TEXTS.items())
def test_a_sentence_is_foreign_where_its_language_is_missing(language: str, text: str) -> None:
    assert ScriptCheck(["en", "de"]).is_foreign(text)
    assert ScriptCheck(["en", "de"]).is_foreign(f"The notes say: {text} Then the build ran.")
    assert not ScriptCheck(["en", language]).is_foreign(text)


@pytest.mark.parametrize("text", NONE_OF_OURS)
def test_a_script_of_no_profile_is_foreign_everywhere(text: str) -> None:
    assert ScriptCheck(SUPPORTED_LANGUAGES).is_foreign(text)


@pytest.mark.parametrize("text", ["", "π r²", "the name Иван Петров", "設定 is a label", "μs, Ω and Δ", "東京 (Tokyo)"])
def test_a_word_or_a_name_is_not(text: str) -> None:
    assert not ScriptCheck(["en"]).is_foreign(text)


@given(st.text(alphabet=st.characters(max_codepoint=0x24F)))
def test_latin_letters_never_are(text: str) -> None:
    assert not ScriptCheck(["zh"]).is_foreign(text)


def test_every_supported_language_has_a_script_or_latin_letters() -> None:
    latin = {"cs", "da", "de", "en", "es", "fi", "fr", "hu", "id", "it", "nl", "no", "pl", "pt", "ro", "sk", "sv"}
    latin |= {"et", "hr", "is", "lt", "lv", "ms", "sl"}
    latin |= {"tr", "vi"}
    assert SUPPORTED_LANGUAGES - set().union(*(script.languages for script in SCRIPTS.values())) == latin


def test_the_detector_refuses_the_field() -> None:
    detector = PresidioDetector()
    profile = ScanProfile(("en",), ("EMAIL_ADDRESS",))
    with pytest.raises(LanguageUnsupportedError):
        detector.scan([Field("a", "fine"), Field("b", TEXTS["ja"])], profile)
