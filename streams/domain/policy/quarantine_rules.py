"""A policy's rule of automatic quarantine: what a verdict may put into its tenant's ledger without a person.

The contract: the optional field ``auto_quarantine`` of recall and compaction policies. Without it nothing is ever put
into the ledger automatically. It names reason codes, and only codes that speak of a text: a failure or a fingerprint
that is known already is no ground. How little text, how many entries an hour and for how long are bounded here as well
as there, so that no policy can open a ledger to everyone. ``effect`` is REVIEW where the field does not say.

There is no scope to choose: a rule's entries are always the tenant's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pratique.contract.canonical import JsonValue
from pratique.contract.document import Fields
from pratique.contract.reasons import ReasonCode
from streams.domain.policy.model import QuarantineEffect, QuarantineRule
from streams.errors import PolicyError

FIELD: Final = "auto_quarantine"
"""Its name in a policy document."""

LISTABLE_CODES: Final = frozenset(
    {
        ReasonCode.INJECTION,
        ReasonCode.INSTRUCTION_LAUNDERED,
        ReasonCode.ROLE_ASSERTION,
        ReasonCode.ACTION_TRIGGER,
        ReasonCode.HIDDEN_TEXT,
        ReasonCode.SECRET,
        ReasonCode.PII,
        ReasonCode.PREDICATE_CONFLICT,
    }
)
"""What a rule may list: findings in a text. KNOWN_FINGERPRINT would make a tenant's entry of every global one."""

LEAST_CHARACTERS: Final = 16
"""Shorter texts are everyone's: a greeting that a detector errs about must not be withheld from then on."""

MOST_AN_HOUR: Final = 1_000
DAY_MS: Final = 24 * 60 * 60 * 1000
LEAST_EXPIRY_MS: Final = 2 * DAY_MS
"""Longer than any command may be applied for, so that none that is sent again finds its entry expired."""

MOST_EXPIRY_MS: Final = 400 * DAY_MS

_FIELDS: Final = ("codes", "minimum_characters", "hourly_quota", "expires_after_ms")


def field_names(value: JsonValue, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the fields that a policy document must have: the rule's beside the others where it is there."""
    return (*names, FIELD) if isinstance(value, Mapping) and FIELD in value else names


def quarantine_rule(value: JsonValue, where: str) -> QuarantineRule | None:
    """Read a policy document's rule; none where it has none.

    Args:
        value: The whole document.
        where: How refusals call it.

    Raises:
        PolicyError: The rule is not within bounds, or lists what is no finding in a text.
    """
    stated = value.get(FIELD) if isinstance(value, Mapping) else None
    if stated is None:
        return None
    names = (*_FIELDS, "effect") if isinstance(stated, Mapping) and "effect" in stated else _FIELDS
    fields = Fields(stated, f"{where}: {FIELD}", names, PolicyError)
    listable = {code.value: code for code in LISTABLE_CODES}
    codes = fields.texts("codes", maximum=len(listable))
    if not listable.keys() >= set(codes):
        raise fields.refusal("codes", f"lists what is none of {', '.join(sorted(listable))}")
    effect = QuarantineEffect.REVIEW
    if len(names) > len(_FIELDS):
        effects = {item.value: item for item in QuarantineEffect}
        name = fields.text("effect", max_characters=32)
        if name not in effects:
            raise fields.refusal("effect", f"is none of {', '.join(effects)}")
        effect = effects[name]
    return QuarantineRule(
        codes=tuple(sorted((listable[name] for name in codes), key=lambda code: code.value)),
        minimum_characters=fields.integer("minimum_characters", minimum=LEAST_CHARACTERS, maximum=1_000_000),
        hourly_quota=fields.integer("hourly_quota", minimum=1, maximum=MOST_AN_HOUR),
        expires_after_ms=fields.integer("expires_after_ms", minimum=LEAST_EXPIRY_MS, maximum=MOST_EXPIRY_MS),
        effect=effect,
    )
