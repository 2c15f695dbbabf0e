"""What the scan worker nominates for the tenant's quarantine ledger: it alone has texts, fingerprint keys and policy.

The contract: without a rule in the pinned policy there is no nomination, and nothing is computed. With one, a text is
nominated if it is long enough, the request's tenant's own and not quarantined already, and if something that the rule
lists was found in it here, or may yet be found by the other worker. What is nominated is a fingerprint, never a text;
whether anything follows from it is the verdict's to say, and the ledger's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import NominatedText, Nomination
from streams.application.ports.quarantine import FingerprintKey, Looked
from streams.application.recall_plan import Failure, ScanPlan, path_of
from streams.domain.policy.model import PolicySet, QuarantineRule
from streams.domain.quarantine.automatic import SUMMARY
from streams.domain.recall.fingerprint import fingerprint, fingerprinted_text

STATED_ELSEWHERE: Final = frozenset({ReasonCode.PREDICATE_CONFLICT})
"""What the consistency worker finds, of which this one can't know."""


def nominate_memories(
    plan: ScanPlan, looked: Looked | Failure, reasons: Mapping[int, Sequence[Reason]]
) -> Nomination | None:
    """Return what of a recall is nominated; none where policy has no rule, or the ledger did not answer.

    Args:
        plan: What was to be measured.
        looked: The ledger's answer.
        reasons: What was found in each entry, by place.
    """
    policy = plan.policy_set.recall
    rule = policy.auto_quarantine
    if rule is None or isinstance(looked, Failure):
        return None
    texts = []
    for place, item in enumerate(plan.entries):
        if isinstance(item.fingerprints, Failure) or item.entry.tenant_id != plan.request.tenant_id:
            continue
        mark = item.fingerprints.get(looked.generation)
        codes = {reason.code for reason in reasons.get(place, ())}
        if mark is None or looked.known.intersection(item.fingerprints.values()):
            continue
        if _may_be_ground(rule, codes) and _is_long_enough(rule, item.entry.content):
            texts.append(NominatedText(path_of(place), mark, _listed(rule, codes)))
    return _nomination(rule, looked.generation, texts, (policy.policy_version, policy.detector_revision))


def nominate_summary(
    summary: str, reasons: Sequence[Reason], policy_set: PolicySet, key: FingerprintKey
) -> Nomination | None:
    """Return whether a compaction's summary is nominated; none where policy has no rule.

    Args:
        summary: The summary's text.
        reasons: What was found in the candidate.
        policy_set: The pinned set.
        key: The current generation of the fingerprint key.
    """
    rule = policy_set.compaction.auto_quarantine
    if rule is None:
        return None
    codes = {reason.code for reason in reasons if reason.path == SUMMARY or reason.path.startswith(f"{SUMMARY}[")}
    if not (_may_be_ground(rule, codes) and _is_long_enough(rule, summary)):
        return None
    text = NominatedText(SUMMARY, fingerprint(summary, key.secret), _listed(rule, codes))
    versions = (policy_set.compaction.policy_version, policy_set.scan.scanner_version)
    return _nomination(rule, key.generation, [text], versions)


def _may_be_ground(rule: QuarantineRule, codes: Collection[ReasonCode]) -> bool:
    return any(code in codes or code in STATED_ELSEWHERE for code in rule.codes)


def _is_long_enough(rule: QuarantineRule, text: str) -> bool:
    return len(fingerprinted_text(text)) >= rule.minimum_characters


def _listed(rule: QuarantineRule, codes: Collection[ReasonCode]) -> tuple[str, ...]:
    return tuple(code.value for code in rule.codes if code in codes)


def _nomination(
    rule: QuarantineRule, generation: str, texts: Sequence[NominatedText], versions: tuple[str, str]
) -> Nomination | None:
    if not texts:
        return None
    return Nomination(generation, tuple(code.value for code in rule.codes), *versions, tuple(texts))
