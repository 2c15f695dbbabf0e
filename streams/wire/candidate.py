"""``candidate_json`` -> ``Candidate``, strictly (AID-I-004.008 G001, G002).

The contract: one function, used by the consistency and the scan worker alike, so that both speak of the same thing.
What it refuses, it refuses with reasons whose paths are made of our own field names and of indexes. A key or value
that the summarizer chose never appears in a path or a message. Cost is linear in the size of the JSON, also for
candidates made to be refused: lists stop at their first wrong item.

Each assurance profile has its own schema: the seed's five fields, to the letter, or those with ``schema_version`` and
``narrative_text`` (``pratique.compaction-candidate.v2``). A candidate of the other profile is SCHEMA_INVALID.

It does not compare anything with policy or sources: ``streams.domain.compaction.consistency`` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from pratique.contract.canonical import JsonValue, PlainJson, parse_json, plain_sha256
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.contract.reasons import Reason, ReasonCode, sorted_reasons
from pratique.errors import MalformedError
from streams.domain.compaction.candidate import (
    Candidate,
    CandidateRefused,
    ClaimStatus,
    CompactedContext,
    ConstraintType,
    PreservedConstraintClaim,
)
from streams.domain.policy.model import AssuranceProfile, CompactionPolicy

DETECTOR: Final = "schema"
"""Who names the reasons of this module."""

_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_NonEmpty = Annotated[str, Field(min_length=1)]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _ClaimJson(_Closed):
    constraint_type: Literal["INVARIANT", "COMMITMENT"]
    constraint_id: _NonEmpty
    canonical_record_sha256: _Sha256
    canonical_predicate_sha256: _Sha256
    preserved_predicate: _NonEmpty
    status: Literal["PRESERVED", "CONFLICT", "UNSUPPORTED"]


_Population = Annotated[list[str], Field(min_length=1), FailFast()]


class _CandidateJson(_Closed):
    summary_text: _NonEmpty
    retained_safety_invariant_ids: _Population
    retained_policy_commitment_ids: _Population
    source_message_sha256s: _Population
    preserved_constraint_claims: Annotated[list[_ClaimJson], Field(min_length=1), FailFast()]


class _NarrativeCandidateJson(_CandidateJson):
    schema_version: Literal["pratique.compaction-candidate.v2"]
    narrative_text: _NonEmpty


_SCHEMAS: Final[Mapping[AssuranceProfile, type[_CandidateJson]]] = {
    AssuranceProfile.BOUNDED: _CandidateJson,
    AssuranceProfile.BOUNDED_WITH_UNTRUSTED_NARRATIVE: _NarrativeCandidateJson,
}
_FIELDS: Final = frozenset(_NarrativeCandidateJson.model_fields)
_CLAIM_FIELDS: Final = frozenset(_ClaimJson.model_fields)
_CLAIMS: Final = "preserved_constraint_claims"
_MAX_REASONS: Final = 8
_TYPES: Final = {item.value: item for item in ConstraintType}
_STATUSES: Final = {item.value: item for item in ClaimStatus}


class CandidateError(MalformedError):
    """A candidate is not the closed candidate schema.

    Attributes:
        reasons: What differs, sorted; the first is the primary one and gives ``code``.
    """

    def __init__(self, reasons: tuple[Reason, ...]) -> None:
        primary = reasons[0]
        super().__init__(f"candidate refused at {primary.path}: {primary.meaning.meaning}", code=primary.code.value)
        self.reasons = reasons


def parse_candidate(
    candidate_json: str, *, max_bytes: int, profile: AssuranceProfile = AssuranceProfile.BOUNDED
) -> Candidate:
    """Read a summarizer's output.

    Args:
        candidate_json: The exact text.
        max_bytes: Largest accepted size in UTF-8 bytes (``max_candidate_bytes`` of the compaction policy).
        profile: Whose schema it must be (``assurance`` of the compaction policy).

    Returns:
        The candidate with the digests of what was parsed.

    Raises:
        CandidateError: Not JSON or not the closed schema (SCHEMA_INVALID), a repeated key (DUPLICATE_KEY), a number
            without a value (NON_FINITE), too large or nested too deeply (TOO_LARGE), two claims about one
            constraint (CLAIM_DUPLICATED).
    """
    try:
        parsed = parse_json(candidate_json, max_bytes=max_bytes)
    except MalformedError as error:
        raise CandidateError((_reason(ReasonCode(error.code)),)) from None
    schema = _SCHEMAS[profile]
    _check_keys(parsed, schema)
    try:
        value = schema.model_validate(parsed)
    except ValidationError as error:
        raise CandidateError(_reasons(error)) from None
    context = CompactedContext(
        value.summary_text,
        _population("retained_safety_invariant_ids", value.retained_safety_invariant_ids),
        _population("retained_policy_commitment_ids", value.retained_policy_commitment_ids),
        _population("source_message_sha256s", value.source_message_sha256s),
        _claims(value.preserved_constraint_claims),
        _narrative(value),
    )
    texts = cast("PlainJson", parsed)  # the schema is closed, and has texts alone
    return Candidate(context, plain_sha256(texts), plain_sha256(context.summary_text))


def read_candidate(
    candidate_json: str, *, max_bytes: int, profile: AssuranceProfile = AssuranceProfile.BOUNDED
) -> Candidate | CandidateRefused:
    """As ``parse_candidate``, for callers to whom a refusal is an answer."""
    try:
        return parse_candidate(candidate_json, max_bytes=max_bytes, profile=profile)
    except CandidateError as error:
        return CandidateRefused(error.reasons)


def read_under(candidate_json: str, policy: CompactionPolicy) -> Candidate | CandidateRefused:
    """As ``read_candidate``, within the bounds and by the profile of a compaction policy."""
    return read_candidate(candidate_json, max_bytes=policy.max_candidate_bytes, profile=policy.assurance)


def _narrative(value: _CandidateJson) -> str | None:
    if not isinstance(value, _NarrativeCandidateJson):
        return None
    if not value.narrative_text.strip():
        raise CandidateError((_reason(ReasonCode.SCHEMA_INVALID, NARRATIVE_FIELD),))
    return value.narrative_text


def _check_keys(parsed: JsonValue, schema: type[_CandidateJson]) -> None:
    """Refuse foreign keys before validation, which would report each of a million of them."""
    if not isinstance(parsed, Mapping):
        raise CandidateError((_reason(ReasonCode.SCHEMA_INVALID),))
    if any(key not in schema.model_fields for key in parsed):
        raise CandidateError((_reason(ReasonCode.SCHEMA_INVALID),))
    claims = parsed.get(_CLAIMS)
    if isinstance(claims, str) or not isinstance(claims, Sequence):
        return
    for index, claim in enumerate(claims):
        if isinstance(claim, Mapping) and any(key not in _CLAIM_FIELDS for key in claim):
            raise CandidateError((_reason(ReasonCode.SCHEMA_INVALID, f"{_CLAIMS}[{index}]"),))


def _population(field: str, values: list[str]) -> tuple[str, ...]:
    if len(set(values)) != len(values) or not all(value.strip() for value in values):
        seen: set[str] = set()
        for index, value in enumerate(values):
            if value in seen or not value.strip():
                raise CandidateError((_reason(ReasonCode.SCHEMA_INVALID, f"{field}[{index}]"),))
            seen.add(value)
    return tuple(values)


def _claims(values: list[_ClaimJson]) -> tuple[PreservedConstraintClaim, ...]:
    claims: dict[tuple[ConstraintType, str], PreservedConstraintClaim] = {}
    for index, value in enumerate(values):
        claim = PreservedConstraintClaim(
            _TYPES[value.constraint_type],
            value.constraint_id,
            value.canonical_record_sha256,
            value.canonical_predicate_sha256,
            value.preserved_predicate,
            _STATUSES[value.status],
        )
        if claims.setdefault(claim.key, claim) is not claim:
            raise CandidateError((_reason(ReasonCode.CLAIM_DUPLICATED, f"{_CLAIMS}[{index}]"),))
    return tuple(claims.values())


def _reasons(error: ValidationError) -> tuple[Reason, ...]:
    found = error.errors(include_url=False, include_context=False, include_input=False)[:_MAX_REASONS]
    return sorted_reasons([_reason(ReasonCode.SCHEMA_INVALID, _path(item["loc"])) for item in found])


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step in _FIELDS or step in _CLAIM_FIELDS:
            path += f".{step}" if path else step
        else:  # a name that is not ours: the path ends where our words end
            break
    return path


def _reason(code: ReasonCode, path: str = "") -> Reason:
    return Reason.of(code, f"candidate.{path}" if path else "candidate", DETECTOR)
