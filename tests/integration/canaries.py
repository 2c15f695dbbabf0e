"""Words that nobody else writes, planted where content may be, and found again wherever they come out.

The contract: every canary is a word of its own, so that whatever is found names the place it was planted in.
``found_in`` reads bytes as they are, without regard to case, and finds a canary also in hexadecimal, in base64 (a DSSE
payload is that), and backwards. It says where a canary was planted, never what it is.
"""

from __future__ import annotations

import base64
import secrets
from typing import Final

_LETTERS: Final = "bcdfghjkmnpqrstvwxz"
_LENGTH: Final = 24


class Canaries:
    """The words planted, by where."""

    def __init__(self) -> None:
        self._forms: dict[str, tuple[tuple[bytes, ...], tuple[bytes, ...]]] = {}

    @property
    def places(self) -> frozenset[str]:
        """Where canaries were planted."""
        return frozenset(self._forms)

    def word(self, place: str) -> str:
        """Return a new word, for one place."""
        return self.register(place, "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH)))

    def register(self, place: str, value: str) -> str:
        """Look for a value as well, and return it."""
        assert place not in self._forms
        raw = value.encode()
        folded = (raw.lower(), raw.lower()[::-1], raw.hex().encode(), raw.lower().hex().encode())
        encoded = tuple(core for shift in range(3) if (core := _core(raw, shift)))
        self._forms[place] = (folded, encoded)
        return value

    def found_in(self, *texts: bytes | None) -> set[str]:
        """Return where those canaries were planted that are in some bytes."""
        found: set[str] = set()
        for text in texts:
            if text:
                lower = text.lower()
                found |= {
                    place
                    for place, (folded, encoded) in self._forms.items()
                    if any(form in lower for form in folded) or any(form in text for form in encoded)
                }
        return found


def _core(raw: bytes, shift: int) -> bytes:
    """Return what base64 makes of a value behind ``shift`` other bytes, less what depends on its neighbours."""
    encoded = base64.b64encode(b"\x00" * shift + raw)
    return encoded[4 if shift else 0 : len(encoded) // 4 * 4 - 4]
