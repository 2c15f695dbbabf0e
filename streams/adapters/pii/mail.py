"""Mail addresses: looked for around each at sign, so that a long text without one costs nothing.

The contract: Presidio's pattern and its public suffixes, over at most ``BEFORE`` characters before an at sign and
``BEHIND`` behind it (RFC 5321: 64 and 255), so that the cost is linear in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from streams.adapters.pii.context import Words
from streams.adapters.pii.rules import CERTAIN, PatternForm

BEFORE: Final = 64
BEHIND: Final = 255

_SIGN: Final = "@"
_REPOSITORIES: Final = ("git@", "hg@", "svn@")
_NEVER_LAST: Final = tuple(f"{mark}@" for mark in "=/#?&|{}!$%*^`~'")
"""What RFC 5321 lets a mailbox's name end in, and no name does: ``curl -F file=@report.md`` names a file."""


def mail_addresses(
    form: PatternForm, is_address: Callable[[str], bool]
) -> Callable[[str, Words], Iterable[tuple[int, int, float]]]:
    """Return what looks for addresses.

    Args:
        form: The pattern of one.
        is_address: Whether a match ends in a public suffix.
    """

    def addresses(text: str, context: Words) -> Iterator[tuple[int, int, float]]:  # noqa: ARG001 - the port's
        past = 0
        sign = text.find(_SIGN)
        while sign >= 0:
            begin = max(past, sign - BEFORE)
            behind = text.find(_SIGN, sign + 1)
            finish = min(len(text), sign + BEHIND + 1, behind if behind >= 0 else len(text))
            match = form.compiled.search(text, begin, finish)
            if match is not None and not _of_nobody(match.group()) and is_address(match.group()):
                yield match.start(), match.end(), CERTAIN
            past = sign + 1
            sign = behind

    return addresses


def _of_nobody(address: str) -> bool:
    """Say whether an address is no mailbox: a repository's (``git@`` a host is everybody's), or a file that is sent."""
    return address.startswith(_REPOSITORIES) or any(mark in address for mark in _NEVER_LAST)
