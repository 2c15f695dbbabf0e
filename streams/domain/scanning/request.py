"""The scan request and the scanner's receipt (AID-I-004.008 G003).

The contract: the request is the seed's, to the letter, and its digest binds policy, scanner, profile and every field.
The receipt states what was scanned, by which scanner, under which policy, and what came of it; ``receipt_sha256`` is
the canonical digest of its body. Whoever takes a receipt for an answer first calls ``check_binding``.

Neither is signed here: a receipt travels inside evidence that its role authenticates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_bytes, canonical_sha256
from pratique.contract.narrative import NARRATIVE_FIELD
from pratique.errors import MalformedError, TooLargeError
from streams.domain.policy.language_models import LanguageModel
from streams.domain.policy.model import ScanPolicy, ViewLimits
from streams.domain.policy.scan_rules import NO_RULES, ScanRules, configured_sha256
from streams.domain.scanning.manifest import ScannerManifest
from streams.domain.scanning.population import FIELD_ROOTS, ScanPopulation
from streams.domain.scanning.views.limits import DEFAULT_LIMITS
from streams.errors import DetectorError, PolicyError

REQUEST_SCHEMA_VERSION: Final = "aidefend.compaction-secret-scan-request.v1"
NARRATIVE_REQUEST_SCHEMA_VERSION: Final = "pratique.narrative-scan-request.v1"
"""The request where there is a narrative: the seed's has four roots."""
RECEIPT_SCHEMA_VERSION: Final = "pratique.scan-receipt.v1"
_SHA256_LENGTH: Final = 64


class Decision(Enum):
    """What the scanner concludes. Only CLEAN is clean."""

    CLEAN = "CLEAN"
    BLOCK = "BLOCK"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class ScanProfile:
    """What to look for, from policy.

    Attributes:
        language_profiles: Languages.
        entity_types: Kinds of personal data.
        limits: How far disguises are taken off.
        rules: What policy says of findings.
        at_ms: The moment that the rules' expiries are compared with; none allows nothing.
    """

    language_profiles: tuple[str, ...]
    entity_types: tuple[str, ...]
    limits: ViewLimits = DEFAULT_LIMITS
    rules: ScanRules = NO_RULES
    at_ms: int | None = None

    @classmethod
    def of(cls, policy: ScanPolicy, *, at_ms: int | None) -> ScanProfile:
        """Return what a policy has looked for.

        Args:
            policy: The scan policy.
            at_ms: As the attribute.
        """
        return cls(policy.language_profiles, policy.entity_types, policy.views, policy.rules, at_ms)

    @property
    def models(self) -> tuple[LanguageModel, ...]:
        """The language models that policy names."""
        return self.rules.models


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """One request to the scanner.

    Attributes:
        body: The seed's request object.
        sha256: Its canonical digest.
        policy_sha256: The policy it is made under.
        scanner_sha256: The scanner it is made for.
        population_sha256: Digest of what is to be scanned.
        field_count: Number of fields to be scanned.
        timeout_ms: How long the scanner may take.
        limits: How far disguises are taken off; the seed's request has no such field, its policy's digest covers it.
        rules: What policy says of findings; likewise, but that ``scanner_sha256`` covers them.
        at_ms: The moment that the rules' expiries are compared with; none allows nothing.
    """

    body: Mapping[str, JsonValue]
    sha256: str
    policy_sha256: str
    scanner_sha256: str
    population_sha256: str
    field_count: int
    timeout_ms: int
    limits: ViewLimits = DEFAULT_LIMITS
    rules: ScanRules = NO_RULES
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ScanReceipt:
    """The scanner's statement about one request."""

    request_sha256: str
    policy_sha256: str
    scanner_sha256: str
    scanned_population_sha256: str
    scanned_field_count: int
    decision: Decision
    finding_count: int

    def body(self) -> dict[str, JsonValue]:
        """Return the receipt's complete body."""
        return {
            "schema_version": RECEIPT_SCHEMA_VERSION,
            "request_sha256": self.request_sha256,
            "policy_sha256": self.policy_sha256,
            "scanner_sha256": self.scanner_sha256,
            "scanned_population_sha256": self.scanned_population_sha256,
            "scanned_field_count": self.scanned_field_count,
            "decision": self.decision.value,
            "finding_count": self.finding_count,
        }

    @property
    def receipt_sha256(self) -> str:
        """Canonical digest of the body."""
        return canonical_sha256(self.body())

    @classmethod
    def of(cls, body: Mapping[str, JsonValue]) -> ScanReceipt:
        """Read a receipt's body.

        Raises:
            MalformedError: It is not a ``pratique.scan-receipt.v1`` body.
        """
        if body.get("schema_version") != RECEIPT_SCHEMA_VERSION or set(body) != _RECEIPT_KEYS:
            raise MalformedError("scan receipt is not of its schema version")
        digests = [body[key] for key in _RECEIPT_DIGESTS]
        counts = [body[key] for key in ("scanned_field_count", "finding_count")]
        if not all(isinstance(digest, str) and len(digest) == _SHA256_LENGTH for digest in digests):
            raise MalformedError("scan receipt holds a digest that is none")
        if not all(type(count) is int and count >= 0 for count in counts):
            raise MalformedError("scan receipt holds a count that is none")
        try:
            decision = Decision(body["decision"])
        except ValueError:
            raise MalformedError("scan receipt holds a decision that is none") from None
        request, policy, scanner, population = (str(digest) for digest in digests)
        fields, findings = (count for count in counts if type(count) is int)
        return cls(request, policy, scanner, population, fields, decision, findings)


_RECEIPT_DIGESTS: Final = ("request_sha256", "policy_sha256", "scanner_sha256", "scanned_population_sha256")
_RECEIPT_KEYS: Final = frozenset(
    {"schema_version", *_RECEIPT_DIGESTS, "scanned_field_count", "decision", "finding_count"}
)


def check_policy(policy: ScanPolicy, *, policy_sha256: str, field_roots: tuple[str, ...] = FIELD_ROOTS) -> None:
    """Refuse a scan policy that the scan may not start under.

    Args:
        policy: The scan policy.
        policy_sha256: Digest of the compaction policy that is in force.
        field_roots: The roots of what is to be scanned.

    Raises:
        PolicyError: It is of another policy, lacks an identity, a profile or a bound, or leaves out a root.
    """
    if policy.policy_sha256 != policy_sha256:
        raise PolicyError("scan policy is of another policy")
    if not policy.policy_version or not policy.scanner_version or len(policy.scanner_sha256) != _SHA256_LENGTH:
        raise PolicyError("scan policy names no version or no scanner")
    if not policy.language_profiles or not policy.entity_types:
        raise PolicyError("scan policy has no language profile or no entity type")
    if policy.field_roots != field_roots:
        raise PolicyError("scan policy does not name exactly the roots")
    if any(type(bound) is not int or bound < 1 for bound in (policy.max_total_bytes, policy.timeout_ms)):
        raise PolicyError("scan policy has a bound below 1")


def check_scanner(policy: ScanPolicy, scanner: ScannerManifest) -> None:
    """Refuse to scan with another scanner than policy pins.

    Raises:
        DetectorError: Version or digest differ.
    """
    own = configured_sha256(scanner.scanner_sha256, policy.rules)
    if policy.scanner_sha256 != own or policy.scanner_version != scanner.scanner_version:
        raise DetectorError("this scanner is not the one that policy pins; publish its manifest or deploy that scanner")


def scan_request(policy: ScanPolicy, population: ScanPopulation, *, at_ms: int | None = None) -> ScanRequest:
    """Make the request for a population under a policy.

    Args:
        policy: The policy.
        population: What is to be scanned.
        at_ms: The moment that the expiries of the policy's rules are compared with; none allows nothing.

    Raises:
        TooLargeError: The population's canonical bytes exceed the policy's ``max_total_bytes``.
    """
    size = len(canonical_bytes(population.population))
    if size > policy.max_total_bytes:
        raise TooLargeError(f"scan population has {size} bytes, {policy.max_total_bytes} are allowed")
    has_narrative = NARRATIVE_FIELD in population.population
    body: dict[str, JsonValue] = {
        "schema_version": NARRATIVE_REQUEST_SCHEMA_VERSION if has_narrative else REQUEST_SCHEMA_VERSION,
        "policy_version": policy.policy_version,
        "policy_sha256": policy.policy_sha256,
        "scanner_version": policy.scanner_version,
        "scanner_sha256": policy.scanner_sha256,
        "language_profiles": list(policy.language_profiles),
        "entity_types": list(policy.entity_types),
        "scanned_population_sha256": population.sha256,
        "scanned_field_count": population.field_count,
        "fields": [field.body() for field in population.fields],
    }
    return ScanRequest(
        body,
        canonical_sha256(body),
        policy.policy_sha256,
        policy.scanner_sha256,
        population.sha256,
        population.field_count,
        policy.timeout_ms,
        policy.views,
        policy.rules,
        at_ms,
    )


def error_receipt(request: ScanRequest) -> ScanReceipt:
    """Return the receipt of a scan that came to no conclusion: ERROR, nothing found because nothing was looked at."""
    return ScanReceipt(
        request.sha256,
        request.policy_sha256,
        request.scanner_sha256,
        request.population_sha256,
        request.field_count,
        Decision.ERROR,
        0,
    )


def check_binding(receipt: ScanReceipt, request: ScanRequest) -> None:
    """Refuse a receipt that does not answer exactly this request (AID-I-004.008 G003).

    Raises:
        MalformedError: Request, policy, scanner, population or field count differ (RECEIPT_BINDING_DIFFERS).
    """
    expected = (
        request.sha256,
        request.policy_sha256,
        request.scanner_sha256,
        request.population_sha256,
        request.field_count,
    )
    stated = (
        receipt.request_sha256,
        receipt.policy_sha256,
        receipt.scanner_sha256,
        receipt.scanned_population_sha256,
        receipt.scanned_field_count,
    )
    if stated != expected:
        raise MalformedError("scan receipt answers another request", code="RECEIPT_BINDING_DIFFERS")
