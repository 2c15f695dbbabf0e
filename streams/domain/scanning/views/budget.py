"""What is left of a field's allowance: spent by every character that is read otherwise, and by every byte unpacked.

The contract: one ``Budget`` goes through all readings of a field; who would overspend it raises, so that nothing is
read in part.
"""

from __future__ import annotations

from pratique.errors import TooLargeError


class Budget:
    """An allowance of characters.

    Args:
        characters: How many there are.
    """

    def __init__(self, characters: int) -> None:
        self.left = characters

    def spend(self, characters: int) -> None:
        """Take characters off the allowance.

        Raises:
            TooLargeError: There are not as many left.
        """
        self.left -= characters
        if self.left < 0:
            raise TooLargeError("a text's readings are larger than the policy allows")
