"""Constants, names of types, flags and documented pairs open nothing; what only resembles them may."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.secrets.harmless import is_documented_pair, is_flag, is_machine_word, is_type_name
from streams.adapters.secrets.judging import Judge, is_secret
from tests.fakes.tokens import token
from tests.unit.streams.adapters.secrets.test_detector import find


@pytest.mark.parametrize("value", ["0x00000350", "0xDEADBEEF", "0x4AEE18F83AFDEB23", "0x10UL"])
def test_numbers_of_64_bits_are_constants(value: str) -> None:
    assert is_machine_word(value)
    assert not is_secret(Judge.ASSIGNED, value, "GENERIC_SECRET")
    assert not is_machine_word(value + "0123456789abcdef0")


@pytest.mark.parametrize("value", ["PKCS7PrivateKeyTypes", "ed25519.Ed25519PrivateKey", "Oauth2Tokens", "Sha1Config?"])
def test_names_of_types(value: str) -> None:
    assert is_type_name(value)
    assert not is_secret(Judge.ASSIGNED, value, "private_key")
    assert not is_secret(Judge.RANDOM, value, "private_key")


@pytest.mark.parametrize(
    "value", ["Key", "KX7RT2KEY", "Blue482913Key", "k9Xm2.Qw7Rt4zB", "S3cretKey!", "A" * 256 + "!"]
)
def test_passwords_that_end_like_types(value: str) -> None:
    assert not is_type_name(value)


@pytest.mark.parametrize("value", ["flag{d316759c281b}", "picoCTF{w3lc0me_2}", "csaw_flag{x9}"])
def test_flags_of_games_open_nothing(value: str) -> None:
    assert is_flag(value)
    assert not is_secret(Judge.NEXT, value, "")
    assert not is_flag(value[1:] + "9")


@pytest.mark.parametrize("judge", [Judge.ASSIGNED, Judge.SPOKEN, Judge.QUOTED, Judge.NAME, Judge.RANDOM])
@pytest.mark.parametrize(
    "key", ["password", "API_KEY", "db.secret", "authToken", "credentials", "contraseña", "пароль"]
)
def test_what_is_called_a_secret_is_one_in_the_form_of_a_flag(judge: Judge, key: str) -> None:
    value = f"ctf{{{token('digitalocean')}}}"
    assert is_flag(value)
    assert not is_flag(value, key)
    assert is_secret(judge, value, key)


@pytest.mark.parametrize("judge", [Judge.ASSIGNED, Judge.QUOTED, Judge.NAME])
@pytest.mark.parametrize("key", ["flag", "ctf_password", "FLAG_SECRET", "flagToken", "answer", "compass", "monkey", ""])
def test_what_is_called_a_flag_or_no_secret_is_a_flag(judge: Judge, key: str) -> None:
    assert is_flag("picoCTF{w3lc0me_2}", key)
    assert not is_secret(judge, "picoCTF{w3lc0me_2}", key)


@pytest.mark.parametrize("text", ["Submit {}", "flag = '{}'", "ctf_token: {}", "found the password {} at last"])
def test_the_detector_leaves_flags_alone(text: str) -> None:
    flag = "flag{d316759c281b}"
    assert find(text.format(flag)) == []
    assert find(f"db_password = '{flag}'") != []
    assert find(f"The password is: {flag}") != []


@given(st.from_regex(r"[A-Za-z0-9._@-]{2,20}", fullmatch=True))
def test_base64_of_a_user_and_what_documentation_calls_a_password(user: str) -> None:
    def pair(password: str) -> str:
        return base64.b64encode(f"{user}:{password}".encode()).decode().rstrip("=")

    for password in ("password", "changeme", "<password>", "********"):
        assert is_documented_pair(pair(password))
        assert not is_secret(Judge.TOKEN, pair(password))
    assert not is_documented_pair(pair("kX7!rT2pQ9"))


@pytest.mark.parametrize(
    "text",
    [
        "OID_DIGEST_KEY = '1.2.840.113549.1.9.4';",
        "PASSWORD_VERSION=12.4.1",
        "my @credential_args = @ARGV;",
        "my $key = %key_of_name;",
    ],
)
def test_numbers_of_versions_and_variables_are_no_secrets(text: str) -> None:
    assert find(text) == []
