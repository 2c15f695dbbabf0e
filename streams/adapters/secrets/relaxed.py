"""Kingfisher's catalogue without its thresholds: what a rule's form says, whatever entropy or check digits say.

The contract: made from the built-in rules at load, so it follows the engine's version. Left out are rules of what is
no secret by itself (names of accounts, client ids, hosts). A pattern's closing condition is widened: a token in prose
ends at any character that tokens lack, not only at white space and quotes. What is found is judged as the families'
values are: no templates, no filler.

It decodes nothing, unlike the detector ``kingfisher``: views do.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import kingfisher_sdk

from pratique.contract.canonical import JsonValue
from streams.adapters.kingfisher import builtin_details, builtin_rules
from streams.adapters.secrets.families import Judging, Match
from streams.adapters.secrets.judging import Judge, is_secret

PREFIX: Final = "catalogue."

_NO_SECRET: Final = re.compile(
    r"(?:client|account|project|tenant|application|app|access|organi[sz]ation|key|user|team|site|merchant)-?(?:id|name)\b"
    r"|username|-host|-url\b|-domain|cloud-name|token-name|-repository|credential-uri|connection-string|tf-password|\.private-key$|\.jwt"
)
"""The last five find what the families find, with fewer mistakes."""

_CLOSINGS: Final = (
    r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)""",
    r"""(?:(?:\\?(?:["'`]))|(?:[\x09-\x0D\x20;])|(?:\\(?:[NRnr]))|\z)""",
)
_ANY_CLOSING: Final = "(?:[^A-Za-z0-9_]|$)"


class RelaxedCatalogue:
    """The relaxed rules, compiled by the engine and kept in its own cache."""

    __slots__ = ("_scanner", "body", "size", "version")

    def __init__(self) -> None:
        rules = relaxed_rules()
        self.body: JsonValue = rules
        self.size = len(rules)
        self.version = str(kingfisher_sdk.__version__)
        with tempfile.TemporaryDirectory(prefix="pratique-rules-") as folder:
            path = Path(folder) / "relaxed.json.yml"
            path.write_text(json.dumps({"rules": rules}), encoding="utf-8")
            compiled = kingfisher_sdk.Rules([path], builtins=False, confidence="low")
        policy = kingfisher_sdk.DetectionPolicy(
            inline_ignores=False,  # otherwise the text under suspicion could name itself ignored
            markup_context=False,
            cli_match_semantics=False,
            base64_max_depth=0,  # views decode
        )
        self._scanner = kingfisher_sdk.Scanner(compiled, base64=False, redact=True, policy=policy)

    def matches(self, text: bytes, judging: Judging = is_secret) -> Iterator[Match]:
        """Yield what the rules find in a UTF-8 text.

        Args:
            text: The text.
            judging: Says of each value whether it is a secret.
        """
        for item in self._scanner.scan(text):
            start, end = int(item.location["start_offset"]), int(item.location["end_offset"])
            if item.visible and judging(Judge.LITERAL, text[start:end].decode("utf-8", "ignore"), ""):
                yield Match(PREFIX + str(item.rule_id).removeprefix("custom."), start, end)


def relaxed_rules() -> list[dict[str, JsonValue]]:
    """Return the engine's own rules as custom ones without filters, in the order of their ids."""
    names = sorted(str(rule["id"]) for rule in builtin_rules().metadata() if rule["visible"])
    return [_relaxed(name) for name in names if not _NO_SECRET.search(name)]


def _relaxed(name: str) -> dict[str, JsonValue]:
    pattern = str(builtin_details()[name]["pattern"])
    for closing in _CLOSINGS:
        pattern = pattern.replace(closing, _ANY_CLOSING)
    return {
        "name": name,
        "id": "custom." + name,
        "pattern": pattern,
        "min_entropy": 0.0,
        "confidence": "low",
        "examples": [],
    }
