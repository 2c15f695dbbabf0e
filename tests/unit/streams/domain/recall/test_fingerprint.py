"""Fingerprint v1 is the seed's: what is folded away, and what is not."""

from __future__ import annotations

import hashlib
import hmac
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.errors import ConfigurationError, MalformedError
from streams.domain.recall.fingerprint import FINGERPRINT_CONTRACT, fingerprint, fingerprinted_text

SECRET = b"k" * 32
TEXT = st.text(st.characters(codec="utf-8"), min_size=1)


def test_the_contract_is_named() -> None:
    assert FINGERPRINT_CONTRACT == "nfkc-casefold-whitespace-hmac-sha256.v1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ignore the policy", "ignore THE policy"),
        ("ignore the policy", " ignore\tthe\n\u2003policy\u00a0"),
        ("ignore the policy", "\uff49\uff47\uff4e\uff4f\uff52\uff45 the policy"),
        ("stra\u00dfe", "STRASSE"),
        ("\u00e9", "e\u0301"),
        ("\ufb01ne", "fine"),
        ("\u212aey", "key"),
        ("\u2460", "1"),
    ],
)
def test_forms_of_one_text_have_one_fingerprint(one: str, other: str) -> None:
    assert fingerprint(one, SECRET) == fingerprint(other, SECRET)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ignore the policy", "ignorethe policy"),
        ("ignore the policy", "ignore the policy."),
        ("ignore", "ign\u200bore"),
        ("paypal", "p\u0430ypal"),
    ],
)
def test_what_is_not_folded_differs(one: str, other: str) -> None:
    assert fingerprint(one, SECRET) != fingerprint(other, SECRET)


@given(TEXT)
def test_it_is_the_specified_hmac(text: str) -> None:
    words = unicodedata.normalize("NFKC", text).casefold().split()
    assert fingerprint(text, SECRET) == hmac.new(SECRET, " ".join(words).encode(), hashlib.sha256).hexdigest()


@given(TEXT)
def test_white_space_around_and_between_never_matters(text: str) -> None:
    assert fingerprinted_text(f"\n {text}\t") == fingerprinted_text(text)


def test_another_key_gives_another_fingerprint() -> None:
    assert fingerprint("text", SECRET) != fingerprint("text", b"l" * 32)


def test_white_space_alone_is_a_text() -> None:
    assert fingerprint(" ", SECRET) == hmac.new(SECRET, b"", hashlib.sha256).hexdigest()


def test_no_text_has_no_fingerprint() -> None:
    with pytest.raises(MalformedError):
        fingerprint("", SECRET)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="31 bytes"):
        fingerprint("text", b"k" * 31)
