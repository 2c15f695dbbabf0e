"""Signs of East Asia's scripts are read as ASCII where they stand in it, and left alone in their own texts."""

# ruff: noqa: RUF001 - look-alikes are meant

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.scanning.views.readings import readings

SIGNS: Final = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
WIDE: Final = {sign: chr(ord(sign) + 0xFEE0) for sign in SIGNS}


def normalised(text: str) -> str:
    """Return what is read of a text's characters: the text itself where they are what they seem."""
    return next((view.text for view in readings(text) if view.kinds == ("normalised",)), text)


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("written", ["ab{}12", "ab{}/c", "a1{}_b", "ab {} cd", "ab{} 1c"])
def test_a_wide_sign_in_ascii_is_ascii(sign: str, written: str) -> None:
    assert normalised(written.format(WIDE[sign])) == written.format(sign)


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("between", ["{}\u200b", "\u200b{}", "{}\x1b[0m", "\x1b[0m{}"])
def test_what_hides_beside_a_wide_sign_does_not_keep_it(sign: str, between: str) -> None:
    assert any(view.text == f"ab{sign}cd" for view in readings(f"ab{between.format(WIDE[sign])}cd"))


@given(
    st.text("abcXYZ019", min_size=1, max_size=20), st.sampled_from(SIGNS), st.text("abcXYZ", min_size=1, max_size=20)
)
def test_a_wide_sign_in_a_token_keeps_its_place(before: str, sign: str, after: str) -> None:
    text = f"{before}{WIDE[sign]}{after}"
    view = next(view for view in readings(text) if view.text == f"{before}{sign}{after}")
    place = view.place(len(before), len(before) + 1)
    assert place is not None
    assert place[:2] == (len(before), len(before) + 1)


@pytest.mark.parametrize("sign", "﹍﹎﹏︳﹣")
def test_a_small_or_upright_sign_in_ascii_is_ascii(sign: str) -> None:
    assert normalised(f"glpat{sign}x8Kd") in {"glpat-x8Kd", "glpat_x8Kd"}


ALIKE: Final = {**dict.fromkeys("‐‑‒–—―−﹘", "-"), **dict.fromkeys("‿⁀", "_"), "∕": "/", "⁄": "/", "∶": ":", "․": "."}


@pytest.mark.parametrize("sign", ALIKE)
def test_a_sign_that_looks_like_one_is_it_in_a_token_that_mixes_letters_and_digits(sign: str) -> None:
    plain = ALIKE[sign]
    assert normalised(f"so a{sign}b{sign}1{sign}/2ab34cd5 is") == f"so a{plain}b{plain}1{plain}/2ab34cd5 is"


@pytest.mark.parametrize(
    "text",
    [
        "密码，不能为空。（请输入）：验证码！",
        "时间10：30～11：00，共1，000元，涨了50％，见第3（2）条。",
        "版本2，修复了3个问题；见说明。",
        "我们用Python写的，测试通过（全部）。",
        "設定は「config」で、値は３つ".replace("３", "3"),
        "word—word, 2020—2021, covid19—related; a pause — and so on",
        "The quick brown fox—over 11—12 dogs",
    ],
)
def test_prose_with_its_own_signs_has_one_reading(text: str) -> None:
    assert [view.text for view in readings(text)] == [text]
