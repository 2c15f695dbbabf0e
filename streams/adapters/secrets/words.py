"""Words that stand where a secret would stand: what documentation, templates and code write instead of one.

The contract: data only, beside the rules. ``FILLER`` are words that fill a value ("your", "changeme", "token"); a
value that is made of nothing else names a secret and is none. ``METADATA`` are words that, at the end of a name with
a word for a secret in it, make it the name of something else (``token_url``, ``password_min_length``). ``id`` is not
among them: Vault's ``secret_id`` and many a ``session_id`` are secrets.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final


def _words(name: str) -> frozenset[str]:
    return frozenset((files("streams.adapters.secrets") / "rules" / name).read_text(encoding="utf-8").split())


FILLER: Final = _words("filler.txt")
METADATA: Final = _words("metadata.txt")
