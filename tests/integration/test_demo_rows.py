"""Every row of the demo, as a test of its own: the scenarios are the demo's, the apps are those of the platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.stack import curating, memories, reviewing, scenarios
from infra.stack.asking import Answer, RecallAnswer
from infra.stack.asking import Platform as Asking
from infra.stack.curating import Curator
from infra.stack.demo import KILLED, REDELIVERED, planned
from infra.stack.demo_report import Planned, Row
from infra.stack.memories import Recall
from infra.stack.policies import weaken_scan_policy
from infra.stack.reviewing import RULES, Reviewer
from infra.stack.scenarios import ALTERED_POLICY, DEFAULT_POLICY, QUICK_POLICY, Scenario
from tests.integration.platform import SHORTEST_DEADLINE_MS
from tests.integration.raw import WAIT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers

BATCH = 32


@pytest.fixture(scope="module")
def asking(one_platform: Platform) -> Iterator[Asking]:
    """An agent platform, and the policies that the demo publishes beside the default one."""
    one_platform.restore()
    one_platform.publish(QUICK_POLICY, deadline_ms=SHORTEST_DEADLINE_MS)
    altered = one_platform.publish(ALTERED_POLICY)
    for policy_id, rule in RULES.items():
        # The quota counts what the tests before this one had the tenant add within the hour.
        one_platform.publish(policy_id, recall={"auto_quarantine": {**rule, "hourly_quota": 1_000}})
    file = weaken_scan_policy(one_platform.policy, altered)
    try:
        with Asking(one_platform.stack_file, (DEFAULT_POLICY, QUICK_POLICY, ALTERED_POLICY, *RULES)) as asking:
            yield asking
    finally:  # nothing more is published over a file that was changed
        (content,) = (value for path, value in altered.targets.items() if path.endswith(file.name.partition(".")[2]))
        file.write_bytes(content)


def test_every_row_has_its_test() -> None:
    """Those below, and ``test_answers`` for a request that is delivered again."""
    tested = [
        *(scenario.name for scenario in scenarios.judged_alike()),
        *(
            scenario.name
            for scenario in (scenarios.foreign_signer(), scenarios.altered_policy(), scenarios.unscanned())
        ),
        *(recall.name for recall in memories.recalls()),
        *(row.name for row in curating.planned()),
        *(row.name for row in reviewing.planned()),
        KILLED.name,
        REDELIVERED.name,
    ]
    assert sorted(tested) == sorted(row.name for row in planned())


def check_row(row: Row) -> None:
    assert row.is_right, f"{row.name}: {row.ending.value} {row.codes} {row.place} {row.fault}"


def check(answer: Answer | RecallAnswer, asking: Asking) -> None:
    """Check a row of the demo's table, and that the topics hold nothing that contradicts it."""
    check_row(answer.row)
    answered = answer.verdict is not None
    assert asking.observer.wait_for(
        lambda: bool(asking.observer.verdicts(answer.request_sha256)) is answered, timeout_s=WAIT_S
    )
    assert len(set(asking.observer.verdicts(answer.request_sha256))) == answered


@pytest.mark.parametrize("scenario", scenarios.judged_alike(), ids=lambda scenario: scenario.name)
def test_summary_gets_its_verdict(platform: Platform, asking: Asking, scenario: Scenario) -> None:
    check(asking.ask(scenario), asking)
    platform.tend()


def test_request_signed_for_another_tenant_is_a_dead_letter(platform: Platform, asking: Asking) -> None:
    answer = asking.ask(scenarios.foreign_signer())
    check(answer, asking)
    assert answer.verdict is None
    platform.tend()


def test_altered_policy_target_is_unavailable(platform: Platform, asking: Asking) -> None:
    check(asking.ask(scenarios.altered_policy()), asking)
    platform.tend()


@pytest.mark.parametrize("recall", memories.recalls(), ids=lambda recall: recall.name)
def test_recall_gets_its_verdict(platform: Platform, asking: Asking, recall: Recall) -> None:
    check(asking.recall(recall), asking)
    platform.tend()


def test_text_is_put_into_quarantine_and_taken_out_and_nobody_else_decides(platform: Platform, asking: Asking) -> None:
    rows = list(Curator(asking, platform.cli, platform.settings).rows())
    assert [Planned(row.name, row.title, row.expected) for row in rows] == list(curating.planned())
    for row in rows:
        check_row(row)
    platform.tend()


def test_a_verdict_s_text_waits_for_a_curator_or_counts_at_once(platform: Platform, asking: Asking) -> None:
    rows = list(Reviewer(asking, platform.cli).rows())
    assert [Planned(row.name, row.title, row.expected) for row in rows] == list(reviewing.planned())
    for row in rows:
        check_row(row)
    platform.tend()


def test_one_of_two_scan_workers_killed_in_the_middle(platform: Platform, asking: Asking) -> None:
    platform.launch("scan", "scan-2")
    platform.await_ready("scan-2")

    def each_sent(count: int) -> None:
        if count == BATCH // 2:
            platform.kill("scan-2")

    for answer in asking.ask_all(scenarios.batch(BATCH), each_sent=each_sent):
        check(answer, asking)


def test_nobody_scans(platform: Platform, asking: Asking) -> None:
    assert platform.terminate("scan") == 0
    answer = asking.ask(scenarios.unscanned())
    check(answer, asking)
    assert answer.row.milliseconds >= SHORTEST_DEADLINE_MS
    assert answer.context[0]["role"] == "system"
