"""Tools that commitments allow: what a ``tool_name`` slot may hold.

The contract: the predicate ``allow(tool:NAME)`` allows one tool, by its name. Other predicates name none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_ALLOWED: Final = re.compile(r"allow\(tool:([A-Za-z_][A-Za-z0-9_.-]{0,62}[A-Za-z0-9_-]|[A-Za-z_])\)")


def allowed_tool(predicate: str) -> str | None:
    """Return the tool that a predicate allows; null where it allows none by name."""
    found = _ALLOWED.fullmatch(predicate)
    return None if found is None else found.group(1)


def allowed_tools(predicates: Iterable[str]) -> frozenset[str]:
    """Return the tools that predicates allow by name."""
    return frozenset(tool for tool in map(allowed_tool, predicates) if tool is not None)
