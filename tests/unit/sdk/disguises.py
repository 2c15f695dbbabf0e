"""The delimiter of untrusted text, disguised in every way that the client promises to see through."""

from __future__ import annotations

from typing import Final

import regex
from hypothesis import strategies as st

from pratique.lookalikes import LOOK_ALIKES
from pratique.untrusted import ANGLES, CLOSING, TAG

EVERY: Final = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
IGNORABLE: Final[str] = "".join(regex.findall(r"\p{Default_Ignorable_Code_Point}", EVERY))
WHITE: Final[str] = "".join(regex.findall(r"\p{White_Space}", EVERY))
MARKS: Final[str] = "".join(regex.findall(r"\p{M}", EVERY))
BETWEEN: Final = "/\\_-.,:;!?|*#\"'()[]{}0123456789\u2044\u2215\u2010\u2800" + WHITE

_WIDE: Final = 0xFEE0
_BOLD: Final = 0x1D41A
_CIRCLED: Final = 0x24D0
_FLAG: Final = 0x1F1E6


def forms(letter: str) -> list[str]:
    """Return what a small Latin letter may look like."""
    place = ord(letter) - ord("a")
    alike = [other for other, latin in LOOK_ALIKES.items() if latin == letter]
    styled = [chr(base + place) for base in (_BOLD, _CIRCLED, _FLAG)]
    return [letter, letter.upper(), chr(ord(letter) + _WIDE), chr(ord(letter.upper()) + _WIDE), *styled, *alike]


_NOISE: Final = st.one_of(
    st.just(""),
    st.text(st.sampled_from(IGNORABLE), max_size=4),
    st.text(st.sampled_from(MARKS), max_size=2),
    st.builds(lambda sign, length: sign * length, st.sampled_from(BETWEEN), st.integers(1, 400)),
)


@st.composite
def closings(draw: st.DrawFn) -> str:
    """Make what a reader may take for the closing delimiter."""
    plain = draw(st.sampled_from([CLOSING, f"<{TAG}>"]))
    made = [draw(st.sampled_from(ANGLES))]
    for sign in plain[1:]:
        made += [draw(_NOISE), draw(st.sampled_from(forms(sign))) if sign.isalpha() else sign]
    return "".join(made)
