"""Check digits: published numbers pass, and no number passes with another last digit than its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.pii import checksums as check
from tests.unit.streams.adapters.pii.numbers import EXAMPLES

WITHOUT_LAST_CHECK = {check.at_svnr, check.is_kennitala}
"""Their last digits are a year's."""
CHECK_PLACE: dict[Callable[[str], bool], int] = {check.at_svnr: 3, check.is_kennitala: 8}


@pytest.mark.parametrize(("passes", "number"), EXAMPLES)
def test_a_published_number_passes(passes: Callable[[str], bool], number: str) -> None:
    assert passes(number)


@pytest.mark.parametrize(("passes", "number"), EXAMPLES)
def test_its_neighbours_do_not(passes: Callable[[str], bool], number: str) -> None:
    place = CHECK_PLACE.get(passes, len(number) - 1)
    others = [number[:place] + digit + number[place + 1 :] for digit in "0123456789" if digit != number[place]]
    assert not any(passes(other) for other in others)


@pytest.mark.parametrize(("passes", "number"), EXAMPLES)
@given(st.data())
def test_at_most_two_of_ten_last_digits_pass(passes: Callable[[str], bool], number: str, data: st.DataObject) -> None:
    """By the rules with a remainder of ten, or two centuries, two endings can share a body; never more."""
    digits = [place for place, character in enumerate(number[:-1]) if character.isdigit()]
    place = data.draw(st.sampled_from(digits))
    other = number[:place] + data.draw(st.sampled_from("0123456789")) + number[place + 1 :]
    passed = [digit for digit in "0123456789" if passes(other[:-1] + digit)]
    assert len(passed) <= (10 if passes in WITHOUT_LAST_CHECK else 2)


@pytest.mark.parametrize(
    ("passes", "number"),
    [
        (check.cn_resident, "11010519490231002X"),  # 31 February
        (check.dk_cpr, "3113701234"),  # month 13
        (check.eg_national, "29002310100000"),
        (check.id_nik, "3201003213900001"),
        (check.br_cpf, "11111111111"),  # passes its check digits, and is nobody's
        (check.luhn, "0000000000"),
    ],
)
def test_what_is_no_date_or_nobodys_fails(passes: Callable[[str], bool], number: str) -> None:
    assert not passes(number)
