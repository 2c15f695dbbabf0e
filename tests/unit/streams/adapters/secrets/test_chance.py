"""Random letters hold no secret, whatever short word occurs in them; a secret beside them is found all the same."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable
from functools import cache
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.kingfisher import KingfisherDetector
from streams.adapters.secrets.families import family_files
from streams.domain.scanning.chance import Doubts, without_noise
from streams.domain.scanning.population import Field
from tests.unit.streams.adapters.secrets.test_detector import PROFILE, detector, find

kingfisher = cache(KingfisherDetector)

TEXTS: Final = 500
MOST: Final = 0.02
"""Of random texts: before noise was told from names it was 2 to 40 in 100."""

_LETTERS: Final = string.ascii_letters + string.digits
_HEXADECIMAL: Final = "0123456789abcdef"


def _line(draw: random.Random) -> str:
    return base64.b64encode(draw.randbytes(3000)).decode()


def _wrapped(draw: random.Random) -> str:
    return base64.encodebytes(draw.randbytes(3000)).decode()


def _for_urls(draw: random.Random) -> str:
    return base64.urlsafe_b64encode(draw.randbytes(3000)).decode()


def _digests(draw: random.Random) -> str:
    return "\n".join("sha512-" + base64.b64encode(draw.randbytes(64)).decode() for _ in range(40))


def _identifiers(draw: random.Random) -> str:
    return " ".join("".join(draw.choices(_LETTERS + "_-", k=21)) for _ in range(150))


def _names_of_calls(draw: random.Random) -> str:
    return " ".join("call_" + "".join(draw.choices(_LETTERS, k=44)) for _ in range(80))


def _base32(draw: random.Random) -> str:
    return " ".join(base64.b32encode(draw.randbytes(32)).decode() for _ in range(80))


def _keys(draw: random.Random) -> str:
    return " ".join(base64.b64encode(draw.randbytes(32)).decode() for _ in range(80))


def _keys_backwards(draw: random.Random) -> str:
    return _keys(draw)[::-1]


_WRITINGS: Final = (
    *(_line, _wrapped, _for_urls, _digests, _identifiers, _names_of_calls, _base32),
    *(_keys, _keys_backwards),
)


@pytest.mark.parametrize("writing", _WRITINGS, ids=lambda item: item.__name__)
def test_encoded_data_holds_no_secret(writing: Callable[[random.Random], str]) -> None:
    draw = random.Random(20261201)  # noqa: S311 - the same texts each time
    fields = [Field(f"text[{place}]", writing(draw)) for place in range(TEXTS)]
    found = [*detector().scan(fields, PROFILE), *kingfisher().scan(fields, PROFILE)]
    assert len({finding.path for finding in found}) <= MOST * TEXTS, {finding.type for finding in found}


def _hexadecimal_beginnings() -> list[str]:
    """Literals that rules ask for and a digest may begin with."""
    needs = (need for body in family_files() for rule in body["rules"] for need in rule.get("needs", ()))
    return sorted({need.lower() for need in needs if set(need.lower()) <= set(_HEXADECIMAL)})


@given(
    st.sampled_from(_hexadecimal_beginnings()),
    st.text(_HEXADECIMAL, min_size=128, max_size=128),
    st.sampled_from((32, 40, 64, 128)),
    st.sampled_from((str.lower, str.upper)),
)
def test_no_digest_is_a_token_whatever_it_begins_with(
    beginning: str, digits: str, size: int, case: Callable[[str], str]
) -> None:
    digest = case((beginning + digits)[:size])
    assert find(digest) == []
    assert find(f"as of commit {digest}, and then") == []


def test_hexadecimal_digits_are_a_token_where_a_word_says_so() -> None:
    value = random.Random(1).randbytes(32).hex()  # noqa: S311 - any value
    assert [finding.type for finding in find(f"api_key = {value}")]
    assert [finding.type for finding in find(f"api_key = {value.upper()}")]


_NOISE: Final = (
    base64.b64encode(random.Random(2).randbytes(48)).decode(),  # noqa: S311 - any values
    base64.urlsafe_b64encode(random.Random(3).randbytes(33)).decode(),  # noqa: S311
    "sha512-" + base64.b64encode(random.Random(4).randbytes(64)).decode(),  # noqa: S311
)
_HITS: Final = [
    pytest.param(base64.b64decode(hit).decode(), id=f"{body['family']}.{rule['name']}-{place}")
    for body in family_files()
    for rule in body["rules"]
    for place, hit in enumerate(rule["hits"])
]


@pytest.mark.parametrize("hit", _HITS)
def test_a_secret_beside_encoded_data_is_found(hit: str) -> None:
    for between in ("\n", ": ", ", "):
        is_found = bool(find("beside words" + between + hit))  # some rules want a line's beginning
        for noise in _NOISE:
            assert find(noise + between + hit) or not is_found, (noise, between)


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/9aXb7Qc6dK5eZ4fR3tY/secret/Gh7kQ2mZ9xW4vB1n",
        "AWS_SECRET_ACCESS_KEY_9aXb7Qc6dK5eZ4fR3tY=Gh7kQ2mZ9xW4vB1nT5",
        "sha 9aXb7Qc6dK5eZ4fR3tY0pL admin/Gh7kQ2mZ!9xW",
        "9aXb7Qc6dK5eZ4fR3tY0pLmN8sV2wC1jH6gF3dS5aQ7eR4tZ0\npw=Gh7kQ2mZ!9xW",
        "4b1d3997c48e2bbff682dc0fa9fefcd5a6f387e5e8a69e5e25e33e7aafb1264a/pw=Gh7kQ2mZ!9xW",
    ],
)
def test_a_word_that_noise_would_not_make_names_a_secret_beside_it(text: str) -> None:
    assert find(text)


_LINE: Final = base64.b64encode(random.Random(5).randbytes(57)).decode()  # noqa: S311 - any value
_KEY_IN_BASE32: Final = "AQDMWNKRETLJ4CAZMENWLGU72WKLQ3ZNFBKEYAGOCW554UUS5UQQ===="


@pytest.mark.parametrize("beginning", ["id/Kx7mCNSoJKUd2X7", "sa/8sV2wC1jH6gF3dS5"])
def test_a_line_of_base64_goes_on_in_the_next(beginning: str) -> None:
    assert find(f"words\n{beginning}")
    assert find(f"{_LINE}\n{beginning}") == []


def test_a_long_piece_with_a_digit_is_no_name_however_few_it_has() -> None:
    value = "RFIGCMTIJNM2FW672YWNNRG7ATT3UR2JGDG5MXHXXCDPATEBZKXQ"
    assert find(f"{_KEY_IN_BASE32} {value}====") == []
    assert find(f"api_key = {value}")


_NAMES: Final = (
    *("AWS_S3_V4_EU1_API_KEY", "OAUTH2_P12_KS01_PWD", "GCP_K8S_EU1_V2_SMTP_KEY", "E2E_S3_V2_K8S_JWT_KEY"),
    *("K8S_USW2_RDS_PG15_PWD", "VPN_L2TP_GW01_USW2_PSK", "kv-usw2-k8s01-ops-pwd", "App1_K8s_Ops_Db_Password"),
)


@pytest.mark.parametrize("sign", ["=", ": ", " = ", ": '"])
@pytest.mark.parametrize("name", _NAMES)
def test_a_name_of_short_words_and_numbers_is_no_noise(name: str, sign: str) -> None:
    text = name + sign + base64.b64decode(b"a1g3clQycFE5eldtTDR2QjhuSGM=").decode()
    assert find(text)


@given(st.lists(st.from_regex(r"\A(?:[A-Z]{1,4}[0-9]{1,2}|[A-Z]{2,8})\Z"), min_size=1, max_size=6))
def test_whatever_precedes_a_word_for_a_secret_in_a_name(words: list[str]) -> None:
    assert find("_".join([*words, "API_KEY=" + base64.b64decode(b"a1g3clQycFE5eldtTDR2QjhuSGM=").decode()]))


@given(st.binary(max_size=600), st.data())
def test_what_is_taken_out_leaves_places_and_the_value_as_they_were(before: bytes, data: st.DataObject) -> None:
    text = base64.b64encode(before) + b" " + before + b" a value " + before
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    rest = without_noise(text, start, end)
    if rest is None:
        return
    around, first = rest
    assert around[start - first : end - first] == text[start:end]
    for place, byte in enumerate(around):
        assert byte in {text[first + place], ord("x")}


@given(st.text("0123456789abcdefABCDEF", min_size=1, max_size=80))
def test_hexadecimal_digits_that_nothing_names_are_doubted(digits: str) -> None:
    text = f"  {digits} ".encode()
    is_kept = Doubts(len(text)).confirm(text, 2, len(text) - 1, lambda _part, _first: True)
    assert is_kept == (digits not in {digits.lower(), digits.upper()})
    assert Doubts(len(text)).confirm(text, 2, len(text) - 1, lambda part, _first: part == text)


def test_what_is_found_beyond_the_last_doubt_counts() -> None:
    doubts = Doubts(1024)
    kept = [doubts.confirm(b"0123", 0, 4, lambda _part, _first: True) for _ in range(70)]
    assert kept == [False] * 65 + [True] * 5
