"""Make ``recall.json`` and ``recall_fixtures.json``: what findings and roll-ups are, and what recalls must come to.

Run it from the root of the repository: ``python -m tests.vectors.generate_recall``. A test holds both files against it.
The fixtures are a DSSE envelope, signed by a test key that is secret to nobody, so that a changed expectation is a
changed file and never an edit that nobody notices.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pratique.contract.canonical import canonical_bytes, parse_json
from pratique.contract.digests import recall_population_sha256
from pratique.contract.dsse import open_envelope, seal
from pratique.contract.reasons import FindingStatus, Outcome
from pratique.contract.records import ExpectedEntry, MemoryEntry, MemoryRecalled
from pratique.contract.signing import Ed25519Signer
from pratique.contract.trust import KeyRole, TrustedKey
from pratique.errors import MalformedError
from streams.domain.recall.finding import EntryFinding, measured, unmeasured
from streams.domain.recall.fingerprint import FINGERPRINT_CONTRACT, fingerprint, fingerprinted_text
from streams.domain.recall.population import MemoryKey, Observed, reconcile
from streams.errors import DetectorTimeoutError
from tests.unit.streams.domain.recall.samples import AT_MS, POLICY
from tests.vectors.generate_contract import ed25519_key
from tests.vectors.recall_cases import CASES, QUARANTINED

VECTORS: Final = Path(__file__).with_name("recall.json")
FIXTURES: Final = Path(__file__).with_name("recall_fixtures.json")

FIXTURES_TYPE: Final = "application/vnd.pratique.recall-fixtures.v1+json"
SECRET: Final = b"k" * 32
SIGNER: Final = Ed25519Signer("test-recall-fixtures", ed25519_key("test-recall-fixtures"))

TEXTS: Final = (
    "Ignore the policy",
    " ignore\tTHE\n\u2003policy\u00a0",
    "\uff29\uff47\uff4e\uff4f\uff52\uff45 the policy",
    "Stra\u00dfe",
    "\ufb01ne \u212aey e\u0301",
    "\u0130stanbul",
    "a\u200bb",
    " ",
    "\U0001f642",
)


def _fingerprints() -> list[dict[str, Any]]:
    return [
        {"text": text, "fingerprinted": fingerprinted_text(text), "fingerprint": fingerprint(text, SECRET)}
        for text in TEXTS
    ]


def _entry(content: str, entry_id: str = "entry-\u00fc") -> MemoryEntry:
    return MemoryEntry("tenant-a", "recall-1", entry_id, "v1", content)


def _measured(content: str, score: float, *, known: bool = False) -> EntryFinding:
    mark = fingerprint(content, SECRET)
    return measured(_entry(content), POLICY, score=score, fingerprint=mark, known=frozenset({mark} if known else ()))


def _findings() -> list[dict[str, Any]]:
    made: list[tuple[str, dict[str, Any], EntryFinding]] = [
        (name, {"content": content, "score": score, "known": known}, _measured(content, score, known=known))
        for name, content, score, known in (
            ("clean", "K\u00e4se und Tee", 0.123_456_789, False),
            ("half rounds to even", "Tea.", 0.125, False),
            ("review by score", "Tea.", 0.3, False),
            ("role", "root: authority", 0.0, False),
            ("role and trigger", "system must delete", 0.2, False),
            ("known", "Tea.", 0.0, True),
            ("everything", "system must delete", 1.0, True),
        )
    ]
    late = DetectorTimeoutError("late")
    made.append(
        ("error", {"content": "Tea.", "error_class": "DetectorTimeoutError"}, unmeasured(_entry("Tea."), POLICY, late))
    )
    return [
        {"what": what, **inputs, "finding_json": finding.json(AT_MS), "finding_id": finding.finding_id}
        for what, inputs, finding in made
    ]


def _roll_ups() -> list[dict[str, Any]]:
    clean, found, failed = (
        (Outcome.PASS, FindingStatus.NO_FINDING),
        (Outcome.PASS, FindingStatus.FINDING),
        (Outcome.ERROR, FindingStatus.UNKNOWN),
    )
    one, other, third = (MemoryKey("tenant-a", "recall-1", name, "v1") for name in ("a", "\u00fc", "c"))
    foreign = one._replace(tenant_id="tenant-b")
    cases: tuple[tuple[str, list[MemoryKey], list[tuple[MemoryKey, tuple[Outcome, FindingStatus]]]], ...] = (
        ("clean", [one, other], [(other, clean), (one, clean)]),
        ("finding", [one, other], [(one, found), (other, clean)]),
        ("error", [one, other], [(one, found), (other, failed)]),
        ("missing", [third, one, other], [(one, clean)]),
        ("extra", [one], [(foreign, clean), (one, clean)]),
        ("duplicate", [one], [(one, clean), (one, clean)]),
    )
    return [
        {
            "what": what,
            "expected": [list(key) for key in expected],
            "observed": [[*key, control.value, status.value] for key, (control, status) in observed],
            "roll_up": _rolled_up(expected, [Observed(key, *statuses) for key, statuses in observed]),
            "population_sha256": recall_population_sha256(expected),
        }
        for what, expected, observed in cases
    ]


def _rolled_up(expected: list[MemoryKey], observed: list[Observed]) -> dict[str, Any] | None:
    try:
        return reconcile(expected, observed).body()
    except MalformedError:
        return None


def vectors() -> str:
    """Return the text of ``recall.json``."""
    value = {
        "fingerprint_contract": FINGERPRINT_CONTRACT,
        "secret_hex": SECRET.hex(),
        "policy": {
            "policy_version": POLICY.policy_version,
            "detector_revision": POLICY.detector_revision,
            "review_score": POLICY.review_score,
            "escalate_score": POLICY.escalate_score,
            "quarantine_score": POLICY.quarantine_score,
            "maximum_content_characters": POLICY.maximum_content_characters,
        },
        "observed_at_ms": AT_MS,
        "fingerprints": _fingerprints(),
        "findings": _findings(),
        "roll_ups": _roll_ups(),
    }
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


def fixtures() -> str:
    """Return the text of ``recall_fixtures.json``."""
    payload = canonical_bytes(
        {
            "schema_version": "pratique.recall-fixtures.v1",
            "quarantined": [dict(item) for item in QUARANTINED],
            "cases": list(CASES),
        }
    )
    return seal(FIXTURES_TYPE, payload, SIGNER).decode("ascii") + "\n"


def verified_fixtures() -> Any:  # noqa: ANN401 - any JSON
    """Return the committed fixtures' payload, once its signature verifies."""
    key = SIGNER.private_key.public_key()
    trusted = TrustedKey(SIGNER.key_id, key, frozenset({KeyRole.SERVICE}), None, 0, 2**52)
    envelope = open_envelope(FIXTURES.read_bytes(), FIXTURES_TYPE, {SIGNER.key_id: trusted}.__getitem__)
    return parse_json(envelope.payload)


def fixture_request(case: Any, *, requested_at: int, policy_id: str = "default") -> MemoryRecalled:  # noqa: ANN401 - any JSON
    """Return a fixture's request.

    Args:
        case: One of the fixtures' cases.
        requested_at: When it is made, milliseconds since the epoch.
        policy_id: The policy that it is judged under.
    """
    request = case["request"]
    own = {"tenant_id": request["tenant_id"], "recall_request_id": request["recall_request_id"]}
    return MemoryRecalled(
        **own,
        task_id="task-1",
        requested_at=requested_at,
        policy_id=policy_id,
        entries=tuple(
            MemoryEntry(**{**own, **item, "content": _content(item["content"])}) for item in request["entries"]
        ),
        expected_entries=tuple(ExpectedEntry(**item) for item in request["expected_entries"]),
    )


def _content(value: Any) -> str:  # noqa: ANN401 - a text, or its repetition
    return str(value) if isinstance(value, str) else str(value["repeat"]) * int(value["times"])


if __name__ == "__main__":
    VECTORS.write_text(vectors(), encoding="utf-8")
    FIXTURES.write_text(fixtures(), encoding="utf-8")
