"""What every scanner pool does; the cases that need no process of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from pratique.contract.canonical import canonical_sha256
from pratique.contract.reasons import ReasonCode
from streams.application.ports.detection import Detection, ScanPool, ScanResponse
from streams.domain.policy.scan_rules import AllowEntry, ScanRules, Threshold, configured_sha256
from streams.domain.scanning.applying import value_sha256
from streams.domain.scanning.population import Field, scan_population
from streams.domain.scanning.request import Decision, ScanProfile, ScanRequest, check_binding, scan_request
from tests.fakes.detectors import BREAK
from tests.unit.streams.domain.scanning.builders import SCANNER, context, policy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Use = Callable[[Callable[[ScanPool], Awaitable[object]]], object]

PROFILE = ScanProfile(("en",), ("EMAIL_ADDRESS",))


def request(text: str, **fields: object) -> ScanRequest:
    return scan_request(policy(**fields), scan_population(context(summary_text=text)))


class ScanPoolCases:
    """A subclass's ``use`` runs a coroutine function with a pool of the scripted detectors."""

    def scan(self, use: Use, asked: ScanRequest) -> ScanResponse:
        response = use(lambda pool: pool.scan(asked))
        assert isinstance(response, ScanResponse)
        return response

    def test_a_clean_population_has_a_clean_bound_receipt(self, use: Use) -> None:
        asked = request("Nothing.")
        response = self.scan(use, asked)
        check_binding(response.receipt, asked)
        assert response.receipt.decision is Decision.CLEAN
        assert response.detection == Detection((), 0)

    def test_findings_come_in_the_order_of_the_fields(self, use: Use) -> None:
        asked = scan_request(
            policy(), scan_population(context(summary_text="é <pii>", source_message_sha256s=("<secret>", "<pii>")))
        )
        response = self.scan(use, asked)
        check_binding(response.receipt, asked)
        assert (response.receipt.decision, response.receipt.finding_count) == (Decision.BLOCK, 3)
        assert [(item.path, item.start, item.end) for item in response.detection.findings] == [
            ("summary_text", 2, 7),
            ("source_message_sha256s[0]", 0, 8),
            ("source_message_sha256s[1]", 0, 5),
        ]

    @pytest.mark.parametrize(
        ("fields", "code"),
        [
            ({"language_profiles": ("tlh",)}, ReasonCode.LANGUAGE_UNSUPPORTED),
            ({"entity_types": ("UNHEARD_OF",)}, ReasonCode.DETECTOR_ERROR),
        ],
    )
    def test_a_profile_that_is_not_covered_is_an_error(
        self, use: Use, fields: dict[str, object], code: ReasonCode
    ) -> None:
        asked = request("<secret>", **fields)
        response = self.scan(use, asked)
        check_binding(response.receipt, asked)
        assert response.receipt.decision is Decision.ERROR
        assert response.detection.failure is not None
        assert (response.detection.failure.code, response.detection.findings) == (code, ())

    def test_a_detector_s_exception_is_an_error_and_says_nothing_of_the_text(self, use: Use) -> None:
        response = self.scan(use, request(f"<secret> {BREAK}"))
        assert response.receipt.decision is Decision.ERROR
        assert response.detection.failure is not None
        assert (response.detection.failure.code, response.detection.failure.detector) == (
            ReasonCode.DETECTOR_ERROR,
            "scripted",
        )

    def test_a_request_for_another_scanner_gets_no_bound_answer(self, use: Use) -> None:
        asked = request("Nothing.", scanner_sha256="0" * 64)
        response = self.scan(use, asked)
        assert response.receipt.decision is Decision.ERROR
        assert response.receipt.scanner_sha256 != asked.scanner_sha256

    def test_the_receipt_states_the_fields_that_were_received(self, use: Use) -> None:
        asked = request("Nothing.")
        other = scan_population(context(summary_text="Something."))
        fields = [field.body() for field in other.fields]
        body = {**asked.body, "fields": fields}
        response = self.scan(
            use,
            ScanRequest(
                body,
                canonical_sha256(body),
                asked.policy_sha256,
                asked.scanner_sha256,
                asked.population_sha256,
                asked.field_count,
                asked.timeout_ms,
            ),
        )
        assert response.receipt.scanned_population_sha256 == other.sha256

    def test_fields_of_no_population_are_looked_at_too(self, use: Use) -> None:
        detection = use(lambda pool: pool.detect([Field("text", "<pii>")], PROFILE, timeout_ms=30_000))
        assert isinstance(detection, Detection)
        assert [item.path for item in detection.findings] == ["text"]

    def test_policys_rules_are_applied_where_the_values_are(self, use: Use) -> None:
        entry = AllowEntry("known", "SECRET", "an example", 1_000, value_sha256=value_sha256("<secret>"))
        rules = ScanRules((entry,), (Threshold("INJECTION", "scripted", 95),))
        digest = configured_sha256(SCANNER.scanner_sha256, rules)
        population = scan_population(context(summary_text="<secret>, <injection> and <pii>"))
        asked = scan_request(policy(rules=rules, scanner_sha256=digest), population, at_ms=999)
        response = self.scan(use, asked)
        check_binding(response.receipt, asked)
        assert response.receipt.finding_count == 1
        assert [item.category.value for item in response.detection.findings] == ["PII"]
        assert response.detection.allowed == {"known": 1}
        assert response.detection.observed == {"INJECTION/scripted": 1}
        profile = ScanProfile(("en",), ("EMAIL_ADDRESS",), rules=rules, at_ms=1_000)
        detection = use(lambda pool: pool.detect([Field("text", "<secret>")], profile, timeout_ms=30_000))
        assert isinstance(detection, Detection)
        assert (detection.finding_count, detection.allowed) == (1, {})

    def test_many_at_once_are_each_answered_with_their_own(self, use: Use) -> None:
        async def all_at_once(pool: ScanPool) -> list[ScanResponse]:
            return list(await asyncio.gather(*(pool.scan(request("-" + "<pii>" * count)) for count in range(100))))

        answers = use(all_at_once)
        assert isinstance(answers, list)
        assert [item.receipt.finding_count for item in answers] == list(range(100))
