"""What a scanner learns before its first text: automata meet states by reading, and libraries load tables at first use.

The contract: nothing that is found changes, only how long the first texts take. What is read is Python's own handbook,
prose and code in English, which every interpreter brings along; where one does not, less is learnt.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from streams.adapters.pii.scanner import Scanner

READ_CHARACTERS: Final = 300_000
"""How much is read: some tenth of a second for every language and type."""

_STEP: Final = 4_000
_HANDBOOK: Final = "pydoc_data.topics"
_EVERYTHING: Final = "call +49 30 901820 or (212) 555-0123, write to jane.doe@example.com"


def warm(scanner: Scanner) -> None:
    """Have a scanner read."""
    scanner.matches(_EVERYTHING)
    text = _handbook()[:READ_CHARACTERS]
    for start in range(0, len(text), _STEP):
        scanner.learn(text[start : start + _STEP])


def _handbook() -> str:
    """Return the text, and leave the module as it was found: it is large."""
    was_there = _HANDBOOK in sys.modules
    try:
        topics: dict[str, str] = importlib.import_module(_HANDBOOK).topics
    except ImportError:
        return ""
    if not was_there:
        sys.modules.pop(_HANDBOOK, None)
    return "\n".join(topics.values())
