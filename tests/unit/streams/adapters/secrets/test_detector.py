"""The detector ``secrets`` behind the port: where it finds, what it leaves alone, and what it says of itself."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.adapters.secrets import detector as detector_module
from streams.adapters.secrets.detector import SecretsDetector, outermost
from streams.adapters.secrets.families import Families, Judging, Match, family_files
from streams.adapters.secrets.judging import Judge, is_secret
from streams.adapters.secrets.relaxed import relaxed_rules
from streams.domain.scanning.finding import Category, Finding, check_name
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from streams.errors import DetectorError
from tests.fakes.tokens import token

PROFILE = ScanProfile(("en",), ("EMAIL_ADDRESS",))
SAMPLES = Path(__file__).parents[4] / "samples"
BENIGN = (
    "The password is required, and a token expires after ten minutes.",
    "Reset your password at https://a.example/reset before you log in.",
    "def login(user: str, password: str = '', token: str | None = None) -> Token:",
    "API_KEY=<your key>\nDB_PASSWORD=${DB_PASSWORD}\n",
    "token = get_token(); secret = vault.read('app/db')",
    "Das Passwort muss mindestens 12 Zeichen haben.",
    "Пароль хранится в виде хеша.",
    "密码不能为空。请输入验证码。",
    "コミットのハッシュは変わらない。パスワードは必須です。",
    "The PIN must have 4 digits, and the verification code path is tested in test_2fa.py.",
    "Password: `secret2`. Passwörter: 8-16 Zeichen. パスワードは8文字以上です。密码长度为8到16个字符。",
    "header \"Access-Control-Allow-Origin\", file starting with '-----BEGIN RSA PRIVATE KEY-----' and so on",
    "The secret of good code is short functions; the key is practice.",
)


@cache
def detector() -> SecretsDetector:
    return SecretsDetector()


def find(*texts: str) -> list[Finding]:
    return detector().scan([Field(f"field[{index}]", text) for index, text in enumerate(texts)], PROFILE)


HITS = [base64.b64decode(hit).decode() for body in family_files() for rule in body["rules"] for hit in rule["hits"]]


@pytest.mark.parametrize("text", BENIGN)
def test_talk_of_secrets_is_none(text: str) -> None:
    assert find(text) == []


def test_digests_uuids_and_lockfiles_are_none() -> None:
    digests = [hashlib.sha256(str(number).encode()) for number in range(500)]
    texts = [item.hexdigest() for item in digests]
    texts += [f'"integrity": "sha512-{base64.b64encode(item.digest() * 2).decode()}"' for item in digests[:100]]
    texts += [str(uuid.UUID(bytes=item.digest()[:16])) for item in digests]
    texts += [
        f"{item.hexdigest()[:10]} Keep the cookie in the session (#{index})" for index, item in enumerate(digests)
    ]
    assert find(*texts) == []


def _hits(family: str) -> list[str]:
    return [
        hit for body in family_files() if body["family"] == family for rule in body["rules"] for hit in rule["hits"]
    ]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(HITS), st.sampled_from(BENIGN), st.sampled_from(BENIGN))
def test_a_planted_secret_is_found_where_it_is(hit: str, before: str, after: str) -> None:
    text = f"{before}\n\n{hit}\n\n{after}"
    start = len(before) + 2
    found = find(text)
    assert found
    assert all(start <= item.start < item.end <= start + len(hit) for item in found)


def test_a_colon_at_a_line_s_end_takes_no_name_away_from_the_next_line() -> None:
    line = base64.b64decode(b"Y29uc3QgZGJQYXNzd29yZCA9ICJxdWlldFJpdmVyIg==").decode()
    for before in ("def login(password: str) -> Token:\n\n", "the secret:\n", "API_KEY:\r\n"):
        (found,) = find(before + line)
        assert found.start > len(before)


@pytest.mark.parametrize("after", ["\n\nPassword: required", " Remember them", ", documents and settings"])
def test_words_behind_a_list_of_codes_are_no_codes(after: str) -> None:
    codes = base64.b64decode(next(hit for hit in _hits("recovery") if b"," in base64.b64decode(hit))).decode()
    (found,) = find(codes + after)
    assert found.end == len(codes)


@pytest.mark.parametrize("before", ["", "It was ", "Prüfe 🙂 日本語: "])
def test_offsets_are_characters(before: str) -> None:
    secret = token("digitalocean")
    found = find("Nothing here.", f"{before}{secret} and so on")
    assert {(item.category, item.detector, item.path) for item in found} == {(Category.SECRET, "secrets", "field[1]")}
    assert {f"{before}{secret} and so on"[item.start : item.end] for item in found} == {secret}


def test_types_are_names_and_nothing_of_a_value_is_in_a_finding() -> None:
    secret = token("digitalocean")
    found = find(secret, *HITS)
    assert secret not in repr(found)
    assert all(check_name(item.type) for item in found)
    assert all(check_name(f"catalogue.{rule['name']}") for rule in relaxed_rules())


def test_each_of_two_passwords_of_a_sentence_is_found() -> None:
    passwords = [base64.b64decode(item).decode() for item in (b"a1g3IXJUMnBROQ==", b"bVo0I2JOOHZXMQ==")]
    text = "The passwords are {} and {} for both hosts.".format(*passwords)
    assert [text[item.start : item.end] for item in find(text)] == passwords


def test_a_word_at_a_line_s_end_names_no_bearer_on_the_next() -> None:
    digest = hashlib.sha256(b"x").hexdigest()
    assert find(f"It is all very basic\n{digest}") == []
    assert find(f"Authorization: Bearer {base64.b64encode(digest.encode()).decode()}")


def test_what_lies_within_another_match_is_not_repeated() -> None:
    inner, outer, apart = Match("a", 2, 5), Match("b", 0, 6), Match("c", 6, 9)
    assert outermost([inner, apart, outer]) == [outer, apart]
    assert outermost([Match("a", 0, 3), Match("b", 0, 3)]) == [Match("a", 0, 3)]


def test_an_engine_that_fails_says_nothing_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Families, text: bytes, _judging: Judging) -> Iterator[Match]:
        raise ValueError(text.decode())

    detector()  # its making matches as well
    monkeypatch.setattr(Families, "matches", fail)
    with pytest.raises(DetectorError) as raised:
        find("a planted word")
    assert str(raised.value) == "secrets failed"
    assert raised.value.__cause__ is None


def test_the_manifest_is_the_same_for_every_instance() -> None:
    assert SecretsDetector().manifest == detector().manifest
    assert detector().manifest.settings["rules"] == sum(len(body["rules"]) for body in family_files())


def test_nothing_is_found_in_the_samples_that_are_to_be_accepted() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((SAMPLES / "summaries").glob("*.txt"))]
    texts += [
        json.dumps(json.loads(path.read_text())) for path in sorted(SAMPLES.parents[1].glob("infra/policy/**/*.json"))
    ]
    assert texts
    assert find(*texts) == []


def test_what_stands_in_several_fields_is_judged_once_a_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[tuple[str, str]] = []

    def recorded(judge: Judge, value: str, key: str = "") -> bool:
        judged.append((value, key))
        return is_secret(judge, value, key)

    monkeypatch.setattr(detector_module, "is_secret", recorded)
    text = " ".join(f"password: {word}" for word in ("required", "changed", "reset"))
    detector().scan([Field("f", text)], PROFILE)
    once = len(judged)
    detector().scan([Field(f"f{place}", text) for place in range(5)], PROFILE)
    assert once
    assert len(judged) == 2 * once
