"""What the scan worker nominates for the tenant's quarantine ledger: it alone has texts, fingerprint keys and policy.

The contract: without a rule in the pinned policy there is no nomination, and nothing is computed. With one, a text is
nominated if it is long enough, the request's tenant's own and not quarantined already, and if something that the rule
lists was found in it here, or may yet be found by the other worker. What is nominated is a fingerprint, never a text,
and what the same text has under the other generations of the key (the last by name, where there are many), so that what
a person took out under one of them does not come back under another. Whether anything follows from it is the verdict's
to say, and the ledger's.

While the fingerprint key is rotated, a memory that the tenant has quarantined under another generation than the one
that the ledger is being filled with is named with both fingerprints, whatever policy's rule says: it is in already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import CarriedText, NominatedText, Nomination
from streams.application.fingerprinting import fingerprints
from streams.application.ports.quarantine import FingerprintKey, Looked
from streams.application.recall_plan import Failure, ScanPlan, path_of
from streams.domain.policy.model import PolicySet, QuarantineRule
from streams.domain.quarantine.automatic import MAX_OTHERS
from streams.domain.recall.fingerprint import fingerprinted_text

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
    if isinstance(looked, Failure):
        return None
    texts: list[NominatedText] = []
    carrying: list[CarriedText] = []
    for place, item in enumerate(plan.entries):
        if isinstance(item.fingerprints, Failure) or item.entry.tenant_id != plan.request.tenant_id:
            continue
        marks = item.fingerprints
        if looked.known.intersection(marks.values()):
            carrying += carried(path_of(place), marks, looked)
        elif rule is not None and looked.generation in marks:
            codes = {reason.code for reason in reasons.get(place, ())}
            if _may_be_ground(rule, codes) and _is_long_enough(rule, item.entry.content):
                texts.append(_text(rule, path_of(place), codes, marks, looked.generation))
    return _nomination(rule, looked.generation, texts, carrying, (policy.policy_version, policy.detector_revision))


def nominate_candidate(
    candidate: Mapping[str, str], reasons: Sequence[Reason], policy_set: PolicySet, keys: Sequence[FingerprintKey]
) -> Nomination | None:
    """Return what of a compaction is nominated; none where policy has no rule.

    Args:
        candidate: The candidate's free texts, by the field that each is.
        reasons: What was found in the candidate.
        policy_set: The pinned set.
        keys: The generations of the fingerprint key at hand, the current one first.
    """
    rule = policy_set.compaction.auto_quarantine
    if rule is None:
        return None
    generation, texts = keys[0].generation, []
    for path, content in candidate.items():
        codes = {reason.code for reason in reasons if reason.path == path or reason.path.startswith(f"{path}[")}
        if _may_be_ground(rule, codes) and _is_long_enough(rule, content):
            texts.append(_text(rule, path, codes, fingerprints(content, keys), generation))
    versions = (policy_set.compaction.policy_version, policy_set.scan.scanner_version)
    return _nomination(rule, generation, texts, (), versions)


def carried(path: str, marks: Mapping[str, str], looked: Looked) -> Iterator[CarriedText]:
    """Yield a text if the tenant has it quarantined, and not under the generation that the ledger is being filled with.

    Args:
        path: The field that it is.
        marks: Its fingerprint by key generation.
        looked: The ledger's answer.
    """
    mark = marks.get(looked.filled)
    standing = sorted(looked.own.intersection(marks.values()))
    if mark is not None and standing and mark not in standing:
        yield CarriedText(path, looked.filled, mark, standing[0])


def _text(
    rule: QuarantineRule, path: str, codes: Collection[ReasonCode], marks: Mapping[str, str], generation: str
) -> NominatedText:
    newest = sorted(name for name in marks if name != generation)[-MAX_OTHERS:]
    others = sorted(marks[name] for name in newest)
    return NominatedText(path, marks[generation], _listed(rule, codes), tuple(others))


def _may_be_ground(rule: QuarantineRule, codes: Collection[ReasonCode]) -> bool:
    return any(code in codes or code in STATED_ELSEWHERE for code in rule.codes)


def _is_long_enough(rule: QuarantineRule, text: str) -> bool:
    return len(fingerprinted_text(text)) >= rule.minimum_characters


def _listed(rule: QuarantineRule, codes: Collection[ReasonCode]) -> tuple[str, ...]:
    return tuple(code.value for code in rule.codes if code in codes)


def _nomination(
    rule: QuarantineRule | None,
    generation: str,
    texts: Sequence[NominatedText],
    carried: Sequence[CarriedText],
    versions: tuple[str, str],
) -> Nomination | None:
    if not texts and not carried:
        return None
    codes = () if rule is None else tuple(code.value for code in rule.codes)
    return Nomination(generation, codes, *versions, tuple(texts), tuple(carried))
