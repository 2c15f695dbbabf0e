"""What stands where a secret would stand, and what is one."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.secrets.judging import Judge, is_secret
from streams.adapters.secrets.values import entropy, looks_random, names_something_else

PLACEHOLDERS = [
    "",
    "****",
    "xxxxxxxx",
    "<your key>",
    "${DB_PASSWORD}",
    "$DB_PASSWORD",
    "{{ password }}",
    "%(password)s",
    "%env(DB)%",
    "your-api-key",
    "changeme",
    "insert_key_here",
    "notapassword",
    "somefakekey",
    "password",
    "null",
    "os.environ",
    "process.env.KEY",
    "get_token()",
    "user.token",
    "settings.SECRET_KEY",
    "DB_SECRET_VALUE",
    "!Ref 'Parameter'",
    "ENC[AES256_GCM,data:aGk=]",
    "https://a.example/reset",
    "arn:aws:kms:eu:1:key/2",
    "/run/keys/db",
    "...",
]


@pytest.mark.parametrize("value", PLACEHOLDERS)
@pytest.mark.parametrize("judge", [Judge.ASSIGNED, Judge.QUOTED, Judge.SPOKEN, Judge.RANDOM])
def test_what_fills_in_for_a_secret_is_none(value: str, judge: Judge) -> None:
    assert not is_secret(judge, value, "password")


@given(st.text(string.ascii_letters + string.digits, min_size=16, max_size=40), st.sampled_from("!#%&=?"))
def test_a_generated_password_is_one_wherever_it_is_assigned(body: str, sign: str) -> None:
    value = f"q7{body}Z{sign}4"
    if "xxxxx" in value.lower() or any(word in value.lower() for word in ("your", "here", "fake", "todo")):
        return
    assert is_secret(Judge.ASSIGNED, value, "db_password")
    assert is_secret(Judge.QUOTED, value, "db_password")


@pytest.mark.parametrize(
    "name",
    [
        *("token_url", "tokenUrl", "password_min_length", "publicKey", "PUBLIC_KEY", "secret_name", "max_tokens"),
        *("cache_key", "IdempotencyKey", "partition-key", "apiKeyId", "access_key_id", "sitekey", "key_fingerprint"),
    ],
)
def test_a_name_of_something_about_a_secret_is_no_secrets_name(name: str) -> None:
    assert names_something_else(name)
    assert not is_secret(Judge.QUOTED, "kX7!rT2pQ9", name)


@pytest.mark.parametrize(
    "name",
    ["password", "db_password", "apiKey", "secret_id", "session_key", "primaryKey", "client-secret", "AUTH_SALT", ""],
)
def test_a_secrets_name_is_left_alone(name: str) -> None:
    assert not names_something_else(name)


@given(st.text(max_size=60), st.sampled_from(list(Judge)), st.text(max_size=20))
def test_every_value_is_judged(value: str, judge: Judge, key: str) -> None:
    assert is_secret(judge, value, key) in {True, False}


def test_a_number_counts_only_under_a_name_for_digits() -> None:
    assert is_secret(Judge.ASSIGNED, "739104", "door_pin")
    assert not is_secret(Judge.ASSIGNED, "4096", "context_token")


@given(st.integers(0, 2**256 - 1))
def test_digests_look_random_and_words_do_not(number: int) -> None:
    value = f"{number:064x}"
    assert looks_random(value) or entropy(value) < 3.0 or value.isdigit()
    assert not looks_random("aReallyLongIdentifierName")
