"""Canonical JSON, and what strict reading refuses and why."""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pratique.contract import canonical
from pratique.contract.canonical import (
    JsonValue,
    PlainJson,
    bytes_sha256,
    canonical_bytes,
    canonical_json,
    canonical_sha256,
    check_text,
    parse_json,
    plain_sha256,
    text_sha256,
)
from pratique.errors import MalformedError, TooLargeError

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_canonical_form_reads_back_and_is_a_fixed_point(value: JsonValue) -> None:
    text = canonical_json(value)
    parsed = parse_json(text)
    assert canonical_json(parsed) == text
    assert parse_json(text.encode()) == parsed
    assert canonical_sha256(value) == hashlib.sha256(text.encode()).hexdigest()


@given(JSON)
def test_the_ways_json_can_be_written_have_one_canonical_form(value: JsonValue) -> None:
    expected = canonical_bytes(value)
    for written in (json.dumps(value, indent=2), json.dumps(value, ensure_ascii=False)):
        assert canonical_bytes(parse_json(written)) == expected


@given(st.dictionaries(TEXT, st.integers(), max_size=6))
def test_key_order_makes_no_difference(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(list(value.items())))) == canonical_json(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [math.nan], {"a": -math.inf}])
def test_non_finite_numbers_have_no_canonical_form(value: JsonValue) -> None:
    with pytest.raises(MalformedError) as raised:
        canonical_json(value)
    assert raised.value.code == "NON_FINITE"


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {"a": b"x"}])
def test_what_json_has_no_form_for_is_refused(value: JsonValue) -> None:
    with pytest.raises(MalformedError) as raised:
        canonical_json(value)
    assert raised.value.code == "SCHEMA_INVALID"


def test_value_that_nests_beyond_the_interpreter_is_too_large() -> None:
    value: JsonValue = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(TooLargeError):
        canonical_json(value)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800"])
def test_lone_surrogates_have_no_digest(text: str) -> None:
    for refuse in (canonical_bytes, text_sha256, check_text, parse_json):
        with pytest.raises(MalformedError):
            refuse(text)


def test_text_with_nul_is_refused() -> None:
    with pytest.raises(MalformedError):
        check_text("a\x00b")
    check_text("a\x01b")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(PLAIN)
@example({"\U0001f600": 1, "\uffff": 2, "a": "\x7f\x1f\n\u2028"})
@example(["\ud800"])
@example({"\udfff": 1})
def test_a_plain_value_has_its_canonical_digest(value: PlainJson) -> None:
    def digest(take: Callable[[PlainJson], str]) -> str:
        try:
            return take(value)
        except MalformedError as error:
            return str(error)

    assert digest(plain_sha256) == digest(canonical_sha256)


def test_plain_digests() -> None:
    assert text_sha256("ü") == bytes_sha256("ü".encode()) == hashlib.sha256("ü".encode()).hexdigest()
    assert canonical_sha256("ü") == hashlib.sha256('"ü"'.encode()).hexdigest()


REFUSED = [
    ("duplicate key", '{"a":1,"a":1}', "DUPLICATE_KEY"),
    ("duplicate key, one escaped", '{"a":1,"\\u0061":2}', "DUPLICATE_KEY"),
    ("duplicate key, nested", '[{"b":[{"a":1,"c":2,"a":3}]}]', "DUPLICATE_KEY"),
    ("NaN", "NaN", "NON_FINITE"),
    ("infinity", "[Infinity]", "NON_FINITE"),
    ("negative infinity", '{"a":-Infinity}', "NON_FINITE"),
    ("beyond a double", "1e400", "NON_FINITE"),
    ("beyond a double, negative", "[-1e400]", "NON_FINITE"),
    ("integer of 4301 digits", "9" * 4301, "SCHEMA_INVALID"),
    ("lone surrogate, raw", '"\ud800"', "SCHEMA_INVALID"),
    ("lone surrogate, escaped", '"\\ud800"', "SCHEMA_INVALID"),
    ("lone low surrogate, escaped", '{"a":["x\\udc00y"]}', "SCHEMA_INVALID"),
    ("lone surrogate in a key", '{"\\udfff":1}', "SCHEMA_INVALID"),
    ("surrogates in the wrong order", '"\\udc00\\ud800"', "SCHEMA_INVALID"),
    ("NUL, raw", '"a\x00"', "SCHEMA_INVALID"),
    ("NUL, escaped", '["a\\u0000"]', "SCHEMA_INVALID"),
    ("NUL in a key", '{"\\u0000":1}', "SCHEMA_INVALID"),
    ("control character in a string", '"\n"', "SCHEMA_INVALID"),
    ("empty", "", "SCHEMA_INVALID"),
    ("blank", "  \n", "SCHEMA_INVALID"),
    ("byte order mark", "\ufeff{}", "SCHEMA_INVALID"),
    ("trailing text", "{} {}", "SCHEMA_INVALID"),
    ("trailing comma", "[1,]", "SCHEMA_INVALID"),
    ("single quotes", "{'a':1}", "SCHEMA_INVALID"),
    ("comment", "[1] // one", "SCHEMA_INVALID"),
    ("leading zero", "[01]", "SCHEMA_INVALID"),
    ("unclosed string", '"abc', "SCHEMA_INVALID"),
    ("unclosed array", "[1", "SCHEMA_INVALID"),
]


@pytest.mark.parametrize(("text", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_strict_reading_refuses(text: str, code: str) -> None:
    with pytest.raises(MalformedError) as raised:
        parse_json(text)
    assert raised.value.code == code


@pytest.mark.parametrize(
    "value",
    [b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\x80"', b"\xef\xbb\xbf{}", "{}".encode("utf-16"), b'"\xf4\x90\x80\x80"'],
)
def test_bytes_that_are_not_utf8_json_are_refused(value: bytes) -> None:
    with pytest.raises(MalformedError) as raised:
        parse_json(value)
    assert raised.value.code == "SCHEMA_INVALID"


def test_refusals_never_quote_what_was_sent() -> None:
    marker = "hunter2hunter2"
    for text in (f'{{"{marker}":1,"{marker}":2}}', f'"{marker}', f'["{marker}", NaN]', f'"{marker}\\u0000"'):
        with pytest.raises(MalformedError) as raised:
            parse_json(text)
        chain = raised.value
        assert marker not in str(chain)
        assert chain.__cause__ is None
        assert chain.__suppress_context__ or chain.__context__ is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"\\ud83d\\ude00"', "😀"),
        ("-0", 0),
        ("1E5", 100000.0),
        ("9" * 4300, int("9" * 4300)),
        ('"\\u0001"', "\x01"),
        ('  {"a" : [ ] }\n', {"a": []}),
    ],
)
def test_what_strict_reading_accepts(text: str, value: JsonValue) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize("unit", ["a", "é", "😀"])
def test_size_is_counted_in_utf8_bytes(unit: str) -> None:
    size = len(unit.encode())
    text = '"' + unit * 12 + '"'
    exact = 2 + 12 * size
    assert parse_json(text, max_bytes=exact) == unit * 12
    assert parse_json(text.encode(), max_bytes=exact) == unit * 12
    for sent in (text, text.encode()):
        with pytest.raises(TooLargeError) as raised:
            parse_json(sent, max_bytes=exact - 1)
        assert raised.value.code == "TOO_LARGE"


@pytest.mark.parametrize("depth", [1, 5, 32])
def test_nesting_at_the_bound_is_read_and_one_more_is_not(depth: int) -> None:
    parse_json("[" * depth + "]" * depth, max_depth=depth)
    parse_json('{"a":' * depth + "1" + "}" * depth, max_depth=depth)
    for text in ("[" * (depth + 1) + "]" * (depth + 1), '{"a":' * (depth + 1) + "1" + "}" * (depth + 1)):
        with pytest.raises(TooLargeError):
            parse_json(text, max_depth=depth)


def test_brackets_inside_strings_do_not_nest() -> None:
    text = json.dumps(["[" * 1000, {"{{{": '}\\"[' * 100}] * 20)
    assert canonical_json(parse_json(text)) == canonical_json(json.loads(text))


@given(st.text(st.sampled_from('[]{}"\\,a'), max_size=60), st.integers(0, 6))
def test_depth_is_counted_outside_strings_however_they_are_found(text: str, depth: int) -> None:
    """With a backslash anywhere, strings are found by a pattern; without, by their marks."""

    def is_too_deep(checked: str) -> bool:
        try:
            canonical._check_depth(checked, depth)
        except TooLargeError:
            return True
        return False

    without = text.replace("\\", "")
    assert is_too_deep(without) == is_too_deep("\\" + without)


def test_width_is_not_depth() -> None:
    assert parse_json("[" + ",".join(["[]"] * 1000) + "]", max_depth=2) == [[]] * 1000


HOSTILE = {
    "brackets": "[" * 100_000,
    "balanced brackets": "[" * 100_000 + "]" * 100_000,
    "objects": '{"a":' * 100_000,
    "escaped quotes in an unclosed string": '"' + '\\"' * 1_000_000 + "[" * 40,
    "backslashes in an unclosed string": '"' + "\\" * 2_000_000 + "[" * 40,
    "quotes": '"' * 2_000_000 + "[" * 40,
    "closers first": "]" * 1_000_000 + "[" * 40,
    "a number of four million digits": "9" * 4_000_000,
    "a fraction of four million digits": "0." + "1" * 4_000_000 + "x",
    "an exponent of four million digits": "1e" + "9" * 4_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_refused_in_linear_time(text: str) -> None:
    before = time.process_time()
    with pytest.raises(MalformedError):
        parse_json(text)
    # The worst of them takes half a second; what is not linear takes hours.
    assert time.process_time() - before < 20


@given(st.text(max_size=60) | st.text('[]{}",:\\u0aedE+-.1 \ud800', max_size=40))
@example('"\\')
@example('{"\\u00')
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = parse_json(text)
    except MalformedError:
        return
    assert canonical_json(parse_json(canonical_json(value))) == canonical_json(value)


WRITTEN = st.recursive(
    st.sampled_from(
        ["null", "true", "0", "-0", "-0.0", "1.0", "1e5", "1E400", "18446744073709551616", "0.1", "NaN", '"a"']
    )
    | st.integers().map(str)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.text(max_size=5).map(lambda text: json.dumps(text, ensure_ascii=False))
    | st.text(max_size=5).map(json.dumps),
    lambda inner: (
        st.lists(inner, max_size=4).map(lambda items: f"[{','.join(items)}]")
        | st.lists(st.tuples(st.sampled_from(['"a"', '"b"', '"\u00e9"', '"\\u0061"']), inner), max_size=4).map(
            lambda pairs: "{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}"
        )
    ),
    max_leaves=12,
)


@given(WRITTEN | st.text(max_size=20))
def test_short_cut_reads_and_refuses_what_strict_reading_does(text: str) -> None:
    def read() -> object:
        try:
            value = parse_json(text)
        except MalformedError as error:
            return type(error), error.code, str(error)
        return repr(value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(canonical, "_plain", lambda _: None)
        strictly = read()
    assert read() == strictly


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(value: bytes) -> None:
    try:
        parse_json(value)
    except MalformedError:
        return
    json.loads(value)


def test_depth_bound_stays_below_the_interpreters() -> None:
    deep = sys.getrecursionlimit() * 2
    with pytest.raises(TooLargeError):
        parse_json("[" * deep, max_depth=deep + 1)
