"""A scan policy's own word on findings: what is allowed for a while, and from which score on others count.

The contract: three optional fields of a scan policy. ``allow`` lists findings that do not count, each by the digest of
the matched text or by an RE2 pattern that the whole of it must match, with a reason and an expiry. ``actions`` sets,
for INJECTION and HIDDEN_TEXT alone and per detector, the score from which a finding blocks; below it, it is only
observed. Nothing else can be turned down: a secret, and personal data of the policy's types, always block unless they
are allowed one by one. ``models`` names language models (``streams.domain.policy.language_models``), without which
nothing is looked for by one.

The rules are part of the digest that policy pins its scanner by (``configured_sha256``): a worker that goes by others
is another scanner. Applying them is ``streams.domain.scanning.applying``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import re2

from pratique.contract.canonical import JsonValue, canonical_sha256
from pratique.contract.document import Fields
from streams.domain.policy.language_models import MODELS, LanguageModel, language_models
from streams.errors import PolicyError

ALLOW: Final = "allow"
ACTIONS: Final = "actions"

ALLOWABLE: Final = ("SECRET", "PII", "INJECTION", "HIDDEN_TEXT")
"""Categories of findings that can be allowed one by one."""

GRADED: Final = ("INJECTION", "HIDDEN_TEXT")
"""Categories whose detectors score by degree. A secret or an identifier is one or is none."""

MAX_ENTRIES: Final = 256
MAX_THRESHOLDS: Final = 32
MAX_PATTERN_CHARACTERS: Final = 512
MAX_REASON_CHARACTERS: Final = 512
MAX_PATTERN_BYTES: Final = 1024 * 1024
"""What RE2 may use for one pattern; one that needs more is refused."""

MAX_SCORE: Final = 100

_ENTRY_FIELDS: Final = ("id", "category", "reason", "expires_ms")
_OPTIONAL: Final = ("detector", "type")
_MATCHES: Final = ("value_sha256", "pattern")
_NAME: Final = re.compile(r"[0-9A-Za-z_./+-]{1,128}")


@dataclass(frozen=True, slots=True)
class AllowEntry:
    """A finding that does not count until it expires.

    Attributes:
        id: Its name in logs and metrics.
        category: Of which category.
        reason: Why, in the security engineer's words.
        expires_ms: From when on it counts again, milliseconds since the epoch.
        detector: Of which detector; of any where empty.
        type: Of which of the detector's types; of any where empty.
        value_sha256: Digest of the matched text, normalised; empty where there is a pattern.
        pattern: RE2 that the whole matched text must match; empty where there is a digest.
    """

    id: str
    category: str
    reason: str
    expires_ms: int
    detector: str = ""
    type: str = ""
    value_sha256: str = ""
    pattern: str = ""

    def body(self) -> dict[str, JsonValue]:
        """Return the entry as policy has it."""
        body: dict[str, JsonValue] = {name: getattr(self, name) for name in _ENTRY_FIELDS}
        return body | {name: getattr(self, name) for name in (*_OPTIONAL, *_MATCHES) if getattr(self, name)}


@dataclass(frozen=True, slots=True)
class Threshold:
    """From which score on a detector's findings of a category block.

    Attributes:
        category: One of ``GRADED``.
        detector: The detector.
        minimum_score: In hundredths, 1 to 100.
    """

    category: str
    detector: str
    minimum_score: int


@dataclass(frozen=True, slots=True)
class ScanRules:
    """The rules of a policy; none where it has none of the fields."""

    allow: tuple[AllowEntry, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    models: tuple[LanguageModel, ...] = ()

    def body(self) -> dict[str, JsonValue]:
        """Return the fields as policy has them; an empty one is left out."""
        body: dict[str, JsonValue] = {}
        if self.allow:
            body[ALLOW] = [entry.body() for entry in self.allow]
        if self.thresholds:
            actions: dict[str, list[JsonValue]] = {}
            for item in self.thresholds:
                stated: JsonValue = {"detector": item.detector, "minimum_score": item.minimum_score}
                actions.setdefault(item.category, []).append(stated)
            body[ACTIONS] = actions
        if self.models:
            body[MODELS] = [model.body() for model in self.models]
        return body

    def __bool__(self) -> bool:
        return bool(self.allow or self.thresholds or self.models)


NO_RULES: Final = ScanRules()

CONFIGURATION_SCHEMA_VERSION: Final = "pratique.scanner-configuration.v1"


def configured_sha256(manifest_sha256: str, rules: ScanRules) -> str:
    """Return what policy pins a scanner by: its manifest's digest, or where there are rules that of both together."""
    if not rules:
        return manifest_sha256
    return canonical_sha256(
        {"schema_version": CONFIGURATION_SCHEMA_VERSION, "manifest_sha256": manifest_sha256, **rules.body()}
    )


def rule_fields(value: JsonValue) -> tuple[str, ...]:
    """Return which of the fields a document has."""
    return tuple(name for name in (ALLOW, ACTIONS, MODELS) if isinstance(value, Mapping) and name in value)


def scan_rules(value: JsonValue, where: str = "scan policy") -> ScanRules:
    """Read the fields of a document, each of which may be missing; other fields are not looked at.

    Args:
        value: The whole document.
        where: How refusals call it.

    Raises:
        PolicyError: An entry, a threshold or a model is not of its form.
    """
    names = rule_fields(value)
    if not names or not isinstance(value, Mapping):
        return NO_RULES
    fields = Fields({name: value[name] for name in names}, where, names, PolicyError)
    allow = tuple(_entries(fields, where)) if ALLOW in names else ()
    if len({entry.id for entry in allow}) < len(allow):
        raise fields.refusal(ALLOW, "has two entries of one id")
    thresholds = tuple(_thresholds(value[ACTIONS], f"{where}: {ACTIONS}")) if ACTIONS in names else ()
    return ScanRules(allow, thresholds, language_models(fields, where) if MODELS in names else ())


def compiled(pattern: str) -> object:
    """Compile an entry's pattern.

    Raises:
        PolicyError: It is no RE2 pattern, or one that needs too much memory.
    """
    options = re2.Options()
    options.max_mem = MAX_PATTERN_BYTES
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        raise PolicyError("pattern is no RE2 pattern of bounded size") from None


def _entries(fields: Fields, where: str) -> Iterator[AllowEntry]:
    for index, item in enumerate(fields.sequence(ALLOW, minimum=1, maximum=MAX_ENTRIES)):
        stated = item if isinstance(item, Mapping) else {}
        matches = tuple(name for name in _MATCHES if name in stated)
        optional = tuple(name for name in _OPTIONAL if name in stated)
        entry = Fields(item, f"{where}: {ALLOW}[{index}]", (*_ENTRY_FIELDS, *optional, *matches), PolicyError)
        if len(matches) != 1:
            raise entry.refusal("value_sha256", "or pattern has to be there, and not both")
        yield AllowEntry(
            id=entry.identifier("id"),
            category=_one_of(entry, "category", ALLOWABLE),
            reason=entry.text("reason", max_characters=MAX_REASON_CHARACTERS),
            expires_ms=entry.integer("expires_ms", minimum=1),
            detector=_name(entry, "detector") if "detector" in optional else "",
            type=_name(entry, "type") if "type" in optional else "",
            value_sha256=entry.sha256("value_sha256") if "value_sha256" in matches else "",
            pattern=_pattern(entry) if "pattern" in matches else "",
        )


def _pattern(fields: Fields) -> str:
    pattern = fields.text("pattern", max_characters=MAX_PATTERN_CHARACTERS)
    try:
        compiled(pattern)
    except PolicyError as error:
        raise fields.refusal("pattern", f"is refused: {error}") from None
    return pattern


def _thresholds(value: JsonValue, where: str) -> Iterator[Threshold]:
    names = tuple(value) if isinstance(value, Mapping) else ()
    fields = Fields(value, where, [name for name in GRADED if name in names] or GRADED[:1], PolicyError)
    for category in GRADED:
        if category not in names:
            continue
        seen = set()
        for item in fields.records(category, ("detector", "minimum_score"), minimum=1, maximum=MAX_THRESHOLDS):
            detector = _name(item, "detector")
            if detector in seen:
                raise item.refusal("detector", "has two scores")
            seen.add(detector)
            yield Threshold(category, detector, item.integer("minimum_score", minimum=1, maximum=MAX_SCORE))


def _one_of(fields: Fields, name: str, allowed: tuple[str, ...]) -> str:
    value = fields.text(name, max_characters=64)
    if value not in allowed:
        raise fields.refusal(name, f"is none of {', '.join(allowed)}")
    return value


def _name(fields: Fields, name: str) -> str:
    value = fields.text(name, max_characters=128)
    if not _NAME.fullmatch(value):
        raise fields.refusal(name, "is no name of a detector or type")
    return value
