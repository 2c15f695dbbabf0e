r"""Two narrow signals in recalled text: an asserted role with an override, and a token that triggers an action.

The contract (AID-D-001.005 G001), exactly what its two regular expressions match on every text:

- role assertion: one of ``ROLES`` and, at most 120 characters after it on the same line, one of ``OVERRIDES``;
- action trigger: one of ``ACTIONS``.

Each is a whole word: no letter, digit or underscore of any script touches it. Case does not matter, and neither do the
four letters of other alphabets that fold to one of a to z; only a line feed ends a line. RE2 knows neither, so its
``\b`` and ``(?i)`` would see another text; the words are sought here in one pass, which is linear in the text.

They are defence in depth beside the calibrated detector, and decide nothing.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

ROLES: Final = frozenset({"system", "developer", "administrator", "root"})
OVERRIDES: Final = frozenset({"ignore", "override", "must", "authority"})
ACTIONS: Final = frozenset({"call_tool", "approve", "wire_transfer", "delete", "exfiltrate", "grant_access"})

LONGEST_GAP: Final = 120
"""Most characters between role and override."""

# One letter for one, so that places stay: dotted capital and dotless small i, Kelvin sign, long s.
_FOLD: Final = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ\u0130\u0131\u212a\u017f", "abcdefghijklmnopqrstuvwxyz" + "iiks"
)

# Bare words: at each place at most the longest of them is looked at.
_WORDS: Final = re.compile(rf"\b(?:{'|'.join(sorted(ROLES | OVERRIDES | ACTIONS))})\b")


class Signal(Enum):
    """What matched; the value is the seed's name in ``matched_signals``."""

    KNOWN_FINGERPRINT = "known_bad_fingerprint"
    ROLE_ASSERTION = "role_assertion_override"
    ACTION_TRIGGER = "unsafe_action_token"


def text_signals(text: str) -> frozenset[Signal]:
    """Return the signals that a text itself gives."""
    folded = text.translate(_FOLD)
    found: set[Signal] = set()
    role_end: int | None = None
    for match in _WORDS.finditer(folded):
        word = match.group()
        if word in ACTIONS:
            found.add(Signal.ACTION_TRIGGER)
        elif word in ROLES:
            role_end = match.end()  # the nearest role before an override is the one that can reach it
        elif role_end is not None and _reaches(folded, role_end, match.start()):
            found.add(Signal.ROLE_ASSERTION)
    return frozenset(found)


def _reaches(text: str, start: int, end: int) -> bool:
    return end - start <= LONGEST_GAP and "\n" not in text[start:end]
