"""Whether what a recogniser matched is a finding: context words, coincidences, and addresses that are no person's.

The contract: a score from zero to one for every match, from ``SCORE_THRESHOLD`` on a finding. The rules, in order:

1. A piece of a longer run of letters and digits or of a dump of bytes, and an address of a machine that no person can
   have, is none.
2. A word beside the match adds Presidio's boost.
3. A field that is nothing but the match has no room for a word: its form, or its check digits, are enough, save for
   forms that any identifier has.
4. Groups of digits out of a longer row of them, and what reads as two times of day, need a word.
5. What ordinary numbers pass by coincidence needs one of the two: bare digits save where form and check digits are
   passed by fewer than one in five hundred, what is written in small letters where its kind is not, and the types in
   ``NEEDS_A_WORD``.
"""

from __future__ import annotations

import ipaddress
import re
from enum import Enum
from typing import Final

from streams.adapters.pii.around import Around
from streams.adapters.pii.dumps import is_bytes, is_dump
from streams.adapters.pii.rules import CERTAIN, Match, Rule


class Standing(Enum):
    """By what a match is a finding: nothing, a word beside it, a field of its own, or itself."""

    NONE = "none"
    BESIDE = "beside"
    WHOLE = "whole"
    ALONE = "alone"


SCORE_THRESHOLD: Final = 0.4
"""Lowest score that is a finding: what Presidio gives a weak pattern with a context word, and a telephone number.
Measured: docs/reference/scanning.md."""

CONTEXT_BOOST: Final = 0.35
CONTEXT_MINIMUM: Final = 0.4
"""Presidio's own (``LemmaContextAwareEnhancer``): what a word adds, and what it lifts to at least."""

FORM_MINIMUM: Final = 0.1
"""Lowest score of a pattern whose form alone is enough where a field holds nothing else."""

NEEDS_A_WORD: Final = frozenset(
    {
        "ABA_ROUTING_NUMBER",
        "AU_TFN",
        "DE_ID_CARD",
        "DE_LANR",
        "DE_PASSPORT",
        "DE_PLZ",
        "DE_TAX_ID",
        "IN_AADHAAR",
        "IT_VAT_CODE",
        "KR_DRIVER_LICENSE",
        "MEDICAL_LICENSE",
        "NG_VEHICLE_REGISTRATION",
        "SE_ORGANISATIONSNUMMER",
        "SE_PERSONNUMMER",
        "SG_UEN",
        "TR_LICENSE_PLATE",
        "UK_NHS",
        "UK_VEHICLE_REGISTRATION",
        "ZA_DRIVER_LICENSE",
        "ZA_INCOME_TAX_NUMBER",
        "ZA_LICENSE_PLATE",
        "ZA_PASSPORT",
    }
)
"""Types that Presidio is certain of and that ordinary text passes: one check digit, or none behind a common form."""

ANY_IDENTIFIER: Final = frozenset(
    {
        "AR_DNI",
        "BR_PIS",
        "BR_RG",
        "BR_VOTER",
        "CO_NIT",
        "FR_SIRET",
        "HR_OIB",
        "HU_IDENTITY_CARD",
        "KE_KRA_PIN",
        "LATAM_CEDULA",
        "LICENSE_PLATE",
        "LK_NIC",
        "MX_NSS",
        "NZ_IRD",
        "PASSPORT",
        "PL_REGON",
        "US_DRIVER_LICENSE",
        "US_HEALTH_INSURANCE_MEMBER_ID",
        "VIN",
    }
)
"""Types whose form every second identifier has: a field that holds nothing else tells none of them."""

AS_WRITTEN: Final = frozenset(
    {"CRYPTO", "DATE_TIME", "EMAIL_ADDRESS", "IBAN_CODE", "IP_ADDRESS", "MAC_ADDRESS", "URL", "UUID"}
)
"""Types of Presidio's that small letters are as good for; documents and plates are written in capitals."""

_BARE: Final = re.compile(r"\d+")
_SMALL: Final = re.compile(r"[a-z]")
_DIGIT: Final = re.compile(r"\d")
_ADDRESSES_OF_MACHINES: Final = frozenset({"IP_ADDRESS", "MAC_ADDRESS"})
_TIMES: Final = re.compile(
    r"(?:\d\d[-:])?(?:[01]\d|2[0-3])[-:][0-5]\d[-:][0-5]\d[-:](?:[01]\d|2[0-3])[-:][0-5]\d[-:][0-5]\d"
    r"|\d\d[-:](?:0[1-9]|1[0-2])[-:](?:0[1-9]|[12]\d|3[01])[-:](?:[01]\d|2[0-3])[-:][0-5]\d[-:][0-5]\d"
)
"""Two times of day, or a day and a time: six pairs as well."""
_LISTED_BEFORE: Final = re.compile(r"\d[ \u00a0]\Z")
_LISTED_BEHIND: Final = re.compile(r"[ \u00a0]\d")
_SPACED: Final = re.compile(r"[\d \u00a0]*\d[ \u00a0]\d[\d \u00a0]*")
_BROADCAST: Final = ipaddress.ip_address("255.255.255.255")
_FEWEST_DIGITS: Final = 2
_FEWEST_CHARACTERS: Final = 5
_ADDRESS_EXTRAS: Final = re.compile(r"%[0-9A-Za-z]+|/\d+$")


def judged(match: Match, around: Around) -> float:
    """Return the score of a match; below the threshold it is no finding."""
    rule, start, end, score = match
    standing = _standing(rule, around, start, end)
    score = _form_score(rule.entity, around, start, end, score) if standing is not Standing.NONE else 0.0
    if not score:
        return 0.0
    if standing is Standing.BESIDE:
        return min(CERTAIN, max(score + CONTEXT_BOOST, CONTEXT_MINIMUM))
    if standing is Standing.WHOLE:
        return 0.0 if rule.entity in ANY_IDENTIFIER else _alone(around.text[start:end], score)
    return score


def may_stand(rule: Rule, around: Around, start: int, end: int) -> bool:
    """Say whether a match may be a finding: no where its surroundings say no, whatever the recogniser's check says."""
    return _standing(rule, around, start, end) is not Standing.NONE


def _standing(rule: Rule, around: Around, start: int, end: int) -> Standing:
    """Say by what a match is a finding, if it is one; what costs least is asked first."""
    if not around.is_short and not around.has_words(rule.number):
        is_alone = _stands_without_a_word(rule, around.text, start, end) and not around.is_piece(start, end)
        return Standing.ALONE if is_alone else Standing.NONE
    if around.is_piece(start, end):
        return Standing.NONE
    if around.has_word_beside(rule.number, rule.context, start, end):
        return Standing.BESIDE
    if around.is_whole(start, end):
        return Standing.WHOLE
    return Standing.ALONE if _stands_without_a_word(rule, around.text, start, end) else Standing.NONE


def _stands_without_a_word(rule: Rule, text: str, start: int, end: int) -> bool:
    """Say whether a match in running text is a finding with no word beside it."""
    if _BARE.fullmatch(text, start, end):
        if not rule.alone:
            return False
    elif not rule.alone_punctuated:
        return False
    if not rule.any_case and _SMALL.search(text, start, end):
        return False
    if rule.entity in _ADDRESSES_OF_MACHINES and _TIMES.fullmatch(text, start, end):
        return False
    return rule.entity in AS_WRITTEN or not _is_listed(rule.entity, text, start, end)


def _alone(value: str, score: float) -> float:
    """Judge a match that is all there is: bare digits need check digits, or a pattern that was surer than any run."""
    if len(value) < _FEWEST_CHARACTERS or len(_DIGIT.findall(value)) < _FEWEST_DIGITS:
        return score
    least = CERTAIN if value.isdigit() else FORM_MINIMUM
    return max(score, CONTEXT_MINIMUM) if score >= least else score


def _form_score(entity: str, around: Around, start: int, end: int, score: float) -> float:
    """Judge what is an address of a machine, and what holds no digit; any other match keeps its score."""
    text = around.text
    if entity not in AS_WRITTEN and not _DIGIT.search(text, start, end):
        return 0.0
    if entity == "IP_ADDRESS":
        return score if around.answer(_is_of_some_machine, text[start:end]) else 0.0
    return 0.0 if entity == "MAC_ADDRESS" and is_dump(text, start, end) else score


def _is_of_some_machine(value: str) -> bool:
    """Say whether an address is one that a machine can have.

    Loopback, unspecified, broadcast and multicast addresses are nobody's. One of a private range is somebody's machine.
    """
    try:
        address = ipaddress.ip_address(_ADDRESS_EXTRAS.sub("", value))
    except ValueError:
        return False
    if is_bytes(value):
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return not (mapped.is_loopback or mapped.is_unspecified or mapped.is_multicast or mapped == _BROADCAST)


def _is_listed(entity: str, text: str, start: int, end: int) -> bool:
    """Say whether a number in groups of digits with spaces between is cut out of a longer row of such groups."""
    if not _SPACED.fullmatch(text, start, end):
        return False
    if _LISTED_BEFORE.search(text, max(0, start - 2), start):
        return True
    # Behind a card's number stand its expiry and its code.
    return entity != "CREDIT_CARD" and _LISTED_BEHIND.match(text, end) is not None
