"""Which texts are learnt from when others are measured: by whole sources, so that no figure comes from what was learnt.

The contract: texts of one repository are all in one fold. A text that is made from another one (disguised attacks) is
in the other's fold; where its origin is not found it is in none, neither learnt from nor measured. A text whose
beginning also stands in a held-out source is not learnt from either: repositories copy from each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from infra.models.injection.authored_texts import EMBEDDED, GROUP
from infra.models.injection.corpora import Row
from infra.models.injection.examples import Tools

FOLDS: Final = 7
NO_FOLD: Final = -1
ALWAYS_LEARNT: Final = -2

DERIVED: Final = "derived from dev positives (own transform)"

_FOLD_OF: Final = {
    "sinanw/llm-security-prompt-injection": 0,
    "mem0ai/mem0": 0,
    "Aider-AI/aider": 0,
    "NVIDIA/garak": 1,
    "garak-multilingual 0.1.0 (PyPI)": 1,
    "microsoft/presidio": 1,
    "Azure/PyRIT (fork romanlutz/PyRIT)": 2,
    "fastapi/fastapi": 2,
    "Tencent/AI-Infra-Guard": 3,
    "microsoft/BIPIA": 3,
    "All-Hands-AI/OpenHands": 4,
    "bastioncorpus 0.6.0 (PyPI)": 4,
    "agent-injection-bench 0.1.0 (PyPI)": 4,
    "ogulcanaydogan/Prompt-Injection-Firewall": 5,
    "kyahikaru/hinglish-prompt-injection-detector": 5,
    "SWE-agent/SWE-agent": 5,
    "machine-written for this corpus, not reviewed by native speakers": 6,
    "machine-written for this corpus, not reviewed by native speakers + own transform": 6,
    "reactjs/hi.react.dev": 6,
    "reactjs/ar.react.dev": 6,
}
"""By hand, so that each fold has attacks and others; a source that is not named goes to a fold by its place."""

_KEY: Final = 24
_SHORTEST_KEY: Final = 12
_OPENING: Final = 60


def with_origins(rows: Sequence[Row], tools: Tools) -> list[str]:
    """Return each row's source, of a derived one that of the attack which it disguises; empty where not found."""
    origins: dict[str, str] = {}
    for row in rows:
        if row.attack and not row.obfuscation and row.group not in {DERIVED, GROUP}:
            key = _letters(row.text, tools)[:_KEY]
            if len(key) >= _SHORTEST_KEY:
                origins.setdefault(key, row.group)
    return [_origin(row, origins, tools) if row.group == DERIVED else row.group for row in rows]


def folds_of(groups: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the fold of each source."""
    others = sorted({group for group in groups if group and group not in _FOLD_OF})
    fold_of = {**{group: place % FOLDS for place, group in enumerate(others)}, **_FOLD_OF, "": NO_FOLD}
    return np.array([fold_of[group] for group in groups], np.int64)


def openings(rows: Sequence[Row], tools: Tools) -> npt.NDArray[np.int64]:
    """Return a number for each row's opening letters, the same for the same ones; one among others has its own."""
    numbers: dict[str, int] = {}
    by_id = {row.id: numbers.setdefault(_letters(row.text, tools)[:_OPENING], len(numbers)) for row in rows}
    return np.array([by_id.get(row.id.removeprefix(EMBEDDED), by_id[row.id]) for row in rows], np.int64)


def _letters(text: str, tools: Tools) -> str:
    folded = "".join(map(chr, tools.table.fold(text[:2000]).codes))
    return "".join(filter(str.isalnum, folded))


def _origin(row: Row, origins: dict[str, str], tools: Tools) -> str:
    for view in tools.reader.views(row.text):
        letters = "".join(filter(str.isalnum, map(chr, view.codes)))
        for key, group in origins.items():
            if key in letters:
                return group
    return ""
