"""A value that is called a digest and is as long as one is none; what only claims to be one still counts."""

from __future__ import annotations

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.secrets.digests import is_digest
from tests.unit.streams.adapters.secrets.test_detector import find

_DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")


def stretch(text: str, value: str) -> tuple[bytes, int, int]:
    start = text.index(value)
    return text.encode(), start, start + len(value)


@given(st.binary(max_size=20), st.sampled_from(_DIGESTS), st.sampled_from(("=", ": ", '": "', " is ", "-")))
def test_whatever_a_digest_is_of_it_is_one_in_both_writings(content: bytes, name: str, sign: str) -> None:
    made = hashlib.new(name, content)
    for value in (made.hexdigest(), base64.b64encode(made.digest()).decode()):
        assert is_digest(*stretch(f"file.py,{name}{sign}{value} 12", value))
        assert is_digest(*stretch(f"file.py,{name}{sign}{value} 12", value[3:20])), "a part of it as well"


@pytest.mark.parametrize(
    "text",
    [
        "sha256={}1",  # too long
        "sha-x={}",
        "my_sha256: {}",
        "sha256 of the file, and then: {}",
        "password sha256: {}",
        "token={}",
    ],
)
def test_what_is_not_called_a_digest_or_not_as_long_is_none(text: str) -> None:
    value = hashlib.sha256(b"x").hexdigest()
    assert not is_digest(*stretch(text.format(value), value))


@given(
    st.binary(max_size=20),
    st.sampled_from(_DIGESTS),
    st.sampled_from(("common-password", "a basic", "my token", "etc/pw")),
)
def test_what_a_list_of_checksums_holds_is_a_digest_whatever_the_file_is_called(
    content: bytes, name: str, file: str
) -> None:
    made = hashlib.new(name, content).hexdigest()
    for text in (
        f"{made}  {file}",
        f"{made[::-1]}  usr/{file}\n{made}  usr/other",
        f"{made[::-1]} *usr/{file}\r\n{made} *usr/other\n",
    ):
        assert find(text) == []
    assert find(f"The password is {made}, as before")
    assert find(f"password\n{made} and more")


_KEYED = (
    *("hmac-sha256: {}", "HMAC SHA-256={}", "api_key sha256={}", "token digest-{}", "client secret: sha512-{}"),
    *("credentials md5: {}", "my signing key is sha256:{}", 'accessKey "sha256": "{}"', "config.api_key sha256={}"),
    *(
        "API-Schlüssel sha256: {}",
        "mi clave sha256: {}",
        "ключ sha256={}",
        "密钥 sha256: {}",
        "the key hmac-sha256={}",
        "a" * 99 + "_key         sha256={}",
    ),
)
_OF_THINGS = (
    *(
        "public key sha256: {}",
        "host key SHA256:{}",
        "ssh-rsa key SHA256:{}",
        "cache key: sha256-{}",
        "sort_key md5={}",
    ),
    *("server.key sha256={}", "/run/secrets/token sha256: {}", "key.pem sha256={}", "token.json: sha256-{}"),
    *("the api token's sha256 is {}", "api key fingerprint is {}", "key thumbprint: {}", "token checksum={}"),
    *("acme/token-service@sha256:{}", "acme/secret@sha256:{}", "tokenizers==0.15 --hash=sha256:{}", "monkey md5: {}"),
    *(
        "name: token\nsha256: {}",
        '{{"name": "secret", "sha256": "{}"}}',
        "token v1.2 h1:{}",
        "key image digest: sha256:{}",
    ),
)


@given(st.binary(min_size=32, max_size=32), st.sampled_from(_KEYED))
def test_what_a_word_for_a_secret_stands_right_before_is_a_key_for_the_algorithm(key: bytes, text: str) -> None:
    assert not is_digest(*stretch(text.format(key.hex()), key.hex()))


@given(st.binary(min_size=32, max_size=32), st.sampled_from(_OF_THINGS))
def test_files_and_what_is_shown_or_finds_something_have_digests(key: bytes, text: str) -> None:
    assert is_digest(*stretch(text.format(key.hex()), key.hex()))


@pytest.mark.parametrize("name", ["api_key sha256=", "hmac_key sha256: ", "credential digest="])
def test_the_detector_finds_keys_that_are_called_by_an_algorithm(name: str) -> None:
    assert find(name + hashlib.sha256(b"8").hexdigest()) != []


def test_a_long_stretch_is_none() -> None:
    assert not is_digest(b"sha256=" + b"a" * 200, 7, 207)


@pytest.mark.parametrize("name", ["SHA256:", "the api token's sha256 is ", 'key_checksum = "', "h1:"])
def test_the_detector_leaves_digests_alone(name: str) -> None:
    digest = base64.b64encode(hashlib.sha256(b"7").digest()).decode()
    assert find(f"host key {name}{digest}") == []
    assert find(f"host key token: {digest}") != []
