"""What values look like: passwords of plain words, strong words, patterns, paths, public keys."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.secrets.judging import Judge, is_secret
from streams.adapters.secrets.values import (
    is_filler,
    is_passphrase,
    is_public,
    is_strong,
    is_words_password,
    names_password,
    numbers_a_thing,
    reads_as_identifier,
    reads_as_path,
    reads_as_pattern,
)
from streams.adapters.secrets.words import FILLER


@pytest.mark.parametrize("name", ["password", "db_password", "dbPass", "SMTP_PASS", "storepass", "Kennwort", "pwd2"])
def test_names_of_passwords(name: str) -> None:
    assert names_password(name)


@pytest.mark.parametrize("name", ["token", "api_key", "bypass", "compass", "password_url", "secret", ""])
def test_names_of_something_else(name: str) -> None:
    assert not names_password(name)


@pytest.mark.parametrize("value", ["tulipgarden", "quietRiver", "open_sesame", "Regenbogen", "snowball-in-june"])
def test_words_that_only_a_password_has(value: str) -> None:
    assert is_words_password(value)
    assert is_secret(Judge.QUOTED, value, "db_password")
    assert is_secret(Judge.PAIRED, value, "password")
    assert not is_secret(Judge.QUOTED, value, "token")
    assert not is_secret(Judge.COMPARED, value, "db_password")


@pytest.mark.parametrize(
    "value", ["userPassword", "PasswordField", "hash_password", "incorrect", "string", "postgres", "Passwort", "secret"]
)
def test_words_that_code_and_labels_have(value: str) -> None:
    assert not is_words_password(value)
    assert not is_secret(Judge.QUOTED, value, "db_password")


@given(st.lists(st.sampled_from(sorted(word for word in FILLER if word.isascii())), min_size=1, max_size=5))
def test_what_is_made_of_filler_is_no_password_however_it_is_joined(words: list[str]) -> None:
    for value in ("".join(words), "_".join(words), "-".join(words), " ".join(words)):
        assert not is_words_password(value) or not is_filler(value)
        assert not is_passphrase(value)
    assert not is_words_password("_".join(words))


@pytest.mark.parametrize("value", ["mariposa azul", "maple syrup tuesday", "orange juice 9"])
def test_passphrases(value: str) -> None:
    assert is_passphrase(value)


@pytest.mark.parametrize("value", ["Enter your password", "must not be blank", "is too short", "Hello World", "one"])
def test_labels_and_messages_are_no_passphrases(value: str) -> None:
    assert not is_passphrase(value)


@given(st.text(string.ascii_letters + string.digits, max_size=20))
def test_letters_and_digits_in_no_order_are_strong(body: str) -> None:
    assert is_strong(f"kX7rT2{body}q9Z")


@pytest.mark.parametrize(
    "value",
    [
        *("Argon2id", "PBKDF2-SHA256", "OAuth2Client", "2023-04-01T10:00:00Z", "UserProfile2Form", "dfsg1-1+deb12u1"),
        *("us-east-1", "https://a.example/X2y4", "report-2023-v2.pdf", "summer2031", "RFC6749"),
    ],
)
def test_names_of_things_are_not(value: str) -> None:
    assert not is_strong(value)


@pytest.mark.parametrize("value", [r"^[A-Za-z0-9@#]{8,}$", r"[-!#$%0-9a-zA-Z]+", r"(?=.*\d).{8,}", r"\d{4}", "^.+$"])
def test_patterns(value: str) -> None:
    assert re.compile(value).pattern == value
    assert reads_as_pattern(value)


def test_a_description_of_what_a_key_is_made_of_is_none() -> None:
    assert not is_secret(Judge.QUOTED, "scope/segment/part, in the partition of scope/segment", "LEDGER_KEY")


def test_a_letter_that_json_escapes_makes_no_password_of_a_word() -> None:
    assert not is_secret(Judge.NEXT, "j\\u00e1", "senha")
    assert not is_secret(Judge.SPOKEN, "est\\u00e1vel", "senha")


def test_paths_of_words_and_passwords_with_slashes() -> None:
    assert reads_as_path("uploads/2023/11/report-final-v3.pdf")
    assert reads_as_path("prod/db/main-v2")
    assert not reads_as_path("kX7/rT2pQ9")


def test_short_hexadecimal_numbers_something_and_public_keys_are_public() -> None:
    assert numbers_a_thing("8e4b8ca8cf2c67")
    assert not numbers_a_thing("8e4b8ca8cf2c678e4b8ca8cf2c67")
    assert is_public("MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=")
    assert not is_secret(Judge.LITERAL, "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=")


def test_signs_with_a_letter_are_a_password_and_signs_alone_are_none() -> None:
    assert not is_filler("A,.:-@*?!;")
    assert is_filler(",.:-@*?!;")


def test_dated_names_and_paths_with_versions() -> None:
    assert all(map(reads_as_identifier, ("user_2024_orders", "deps-v3", "orders#2024-01-31")))
    assert not reads_as_identifier("user_2024ordersX9")
    assert reads_as_path("/usr/local/lib/python3.11")
    assert not reads_as_path("/kX7!rT2pQ9/9Zq")


@pytest.mark.parametrize("value", [").{0,40}(?:https?", "A-Za-z0-9_-", "parola.{0,70}", r"\d+[a-z0-9]"])
def test_patterns_that_speak_of_passwords_hold_none(value: str) -> None:
    assert reads_as_pattern(value)
    for judge in (Judge.SPOKEN, Judge.NEXT, Judge.NEAR, Judge.QUOTED_PROSE):
        assert not is_secret(judge, value)


def test_what_stands_between_two_quotations_or_goes_on_is_none() -> None:
    assert not is_secret(Judge.QUOTED_PROSE, ", scalar pw_has9, ")
    assert not is_secret(Judge.ASSIGNED, "{54:", "token_of")
    assert not is_secret(Judge.QUOTED, r"%r\t%3d\n", "token")
    assert is_secret(Judge.ASSIGNED, "{kX7!rT2pQ9", "password")
