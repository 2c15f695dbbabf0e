"""A policy's rules applied to what detectors found: what blocks, what is allowed, what is only observed.

The contract: pure, and closed: a finding blocks unless a rule says otherwise of it. An entry allows a finding only
where the text stands there plainly (a secret in base64 is somebody's disguise, whatever its plain form is), the entry
has not expired at the moment given, and the whole matched text is the one whose digest it names or matches its pattern.
Without a moment nothing is allowed. What was allowed or observed is counted by the rule's own names; values are neither
kept nor returned.

Patterns are RE2: their time is linear in the text.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from streams.domain.normal_form import nfkc
from streams.domain.policy.scan_rules import AllowEntry, ScanRules, compiled
from streams.domain.scanning.finding import Finding
from streams.domain.scanning.population import Field

_COMPILED: Final = 512
"""Patterns that are kept compiled: those of two full lists."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What rules make of findings.

    Attributes:
        findings: Those that block, in their order.
        allowed: How many each entry allowed, by its id.
        observed: How many were below their detector's score, by category and detector (``INJECTION/injection``).
    """

    findings: tuple[Finding, ...]
    allowed: Mapping[str, int]
    observed: Mapping[str, int]


def value_sha256(value: str) -> str:
    """Return the digest that an entry names a matched text by: SHA-256 of it in NFKC, without white space around it."""
    return hashlib.sha256(nfkc(value).strip().encode("utf-8")).hexdigest()


def apply_rules(findings: Sequence[Finding], fields: Sequence[Field], rules: ScanRules, at_ms: int | None) -> Applied:
    """Apply a policy's rules.

    Args:
        findings: What detectors found in the fields.
        fields: The fields.
        rules: The policy's.
        at_ms: The moment that expiries are compared with, milliseconds since the epoch; none allows nothing.
    """
    if not rules:
        return Applied(tuple(findings), {}, {})
    texts = {field.path: field.value for field in fields}
    least = {(item.category, item.detector): item.minimum_score / 100 for item in rules.thresholds}
    live = [entry for entry in rules.allow if at_ms is not None and at_ms < entry.expires_ms]
    blocking: list[Finding] = []
    allowed, observed = Counter[str](), Counter[str]()
    for finding in findings:
        key = (finding.category.value, finding.detector)
        if finding.score < least.get(key, 0.0):
            observed["/".join(key)] += 1
            continue
        entry = _allowing(finding, texts[finding.path], live)
        if entry is not None:
            allowed[entry.id] += 1
            continue
        blocking.append(finding)
    return Applied(tuple(blocking), dict(sorted(allowed.items())), dict(sorted(observed.items())))


def _allowing(finding: Finding, text: str, entries: Sequence[AllowEntry]) -> AllowEntry | None:
    if finding.detail or not entries:
        return None
    value = text[finding.start : finding.end]
    digest = ""
    for entry in entries:
        if entry.category != finding.category.value:
            continue
        if entry.detector not in ("", finding.detector) or entry.type not in ("", finding.type):
            continue
        if entry.pattern:
            if matches(entry.pattern, value):
                return entry
            continue
        digest = digest or value_sha256(value)
        if digest == entry.value_sha256:
            return entry
    return None


def matches(pattern: str, value: str) -> bool:
    """Say whether the whole of a text matches an entry's pattern."""
    return cast("Any", _kept(pattern)).fullmatch(value) is not None


@lru_cache(_COMPILED)
def _kept(pattern: str) -> object:
    return compiled(pattern)
