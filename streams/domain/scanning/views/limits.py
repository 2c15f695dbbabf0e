"""How far disguises are taken off: the bounds that keep a scan's work in proportion to its text.

The contract: the bounds are policy's (``views`` in a scan policy); one that names none has ``DEFAULT_LIMITS``. Below
them there is one in proportion to the text, ``most_read``, that no policy raises: disguises that stand side by side
read as every choice of them, so that a line of some has a thousand readings. What would exceed a bound is refused with
TOO_LARGE, and never read in part, since the rest would look clean.
"""

from __future__ import annotations

from typing import Final

from streams.domain.policy.model import ViewLimits

REVISION: Final = 7
"""Of how texts are read; raised whenever one reads otherwise than before. Part of the scanner's manifest."""

DEFAULT_LIMITS: Final = ViewLimits()

READ_ANYWAY: Final = 5 * 1024
"""Characters that the readings of any text may have, however short it is."""

READ_OF_EACH: Final = 4
"""Characters of readings for each one of a text."""


def most_read(characters: int) -> int:
    """Return how many characters all readings of a text may have beside it.

    Args:
        characters: How many the text has.
    """
    return READ_ANYWAY + READ_OF_EACH * characters
