"""What is left of a field's allowance: spent by every character that is read otherwise, and by every byte unpacked.

The contract: one ``Budget`` goes through all readings of a field; who would overspend it raises, so that nothing is
read in part. There are two bounds: policy's, of characters and unpacked bytes alike, and one in proportion to the text
(``streams.domain.scanning.views.limits``), of what is read; bytes take so much less work than a reading does that they
count for a part of one there.
"""

from __future__ import annotations

import math
from typing import Final

from pratique.errors import TooLargeError

_BYTES_OF_A_CHARACTER: Final = 8
"""Unpacked bytes that take no more work than a character that every detector reads."""


class Budget:
    """An allowance of characters.

    Args:
        characters: How many there are.
        proportion: How many of them may be read.
    """

    def __init__(self, characters: int, proportion: float = math.inf) -> None:
        self.left = characters
        self._readable = proportion

    def spend(self, characters: int) -> None:
        """Take characters that are read off the allowance.

        Raises:
            TooLargeError: There are not as many left.
        """
        self._take(characters, characters)

    def unpack(self, size: int) -> None:
        """Take unpacked bytes off the allowance.

        Raises:
            TooLargeError: There are not as many left.
        """
        self._take(size, size / _BYTES_OF_A_CHARACTER)

    def _take(self, characters: int, work: float) -> None:
        self.left -= characters
        self._readable -= work
        if self.left < 0 or self._readable < 0:
            raise TooLargeError("a text's readings are larger than the policy or its length allows")
