"""How far disguises are taken off: the bounds that keep a scan's work in proportion to its text.

The contract: the bounds are policy's (``views`` in a scan policy); one that names none has ``DEFAULT_LIMITS``. Work is
linear in a text's length plus ``max_characters``: what would exceed that is refused with TOO_LARGE, and never read in
part, since the rest would look clean.
"""

from __future__ import annotations

from typing import Final

from streams.domain.policy.model import ViewLimits

REVISION: Final = 5
"""Of how texts are read; raised whenever one reads otherwise than before. Part of the scanner's manifest."""

DEFAULT_LIMITS: Final = ViewLimits()
