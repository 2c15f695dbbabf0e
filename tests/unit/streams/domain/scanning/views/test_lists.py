"""Lists of digests, lock files and identifiers are no torn tokens: their readings stay within their bound."""

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import Callable
from itertools import pairwise
from typing import Final

import pytest

from streams.domain.scanning.views.limits import most_read
from streams.domain.scanning.views.readings import readings
from tests.fakes.lists import LISTS, a_list, seeded

SIZES: Final = (20, 50, 80, 160, 400)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("lines", SIZES)
def test_a_list_of_identifiers_is_read_within_its_bound(name: str, lines: int) -> None:
    text = a_list(name, lines)
    read = sum(len(view.text) for view in readings(text)) - len(text)
    assert read <= most_read(len(text))


ROWS: Final[dict[str, Callable[[random.Random, int], str]]] = {
    "digests": lambda chance, _: f"{chance.randbytes(20).hex()}  src/module_one/file_2.py",
    "identifiers": lambda chance, _: f"{uuid.UUID(int=chance.getrandbits(128), version=4)} order1",
    "named values": lambda chance, _: f"sha256-{base64.b64encode(chance.randbytes(33)).decode()}",
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_does_not_go_on_in_the_next(name: str) -> None:
    chance = seeded(7)
    rows = [ROWS[name](chance, number) for number in range(12)]
    for view in readings("\n".join(rows)):
        assert not any(one[-8:] + other[:8] in view.text for one, other in pairwise(rows))


HEX: Final = "7f3a9c1e5b2d804647f3a9c1e5b2d804f0e1d2c3b4a5968778695a4b3c2d1e0f"


@pytest.mark.parametrize("place", [8, 32])
def test_a_token_of_digits_goes_on_in_what_looks_like_a_digest(place: int) -> None:
    token = f"dop_v1_{HEX[:place]}" + HEX[:32]
    text = f"{HEX[:32]}  {token[:-32]}\n{token[-32:]}  and so on"
    assert any(token in view.text for view in readings(text))


def test_a_token_that_is_broken_and_turned_is_read_beside_a_list() -> None:
    mixed = "q7Rk2Lm9Xv4Bt6Nz1Wc8Yd3Hf5Jg0"
    for turned in (mixed[::-1], mixed.translate(SHIFTED)):
        text = f"Keep {turned[:14]}\n{turned[14:]} safe, and these:\n{a_list('md5sum', 60)}"
        assert any(mixed in view.text for view in readings(text))


SHIFTED: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm"
)


@pytest.mark.parametrize("before", [40, 120, 300])
@pytest.mark.parametrize("after", [40, 120, 300])
def test_a_token_that_is_broken_far_from_its_ends_is_read_as_a_whole(before: int, after: int) -> None:
    chance = seeded(before * after)
    token = "".join(chance.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789", k=before + after))
    prose = "and words of prose " * 30
    assert any(
        token in view.text for view in readings(f"{prose}{token[:before]}\n{token[before:]} {prose}") if view.kinds
    )
