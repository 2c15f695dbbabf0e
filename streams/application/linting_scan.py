"""What in a scan policy's rules is allowed but hardly meant.

The contract: each warning is a code, what it is about, and what to do; ``streams.application.linting`` makes findings
of them. What a worker would refuse is no warning: reading the policy refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from streams.domain.policy.model import ScanPolicy
from streams.domain.policy.scan_rules import AllowEntry, ScanRules
from streams.domain.scanning.applying import matches

DAY_MS: Final = 24 * 60 * 60 * 1000
LONGEST_DAYS: Final = 400
"""An entry that stands for longer is nobody's decision any more."""

HIGHEST_SCORE: Final = 95
"""Scores are calibrated probabilities: at this one, a detector that is not sure finds nothing."""

SPACY_LOADING_MS: Final = 3_000
MODEL_LOADING_MS: Final = 2_000
"""What a scan should have for them: a new worker loads spaCy, and then each model, within its first scan."""

UNRELATED: Final = ("x", "0", "0123456789", "Zm9vYmFy", "a@b.example", "two words", "日本語")
"""Texts with nothing in common: a pattern that matches all of them matches whatever is found."""

RuleWarning: TypeAlias = tuple[str, str, str]
"""Code, rule, message."""


def rule_warnings(rules: ScanRules, now_ms: int) -> Iterator[RuleWarning]:
    """Yield what is hardly meant, as code, rule and message.

    Args:
        rules: The policy's rules.
        now_ms: Now, milliseconds since the epoch.
    """
    for entry in rules.allow:
        yield from _of_entry(entry, now_ms)
    for item in rules.thresholds:
        if item.minimum_score > HIGHEST_SCORE:
            yield (
                "score-high",
                f"{item.category}/{item.detector}",
                f"below {item.minimum_score} hundredths nothing blocks: what this detector finds hardly counts",
            )


def model_warnings(policy: ScanPolicy) -> Iterator[RuleWarning]:
    """Yield in which of a policy's languages its models leave names alone, and whether they have no time to be loaded.

    Args:
        policy: The scan policy.
    """
    covered = {model.language for model in policy.rules.models}
    others = [language for language in policy.language_profiles if language not in covered]
    if covered and others:
        yield (
            "model-languages",
            ", ".join(sorted(covered)),
            f"names are looked for in these languages alone; name models for {', '.join(others)}, or be content",
        )
    least_ms = SPACY_LOADING_MS + MODEL_LOADING_MS * len(covered)
    if covered and policy.timeout_ms < least_ms:
        yield (
            "model-timeout",
            f"timeout_ms {policy.timeout_ms}",
            f"new scan workers load language models in their first scan, or it is DETECTOR_TIMEOUT: allow {least_ms}",
        )


def _of_entry(entry: AllowEntry, now_ms: int) -> Iterator[RuleWarning]:
    if entry.expires_ms <= now_ms:
        yield "allow-expired", entry.id, "it has expired and allows nothing: take it out, or decide anew"
    elif entry.expires_ms > now_ms + LONGEST_DAYS * DAY_MS:
        yield "allow-long", entry.id, f"it stands for over {LONGEST_DAYS} days: let somebody decide anew before that"
    if entry.pattern and all(matches(entry.pattern, text) for text in UNRELATED):
        yield "allow-anything", entry.id, "its pattern matches whatever is found: say what the allowed text looks like"
