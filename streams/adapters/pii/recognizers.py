"""Recognisers of our own, in Presidio's form: national numbers, passports, payment cards, dates of birth.

The contract: each is a ``PatternRecognizer``, so that Presidio's own engine can run it as this detector does. Forms
are bounded in length. Imported by worker processes alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

import phonenumbers
from presidio_analyzer import EntityRecognizer, Pattern, PatternRecognizer, RecognizerResult
from presidio_analyzer.predefined_recognizers import CreditCardRecognizer, ZaMobileNumberRecognizer

from streams.adapters.pii import checksums
from streams.adapters.pii.addresses import ADDRESS_WORDS, NAMED_FORM, STREET_FORMS, AddressForm
from streams.adapters.pii.context import ContextWords, Words
from streams.adapters.pii.national import NATIONAL_NUMBERS, PASSPORTS, PLATES, VEHICLES
from streams.adapters.pii.national_form import Alone, NationalNumber
from streams.adapters.pii.phones import WINDOW, telephone_numbers
from streams.adapters.pii.words import BIRTH_WORDS, CARD_WORDS

UNCHECKED_SCORE: Final = 0.2
"""Score of a number without check digits: a word beside it lifts it over the threshold."""

STREET_SCORE: Final = 0.5
"""Score of a street with its number."""

_SEPARATORS: Final = re.compile(r"[\s./()№-]+")
_EXACT_CASE: Final = int(re.DOTALL | re.MULTILINE)
_MONTHS: Final = r"(?:0?[1-9]|1[0-2])"
_DAYS: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_YEARS: Final = r"(?:19|20)\d{2}"
_YEAR: Final = rf"(?:{_YEARS}|\d{{2}})"
_NAMED: Final = r"[^\W\d_]{3,12}"
_CARD_FORM: Final = (
    r"(?<![\w-])(?<!\d[.,])(?:(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6[0245]\d{2}|35\d{2})(?:([ -]?)\d{4}(?:\1\d{4}){2})"
    r"|3[47]\d{2}([ -]?)\d{6}\2\d{5})(?![\w-])"
)


_ANY_CARD_FORM: Final = (
    r"(?<![\w-])(?<!\d[.,])(?:\d{12,19}|\d{4}([ -])\d{4}\1\d{4}(?:\1\d{1,4}){0,2}|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-])"
)


class NumberRecognizer(PatternRecognizer):
    """A national number: its form, and its check digits over what is left without separators."""

    def __init__(self, number: NationalNumber, language: str) -> None:
        self._check: Callable[[str], bool] | None = None if number.check is checksums.any_number else number.check
        super().__init__(
            supported_entity=number.entity,
            patterns=[Pattern(number.entity, number.form, UNCHECKED_SCORE)],
            context=list(number.words),
            supported_language=language,
            name=f"Own{number.entity}Recognizer",
            global_regex_flags=_EXACT_CASE,
        )
        self.alone = number.alone is Alone.ALWAYS
        self.alone_punctuated = number.alone is not Alone.NEVER

    def validate_result(self, pattern_text: str) -> bool | None:
        """Say whether the check digits are right; None where there are none."""
        if self._check is None:
            return None
        try:
            return self._check(_SEPARATORS.sub("", pattern_text).upper())
        except (ValueError, IndexError):
            return False


class CardRecognizer(CreditCardRecognizer):
    """Presidio's check over what is issued, by issuer and length; this needs no word beside it.

    Presidio's own pattern leaves out Mastercard's 2221 to 2720, and takes any 13 to 19 digits that begin with a one.
    """

    def __init__(self, language: str) -> None:
        super().__init__(
            patterns=[Pattern("issued ranges", _CARD_FORM, 0.3)],
            context=list(CARD_WORDS.get(language, ())),
            supported_language=language,
            name="OwnCardRecognizer",
        )
        self.alone = self.alone_punctuated = True


class NamedCardRecognizer(CreditCardRecognizer):
    """Whatever has a card's length and check digit beside a word for one: Maestro, Diners, JCB, cards of one state."""

    def __init__(self, language: str) -> None:
        super().__init__(
            patterns=[Pattern("any issuer", _ANY_CARD_FORM, 0.3)],
            context=list(CARD_WORDS.get(language, ())),
            supported_language=language,
            name="OwnNamedCardRecognizer",
        )
        self.alone = self.alone_punctuated = False


class BirthDateRecognizer(PatternRecognizer):
    """A full date beside a word for birth; a date alone is no one's."""

    def __init__(self, language: str) -> None:
        forms = (
            rf"(?<![\w./-]){_YEARS}([-./]){_MONTHS}\1{_DAYS}(?![\w-])",
            rf"(?<![\w./-])(?:{_DAYS}([-./]) ?{_MONTHS}|{_MONTHS}([-/]){_DAYS})(?:\1|\2) ?{_YEAR}(?![\w-])",
            rf"(?<![\w./-]){_DAYS}(?:st|nd|rd|th|er|\.|º)?(?: de| di)? {_NAMED}\.?,?(?: de| del)? {_YEARS}(?![\w-])",
            rf"(?<!\w){_NAMED}\.? {_DAYS}(?:st|nd|rd|th)?,? {_YEARS}(?![\w-])",
            rf"(?<![\w./-]){_DAYS}([-./ ]){_NAMED}\1{_YEAR}(?![\w-])",
            rf"{_YEARS} ?[年년] ?{_MONTHS} ?[月월] ?{_DAYS} ?[日일]",
        )
        super().__init__(
            supported_entity="DATE_OF_BIRTH",
            patterns=[Pattern(f"date {index}", form, 0.05) for index, form in enumerate(forms)],
            context=list(BIRTH_WORDS.get(language, ())),
            supported_language=language,
            name="OwnBirthDateRecognizer",
        )


class StreetAddressRecognizer(PatternRecognizer):
    """Street addresses in one language's forms; ``hints`` are in every match of the pattern in the same place."""

    def __init__(self, language: str, forms: tuple[AddressForm, ...], score: float, words: tuple[str, ...]) -> None:
        self.hints = tuple(form.hint for form in forms)
        super().__init__(
            supported_entity="STREET_ADDRESS",
            patterns=[Pattern(f"{language} {index}", form.form, score) for index, form in enumerate(forms)],
            context=list(words),
            supported_language=language,
            name=f"Own{language.title()}AddressRecognizer" if not words else "OwnNamedAddressRecognizer",
            global_regex_flags=_EXACT_CASE,
        )


class TelephoneRecognizer(EntityRecognizer):
    """Telephone numbers, as ``streams.adapters.pii.phones`` reads them; its one pattern is where it looks at all."""

    def __init__(self, language: str, regions: tuple[str, ...], words: tuple[str, ...]) -> None:
        self.supported_regions = regions
        self.patterns = [Pattern("window", WINDOW, 0.0)]
        super().__init__(
            supported_entities=["PHONE_NUMBER"],
            supported_language=language,
            name="PhoneRecognizer",
            context=list(words),
        )

    def load(self) -> None:
        """Load nothing."""

    def spans(self, text: str, context: Words) -> Iterator[tuple[int, int, float]]:
        """Return begin, end and score of what is found."""
        return telephone_numbers(text, context, self.supported_regions)

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[Any]:  # noqa: ANN401, ARG002 - Presidio's
        """Return the same as Presidio's results."""
        found = self.spans(text, _words_of(tuple(self.context or ())))
        return [RecognizerResult(self.supported_entities[0], start, end, score) for start, end, score in found]


@lru_cache(maxsize=32)
def _words_of(context: tuple[str, ...]) -> ContextWords:
    """Return the words of a recogniser, read once: Presidio's engine calls it for each text."""
    return ContextWords(context)


class ZaLineRecognizer(TelephoneRecognizer):
    """South Africa's numbers by kind of line, as Presidio tells them apart.

    Args:
        entity: ``ZA_MOBILE_NUMBER`` or ``ZA_TELEPHONE_NUMBER``.
    """

    LINES: Final = {"ZA_MOBILE_NUMBER": "mobile", "ZA_TELEPHONE_NUMBER": "telephone"}

    def __init__(self, entity: str) -> None:
        super().__init__("en", ("ZA",), ("phone", "telephone", "cellphone", "mobile", "landline", "tel.", "whatsapp"))
        self.supported_entities = [entity]
        self.name: str = f"Own{entity}Recognizer"
        self._line = self.LINES[entity]
        self._classify = ZaMobileNumberRecognizer()._classify  # noqa: SLF001 - the one place that tells them apart

    def spans(self, text: str, context: Words) -> Iterator[tuple[int, int, float]]:
        """Return begin, end and score of the numbers of its kind of line."""
        seen: dict[str, bool] = {}

        def is_of_line(number: str) -> bool:
            if number not in seen:
                seen[number] = self._is_of_line(number)
            return seen[number]

        return telephone_numbers(text, context, self.supported_regions, is_of_line)

    def _is_of_line(self, written: str) -> bool:
        try:
            number = phonenumbers.parse(written, "ZA")
        except phonenumbers.NumberParseException:
            return False
        return phonenumbers.region_code_for_number(number) == "ZA" and self._classify(number) == self._line


def own_recognizers(languages: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Return our recognisers with the language of each."""
    for number in (*NATIONAL_NUMBERS, *PASSPORTS, *PLATES, *VEHICLES):
        for language in number.languages:
            if language in languages:
                yield language, NumberRecognizer(number, language)
    for language in sorted(languages):
        yield language, CardRecognizer(language)
        yield language, NamedCardRecognizer(language)
        yield language, BirthDateRecognizer(language)
        if language in STREET_FORMS:
            yield language, StreetAddressRecognizer(language, STREET_FORMS[language], STREET_SCORE, ())
        if language in ADDRESS_WORDS:
            yield language, StreetAddressRecognizer(language, (NAMED_FORM,), 0.05, ADDRESS_WORDS[language])
