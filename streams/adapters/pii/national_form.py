"""What is known of a national number: one row of ``national_europe`` and ``national_world``.

The contract: of what is not ``Alone``, the words beside it decide; they are in lower case, and
``streams.adapters.pii.context`` says how they match.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple


class Alone(Enum):
    """When a number is a finding without a word beside it.

    Form and checks together have to be passed by fewer than about one in five hundred numbers of that form.
    """

    NEVER = "never"
    PUNCTUATED = "punctuated"
    ALWAYS = "always"


class NationalNumber(NamedTuple):
    """A number that a state gives to a person.

    Attributes:
        entity: Its entity type, as policy names it.
        languages: Whose profiles look for it (ISO 639-1).
        form: A regular expression, letters in upper case.
        check: Whether the number without separators is right; ``any_number`` where nothing can tell.
        alone: Whether it is a finding without a word beside it.
        words: The words beside it.
    """

    entity: str
    languages: tuple[str, ...]
    form: str
    check: Callable[[str], bool]
    alone: Alone
    words: tuple[str, ...]


D: Final = r"(?<![\w-])(?<!\d[./])"
"""Before a number: no letter, digit, hyphen, nor a digit with a dot or slash."""
E: Final = r"(?![\w-]|[./]\d)"
"""Behind it: the same."""
