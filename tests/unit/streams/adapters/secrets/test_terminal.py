"""What was copied from a terminal says the same as without its colours; a colour is no secret."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.adapters.hidden import HiddenTextDetector
from streams.adapters.secrets.judging import Judge, is_secret
from streams.adapters.viewing import detect
from streams.domain.scanning.finding import Finding
from streams.domain.scanning.population import Field
from tests.fakes.tokens import token
from tests.unit.streams.adapters.secrets.test_detector import BENIGN, HITS, PROFILE, detector

TOKEN = token("digitalocean")
PASSWORD = "kX7rT2" + "pQ9zW"
COLOURS = [
    "\x1b[0m",
    "\x1b[m\x1b[K",
    "\x1b[01;31m\x1b[K",
    "\x1b[38;5;231m",
    "\x1b(B\x1b[m",
    "\x1b]8;;https://a.example/b\x1b\\",
]


def found(text: str) -> list[Finding]:
    findings, failure = detect([Field("summary_text", text)], PROFILE, [detector(), HiddenTextDetector()])
    assert failure is None
    return findings


@pytest.mark.parametrize(
    "write", [str, lambda text: json.dumps(text)[1:-1], ascii, lambda text: text.replace("\x1b", "\\e")]
)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        (f"\x1b[32mDB_PASSWORD\x1b[0m=\x1b[1m{PASSWORD}\x1b[0m", PASSWORD),
        (f"config.py:12:    api_\x1b[01;31m\x1b[Kkey\x1b[m\x1b[K = `{PASSWORD}mL4vB8nHc`", f"{PASSWORD}mL4vB8nHc"),
        (f"\x1b[01;31m\x1b[K{TOKEN[:7]}\x1b[m\x1b[K{TOKEN[7:]}", f"{TOKEN[:7]}\x1b[m\x1b[K{TOKEN[7:]}"),
        (f"\x1b[38;5;203mpassword\x1b[0m\x1b[38;5;231m \x1b[0m\x1b[38;5;203m=\x1b[0m {PASSWORD}", PASSWORD),
    ],
)
def test_colours_hide_no_secret_and_move_none(write: Callable[[str], str], text: str, value: str) -> None:
    written, meant = write(text).strip("'"), write(value).strip("'")
    assert meant in {written[finding.start : finding.end] for finding in found(written)}


@given(st.sampled_from(HITS), st.data())
@settings(max_examples=60, deadline=None)
def test_a_secret_with_colours_anywhere_is_the_secret(hit: str, data: st.DataObject) -> None:
    types = {finding.type for finding in found(hit)}
    places = data.draw(st.sets(st.integers(0, len(hit)), min_size=1, max_size=12))
    written = "".join(
        (data.draw(st.sampled_from(COLOURS)) if place in places else "") + letter
        for place, letter in enumerate(hit + " ")
    )
    assert types <= {finding.type for finding in found(written)}


@pytest.mark.parametrize(
    "colour", ["\x1b[0m", "\x1b[1;39m", "\\u001b[0m", "\\x1b[0;32m", "\\033[1;39m", "\\e[31m", "^[[0m", "[1;39m"]
)
@pytest.mark.parametrize(
    "text",
    ["password: {0}", "PASSWORD={0}", '"password"{0}:{0} {0}null{0}', "the password is {0}", "export API_TOKEN='{0}'"],
)
def test_a_colour_is_no_secret(colour: str, text: str) -> None:
    assert found(text.format(colour)) == []


@pytest.mark.parametrize("judge", [judge for judge in Judge if judge is not Judge.NONE])
def test_a_value_is_judged_without_colours(judge: Judge) -> None:
    value = f"{PASSWORD}!mL4v"
    assert is_secret(judge, f"\x1b[1m{value}\x1b[0m", "key") == is_secret(judge, value, "key")
    assert not is_secret(judge, "\x1b[0m", "key")


@pytest.mark.parametrize("text", BENIGN)
@pytest.mark.parametrize("colour", COLOURS)
def test_talk_of_secrets_in_colours_is_none(text: str, colour: str) -> None:
    assert found(colour + text.replace(" ", f"{colour} {colour}") + colour) == []


@pytest.mark.parametrize(
    ("sign", "text"),
    [
        ("_", f"We use {TOKEN} in CI."),
        ("=", f"DB_PASSWORD={PASSWORD}"),
        ("=", f"DB_PASSWORD = {PASSWORD}"),
        (":", f"postgres://admin:{PASSWORD}@db.acme.io:5432/prod"),
        ("/", f"postgres://admin:{PASSWORD}@db.acme.io:5432/prod"),
    ],
)
def test_a_wide_sign_hides_no_secret(sign: str, text: str) -> None:
    types = {finding.type for finding in found(text)}
    assert types
    for place in (match.start() for match in re.finditer(re.escape(sign), text)):
        written = text[:place] + chr(ord(sign) + 0xFEE0) + text[place + 1 :]
        assert types <= {finding.type for finding in found(written)}
