"""Reading a recall's evidence back: do the published findings come to what the verdict says?

The contract (AID-D-001.005 G001, operational check): a pure function of a believed verdict, the findings under its key
and, while content is retained, the loader's signed request. Every digest is computed again from its preimage; nothing
that the verdict says of the findings is taken over. What can't be known any more is UNKNOWN, which is neither of the
other two. A finding that the verdict does not name is of a second scan of the same request, and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from pratique.contract import digests
from pratique.contract.canonical import JsonValue, canonical_json, parse_json, text_sha256
from pratique.contract.reasons import FindingStatus, Outcome
from pratique.contract.records import Disposition, MemoryFinding, MemoryRecalled, Verdict
from pratique.errors import MalformedError
from streams.application.recall_admission import expected_keys
from streams.domain.recall.finding import key_of
from streams.domain.recall.population import MemoryKey, Observed, reconcile

_KEY = ("tenant_id", "recall_request_id", "entry_id", "memory_version")


class Found(Enum):
    """How a check came out."""

    AGREES = "AGREES"
    DIFFERS = "DIFFERS"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Checked:
    """One check."""

    what: str
    found: Found
    detail: str


@dataclass(frozen=True, slots=True)
class _Read:
    """A finding, read back."""

    finding_id: str
    observed: Observed
    content_sha256: str


def is_of(verdict: Verdict, finding: MemoryFinding) -> bool:
    """Say whether a finding is about the very request that a verdict answers."""
    key = finding.join_key
    return (
        key.origin is verdict.origin
        and (key.tenant_id, key.request_id) == (verdict.tenant_id, verdict.request_id)
        and (key.request_sha256, key.subject_sha256) == (verdict.request_sha256, verdict.subject_sha256)
    )


def audit_recall(
    verdict: Verdict, findings: Sequence[MemoryFinding], request: MemoryRecalled | None
) -> tuple[Checked, ...]:
    """Check a recall's evidence.

    Args:
        verdict: The gate's verdict, its signature verified.
        findings: What is published under its key; others than this request's are passed over.
        request: The loader's request, its signature and digest verified; null where it is not kept any more.
    """
    return tuple(_checks(verdict, [finding for finding in findings if is_of(verdict, finding)], request))


def _checks(verdict: Verdict, findings: list[MemoryFinding], request: MemoryRecalled | None) -> Iterator[Checked]:
    named = [row.finding_id for row in verdict.entries or () if row.finding_id is not None]
    by_id = {finding.finding_id: finding for finding in findings}
    absent = [identity for identity in named if identity not in by_id]
    superseded = len(by_id.keys() - set(named))
    yield _said(
        "findings",
        not absent,
        f"{len(named) - len(absent)} of {len(named)} findings are published, and {superseded} of other scans",
    )
    read = [_read(by_id[identity]) for identity in named if identity in by_id]
    whole = [item for item in read if item is not None]
    yield _said("finding ids", len(whole) == len(read), f"{len(whole)} of {len(read)} are the digest of their finding")
    if absent or len(whole) < len(read):
        return
    yield _contents(verdict, whole)
    yield _admission(verdict, whole)
    yield from _roll_up(verdict, whole, request)
    yield _request(verdict, request)


def _read(finding: MemoryFinding) -> _Read | None:
    """Read a finding; none where it is not of its form, or its id is not its digest."""
    try:
        body = parse_json(finding.finding_json)
        if not isinstance(body, Mapping) or digests.finding_json(body) != finding.finding_json:
            return None
        key = MemoryKey(*(_text(body, name) for name in _KEY))
        status = FindingStatus(_text(body, "finding_status"))
        observed = Observed(key, Outcome(_text(body, "control_status")), status)
        content_sha256 = _text(body, "content_sha256")
    except (MalformedError, ValueError):
        return None
    if digests.finding_id(body) != finding.finding_id:
        return None
    return _Read(finding.finding_id, observed, content_sha256)


def _text(body: Mapping[str, JsonValue], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise MalformedError(f"finding's {name} is no text")
    return value


def _contents(verdict: Verdict, read: list[_Read]) -> Checked:
    rows = [(row.entry_id, row.memory_version, row.content_sha256) for row in verdict.entries or ()]
    if not read:
        return Checked("content digests", Found.UNKNOWN, "nothing was scanned")
    found = [(item.observed.key.entry_id, item.observed.key.memory_version, item.content_sha256) for item in read]
    agrees = found == rows and digests.recall_subject_sha256(found) == verdict.subject_sha256
    return _said("content digests", agrees, f"subject {verdict.subject_sha256[:12]} of {len(found)} contents")


def _admission(verdict: Verdict, read: list[_Read]) -> Checked:
    clean = {
        item.finding_id
        for item in read
        if (item.observed.control_status, item.observed.finding_status) == (Outcome.PASS, FindingStatus.NO_FINDING)
    }
    admitted = [row.finding_id for row in verdict.entries or () if row.disposition is Disposition.ADMITTED]
    return _said("admission", clean.issuperset(admitted), f"{len(admitted)} entries are admitted")


def _roll_up(verdict: Verdict, read: list[_Read], request: MemoryRecalled | None) -> Iterator[Checked]:
    if verdict.event_json is None:
        yield Checked("roll-up", Found.UNKNOWN, "the verdict has none: refused at intake, or something was there twice")
        return
    observed = [item.observed for item in read]
    expected = expected_keys(request) if request is not None else _expected(verdict, observed)
    if expected is None:
        yield Checked("population", Found.DIFFERS, "the roll-up is not of its form")
        return
    agrees = digests.recall_population_sha256(expected) == verdict.source_population_sha256
    yield _said("population", agrees, f"{len(expected)} expected entries")
    try:
        body = canonical_json(reconcile(expected, observed).body())
    except MalformedError as error:
        yield Checked("roll-up", Found.DIFFERS, str(error))
        return
    yield _said("roll-up", body == verdict.event_json, f"of {len(observed)} findings")


def _expected(verdict: Verdict, observed: list[Observed]) -> tuple[MemoryKey, ...] | None:
    """Return the manifest that a roll-up states: what was found, without what was extra, and what was missing."""
    try:
        event = parse_json(verdict.event_json or "")
        if not isinstance(event, Mapping):
            return None
        missing, extra = (_keys(event.get(name, [])) for name in ("missing", "extra"))
    except MalformedError:
        return None
    found = [item.key for item in observed if item.key not in extra]
    return (*found, *sorted(missing))


def _keys(value: JsonValue) -> frozenset[MemoryKey]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise MalformedError("roll-up lists no keys")
    keys = []
    for item in value:
        if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != len(_KEY):
            raise MalformedError("roll-up lists what is no key")
        if not all(isinstance(part, str) for part in item):
            raise MalformedError("roll-up lists what is no key")
        keys.append(MemoryKey(*(str(part) for part in item)))
    return frozenset(keys)


def _request(verdict: Verdict, request: MemoryRecalled | None) -> Checked:
    if request is None:
        return Checked("contents", Found.UNKNOWN, "the request is not kept any more; its digests are above")
    given = [(key_of(entry), text_sha256(entry.content)) for entry in request.entries]
    subject = digests.recall_subject_sha256((key.entry_id, key.memory_version, digest) for key, digest in given)
    population = digests.recall_population_sha256(expected_keys(request))
    agrees = subject == verdict.subject_sha256 and population == (verdict.source_population_sha256 or population)
    return _said("contents", agrees, f"{len(given)} contents of the loader's request, hashed again")


def _said(what: str, agrees: bool, detail: str) -> Checked:  # noqa: FBT001 - the one thing that a check comes to
    return Checked(what, Found.AGREES if agrees else Found.DIFFERS, detail)
