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


def test_a_long_stretch_is_none() -> None:
    assert not is_digest(b"sha256=" + b"a" * 200, 7, 207)


@pytest.mark.parametrize("name", ["SHA256:", "the api token's sha256 is ", 'key_checksum = "', "h1:"])
def test_the_detector_leaves_digests_alone(name: str) -> None:
    digest = base64.b64encode(hashlib.sha256(b"7").digest()).decode()
    assert find(f"host key {name}{digest}") == []
    assert find(f"host key token: {digest}") != []
