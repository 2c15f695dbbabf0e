"""Secrets, by Kingfisher's catalogue (MongoDB's scanner in Rust with Vectorscan), in process.

The contract: every built-in rule at the most sensitive confidence, two layers of base64; no comment in a text can
switch a rule off; nothing is validated, so nothing ever reaches a network. Matched values are redacted inside the
engine before they could become Python objects.

It does not look through other encodings or disguises, and it skips what its rules take for a placeholder: both are
measured by ``tests/bench/detectors.py`` and are the deeper detection's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from streams.domain.scanning.chance import Asking, Doubts
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.manifest import DetectorManifest
from streams.domain.scanning.population import Field
from streams.errors import DetectorError

if TYPE_CHECKING:
    import kingfisher_sdk

    from streams.domain.scanning.request import ScanProfile

NAME: Final = "kingfisher"

REVISION: Final = 3
"""Raised whenever code here changes what is found; part of the manifest."""

CONFIDENCE: Final = "low"
"""Loads the whole catalogue. Measured on the development corpora: ``high`` loses a fifth of what is found and saves
two false positives in 625 look-alikes (docs/reference/scanning.md)."""

BASE64_DEPTH: Final = 2
"""Layers of base64 that are looked through; the engine's own maximum input for it is kept."""

_CREDENTIAL_URIS: Final = frozenset({"betterleaks.generic-credential-uri", "betterleaks.mongodb-connection-string"})
"""Their place is taken by ``structures.url-credentials`` of the detector ``secrets``: they take documentation's
``user:password@`` for a password."""

_SCORES: Final = {"low": 0.3, "medium": 0.6, "high": 0.9}


@cache
def builtin_rules() -> kingfisher_sdk.Rules:
    """Return the engine's own rules, loaded once a process."""
    import kingfisher_sdk  # noqa: PLC0415 - 36 MB of native code that only worker processes need

    return kingfisher_sdk.Rules(confidence=CONFIDENCE)


@cache
def builtin_details() -> Mapping[str, Mapping[str, JsonValue]]:
    """Return all that the engine says of each of its rules, by the rules' ids."""
    rules = builtin_rules()
    return {str(rule["id"]): rules.detail(str(rule["id"])) for rule in rules.metadata()}


class KingfisherDetector:
    """Kingfisher's rules behind the detector port. Loading takes seconds without, 0.7 s with a warm rule cache."""

    def __init__(self) -> None:
        import kingfisher_sdk  # noqa: PLC0415 - as above

        rules = builtin_rules()
        policy = kingfisher_sdk.DetectionPolicy(
            inline_ignores=False,  # otherwise the text under suspicion could name itself ignored
            markup_context=False,
            cli_match_semantics=False,  # keeps findings that another finding contains
            base64_max_depth=BASE64_DEPTH,
        )
        self._scanner = kingfisher_sdk.Scanner(rules, redact=True, policy=policy)
        self._manifest = _manifest(kingfisher_sdk.__version__)

    @property
    def manifest(self) -> DetectorManifest:
        """Engine version, and the digest of every rule with its pattern, filters and thresholds."""
        return self._manifest

    def check(self, profile: ScanProfile) -> None:
        """Secrets have no language and are no entity type: every profile is covered."""

    def scan(self, fields: Sequence[Field], profile: ScanProfile) -> list[Finding]:  # noqa: ARG002 - no profile applies
        """Return the secrets in each field.

        Raises:
            DetectorError: The engine failed; its own message is not passed on, it may quote the text.
        """
        doubts = Doubts(sum(len(field.value) for field in fields))
        try:
            return [finding for field in fields for finding in self._findings(field, doubts)]
        except Exception:  # noqa: BLE001 - whatever native code raises means the same: not looked at
            raise DetectorError("kingfisher failed") from None

    def _findings(self, field: Field, doubts: Doubts) -> Iterator[Finding]:
        visible = [(item, _span(item)) for item in self._shown(field.value)]
        if not visible:
            return
        text = field.value.encode("utf-8")
        kept = [(item, span) for item, span in visible if doubts.confirm(text, *span, self._asking(item, span))]
        offsets = character_offsets(field.value, [span for _, span in kept])
        for item, (start, end) in kept:
            score = _SCORES.get(str(item.confidence), _SCORES["low"])
            yield Finding(Category.SECRET, NAME, str(item.rule_id), field.path, offsets[start], offsets[end], score)

    def _asking(self, item: kingfisher_sdk.Finding, span: tuple[int, int]) -> Asking:
        def is_found(part: bytes, first: int) -> bool:
            wanted = (item.rule_id, (span[0] - first, span[1] - first))
            return any((found.rule_id, _span(found)) == wanted for found in self._shown(part))

        return is_found

    def _shown(self, text: str | bytes) -> list[kingfisher_sdk.Finding]:
        return [item for item in self._scanner.scan(text) if item.visible and item.rule_id not in _CREDENTIAL_URIS]


def _span(item: kingfisher_sdk.Finding) -> tuple[int, int]:
    return int(item.location["start_offset"]), int(item.location["end_offset"])


def character_offsets(text: str, spans: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Map byte offsets of the UTF-8 text to character offsets, in one pass; beyond the end means the end."""
    wanted = sorted({offset for span in spans for offset in span})
    if text.isascii():
        return {offset: min(offset, len(text)) for offset in wanted}
    raw = text.encode("utf-8")
    offsets: dict[int, int] = {}
    characters = previous = 0
    for offset in wanted:
        # Continuation bytes (10xxxxxx) begin no character.
        characters += sum((byte & 0xC0) != 0x80 for byte in raw[previous:offset])  # noqa: PLR2004 - UTF-8's own bits
        previous = max(previous, min(offset, len(raw)))
        offsets[offset] = characters
    return offsets


def _manifest(version: str) -> DetectorManifest:
    details: list[JsonValue] = [dict(detail) for _, detail in sorted(builtin_details().items())]
    settings: dict[str, JsonValue] = {
        "revision": REVISION,
        "confidence": CONFIDENCE,
        "base64_max_depth": BASE64_DEPTH,
        "inline_ignores": False,
        "markup_context": False,
        "cli_match_semantics": False,
        "rules": len(details),
    }
    return DetectorManifest(NAME, version, canonical_sha256(details), settings)
