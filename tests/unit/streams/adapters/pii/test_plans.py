"""The automaton of numbering plans leaves out no region in which a number is valid."""

from __future__ import annotations

import re

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.pii.plans import plans_of
from streams.adapters.presidio_profiles import PHONE_REGIONS

REGIONS = tuple(sorted({region for regions in PHONE_REGIONS.values() for region in regions}))
PREFIXES = st.sampled_from(["", "0", "00", "1", "8", "011", "810", "27", "49", "0049", "521", "044", "09"])


def is_valid(digits: str, region: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(digits, region))
    except phonenumbers.NumberParseException:
        return False


@given(PREFIXES, st.text(alphabet="0123456789", min_size=5, max_size=11))
def test_a_region_in_which_a_number_is_valid_is_left_in(prefix: str, rest: str) -> None:
    digits = prefix + rest
    left = plans_of(REGIONS).regions_of(digits)
    assert [region for region in REGIONS if is_valid(digits, region) and region not in left] == []


@pytest.mark.parametrize("region", REGIONS)
def test_example_numbers_are_valid_and_left_in(region: str) -> None:
    number = phonenumbers.example_number(region)
    assert number is not None
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.NATIONAL)
    digits = re.sub(r"\D", "", written)
    assert not is_valid(digits, region) or region in plans_of(REGIONS).regions_of(digits)


def test_most_regions_are_left_out() -> None:
    assert len(plans_of(REGIONS).regions_of("5551234567")) < len(REGIONS) / 3


def test_digits_of_other_scripts_leave_all_in() -> None:
    assert plans_of(("DE",)).regions_of("\u0661" * 10) == ("DE",)
