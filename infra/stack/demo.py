"""``python -m infra.stack demo``: the whole way on real Kafka, in a stack of its own that is gone afterwards.

The contract: every row is asked through the published client and compared with the one right outcome
(``infra.stack.scenarios``); exit 0 only if all are right, memory stayed within its limit, and nothing was left running;
1 otherwise. A stack that ``make up`` left running is not disturbed. After a success nothing is left on disk; after a
failure the logs are.

The sessions time out after 6 s instead of 10, so that a killed worker's partitions move sooner, and the quick policy's
deadline is three of them: the shortest that is sound.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import psutil
from rich.console import Console

from infra.stack import curating, memories, reviewing, scenarios
from infra.stack.asking import Answer, Platform, RecallAnswer
from infra.stack.curating import Curator
from infra.stack.demo_report import Planned, Report, Row, record, table
from infra.stack.paths import ROOT, STATE
from infra.stack.policies import publish_variant, weaken_scan_policy
from infra.stack.processes import PssSampler, end_all
from infra.stack.requirements import say
from infra.stack.reviewing import RULES, Reviewer
from infra.stack.scenarios import ACCEPTED, ALTERED_POLICY, DEFAULT_POLICY, QUICK_POLICY, Ending
from infra.stack.stack import Stack, stack_file_of, stop_recorded
from pratique.errors import ConfigurationError, UnavailableError
from topologies.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pratique.context import ContextMessage

DEMO_STATE: Final = STATE / "demo"

APPS: Final = ("intake", "consistency", "scan", "scan", "verdict", "ledger")
VICTIM: Final = "scan-2"
SCAN_APPS: Final = ("scan", VICTIM)

SESSION_TIMEOUT_MS: Final = 6_000
QUICK_DEADLINE_MS: Final = 3 * SESSION_TIMEOUT_MS

ENVIRONMENT: Final = {
    "PRATIQUE_SESSION_TIMEOUT_MS": str(SESSION_TIMEOUT_MS),
    "PRATIQUE_MIN_DEADLINE_MS": str(QUICK_DEADLINE_MS),
}

BATCH: Final = 32
"""Requests around the kill: half of them are sent after it, so that the victim's partitions have some in any case."""

KILLED: Final = Planned("killed-worker", f"{BATCH} requests, one of two scan workers killed midway", ACCEPTED)
REDELIVERED: Final = Planned("redelivered", "the first request delivered again", ACCEPTED)

AGAIN_S: Final = 20.0
"""Longest wait for a redelivered request's verdict, in seconds."""

SAMPLE_EVERY_S: Final = 2.0
PAGES: Final = (ROOT / "README.md", ROOT / "docs" / "guide" / "demo.md")
"""Pages that show the table."""

_TABLE_WIDTH: Final = 190


def planned() -> tuple[Planned, ...]:
    """Return what there must be a row of, in order."""
    first = (*scenarios.judged_alike(), scenarios.foreign_signer(), scenarios.altered_policy())
    second = (*map(Planned.of, memories.recalls()), *curating.planned(), *reviewing.planned())
    return (*map(Planned.of, first), *second, KILLED, Planned.of(scenarios.unscanned()), REDELIVERED)


def end_left_over() -> list[str]:
    """End what a demo that was cut short left running; return the names of what was. One that runs is left alone."""
    try:
        with _alone(DEMO_STATE):
            return stop_recorded(DEMO_STATE)
    except ConfigurationError:
        return []


def run_demo(*, as_json: bool, record_pages: bool) -> int:
    """Run the demo and print what came of it; return the exit status.

    Args:
        as_json: Print JSON instead of tables.
        record_pages: Write the table into the documentation, if all is right.

    Raises:
        ConfigurationError: A demo is running already, or Java or Maven is missing and may not be installed here.
        UnavailableError: The stack did not start, or stopped serving.
    """
    with _alone(DEMO_STATE):
        report = _report(DEMO_STATE)
        if as_json:
            sys.stdout.write(json.dumps(report.as_json(), indent=2) + "\n")
        else:
            _print(report)
        faults = report.faults()
        if faults:
            say(f"NOT as expected; logs are in {DEMO_STATE / 'logs'}")
            return 1
        shutil.rmtree(DEMO_STATE)
        if record_pages:
            for page in PAGES:
                record(report, page)
    return 0


def _report(state: Path) -> Report:
    started = time.monotonic()
    stack = Stack(state, apps=APPS, environment=ENVIRONMENT, with_policy=_publish_variants)
    processes: dict[str, int] = {}
    sampler = PssSampler(processes, interval_s=SAMPLE_EVERY_S)
    orphans: list[psutil.Process] = []
    with ExitStack() as closing:
        closing.callback(end_all, orphans, grace_s=1)  # last of all, and only where something kept them from ending
        closing.enter_context(stack)
        processes |= stack.process_ids()
        closing.enter_context(sampler)
        policies = (DEFAULT_POLICY, QUICK_POLICY, ALTERED_POLICY, *RULES)
        platform = closing.enter_context(Platform(stack_file_of(state), policies))
        rows, context = _rows(stack, platform, orphans)
        say("stopping everything")
    left = [process for process in orphans if process.is_running()]
    if left:
        raise UnavailableError(f"{len(left)} processes of the killed scan worker could not be ended")
    return Report(
        planned=planned(),
        rows=tuple(rows),
        peak_mib=sampler.peak_mib,
        peak_total_mib=sampler.peak_total_mib,
        seconds=time.monotonic() - started,
        machine=f"{os.cpu_count()} CPUs with a load average of {os.getloadavg()[0]:.1f}",
        fallback=tuple((message["role"], message["content"]) for message in context),
    )


def _rows(
    stack: Stack, platform: Platform, orphans: list[psutil.Process]
) -> tuple[list[Row], tuple[ContextMessage, ...]]:
    """Return the rows, and what the agent goes on with in the one that nobody scanned."""
    answers = _first_answers(platform)
    rows = [answer.row for answer in answers]
    if rows[-1].ending is Ending.UNANSWERED:
        return rows, ()  # whoever is not answered once may wait as long again for every other row
    recalled = _recalls(platform)
    rows += [answer.row for answer in recalled]
    say("putting a text into quarantine, and taking it out again")
    rows += Curator(platform, stack.run_cli, Settings.read(stack.supervisor.environment)).rows()
    say("having verdicts quarantine by themselves, and a curator look at it")
    rows += Reviewer(platform, stack.run_cli).rows()
    rows.append(_killed(stack, platform, orphans))
    unscanned, again = _unscanned(stack, platform, answers[0])
    rows += [unscanned.row, again]
    return [_contradicted(row, platform, [*answers, *recalled]) for row in rows], unscanned.context


def _publish_variants(policy: Path) -> None:
    publish_variant(policy, QUICK_POLICY, min_deadline_ms=QUICK_DEADLINE_MS, deadline_ms=QUICK_DEADLINE_MS)
    altered = publish_variant(policy, ALTERED_POLICY, min_deadline_ms=QUICK_DEADLINE_MS)
    for policy_id, rule in RULES.items():
        publish_variant(policy, policy_id, min_deadline_ms=QUICK_DEADLINE_MS, recall={"auto_quarantine": dict(rule)})
    weaken_scan_policy(policy, altered)  # last: nothing more is published over a file that was changed


def _first_answers(platform: Platform) -> list[Answer]:
    """Ask everything that needs nothing but a running stack, one after the other, so that times mean something.

    Stops after one that is not answered at all.
    """
    asked = (*scenarios.judged_alike(), scenarios.foreign_signer(), scenarios.altered_policy())
    say(f"asking {len(asked)} requests, one after the other")
    answers: list[Answer] = []
    for scenario in asked:
        answers.append(platform.ask(scenario))
        if answers[-1].row.ending is Ending.UNANSWERED:
            break
    return answers


def _recalls(platform: Platform) -> list[RecallAnswer]:
    asked = memories.recalls()
    say(f"recalling memories, {len(asked)} times")
    return [platform.recall(recall) for recall in asked]


def _killed(stack: Stack, platform: Platform, orphans: list[psutil.Process]) -> Row:
    """Kill one of two scan workers in the middle of a batch; its work must be done by the other."""
    say(f"asking {BATCH} requests, killing one of two scan workers in the middle")
    victim = stack.supervisor.processes[VICTIM]

    def each_sent(count: int) -> None:
        if count == BATCH // 2:
            orphans.extend(victim.children())
            victim.kill()

    answers = platform.ask_all(scenarios.batch(BATCH), each_sent=each_sent)
    _, left = psutil.wait_procs(orphans, timeout=5)
    wrong = [answer.row for answer in answers if not answer.row.is_right]
    worst = max((answer.row for answer in answers), key=lambda row: row.milliseconds)
    return replace(
        wrong[0] if wrong else worst,
        name=KILLED.name,
        title=KILLED.title,
        inserted=f"{len(answers) - len(wrong)} summaries",
        fault=f"{len(wrong)} of {BATCH} wrong"
        if wrong
        else f"{len(left)} orphans of the killed worker"
        if left
        else "",
    )


def _unscanned(stack: Stack, platform: Platform, earlier: Answer) -> tuple[Answer, Row]:
    """Stop all scan workers and ask; meanwhile, send an earlier request once more, which needs none."""
    say(f"stopping all scan workers; the deadline is {QUICK_DEADLINE_MS // 1000} s")
    end_all([stack.supervisor.processes[name].process for name in SCAN_APPS], grace_s=5)
    with ThreadPoolExecutor(max_workers=1) as beside:
        waiting = beside.submit(platform.ask, scenarios.unscanned())
        again = _redelivered(platform, earlier)
        return waiting.result(), again


def _redelivered(platform: Platform, earlier: Answer) -> Row:
    """Send the same bytes again: the same verdict must come back, byte for byte."""
    observer, digest = platform.observer, earlier.request_sha256
    answer = platform.again(earlier)
    observer.wait_for(lambda: len(observer.verdicts(digest)) > 1, timeout_s=AGAIN_S)
    values = observer.verdicts(digest)
    same = len(values) > 1 and len(set(values)) == 1
    return replace(
        answer.row,
        name=REDELIVERED.name,
        title=REDELIVERED.title,
        inserted=f"nothing new: the same {len(values[0])} bytes" if same else "",
        fault="" if same else f"{len(values)} verdicts, {len(set(values))} different",
    )


def _contradicted(row: Row, platform: Platform, answers: Sequence[Answer | RecallAnswer]) -> Row:
    """Return the row, at fault if the topics hold two different verdicts on it, or one where none may be."""
    for answer in answers:
        if answer.row.name == row.name and not row.fault:
            values = set(platform.observer.verdicts(answer.request_sha256))
            if len(values) != (0 if row.expected.ending is Ending.DEAD_LETTER else 1):
                return replace(row, fault=f"{len(values)} different verdicts in the topics")
    return row


def _print(report: Report) -> None:
    console = Console()
    if console.width < _TABLE_WIDTH and not console.is_terminal:
        console.width = _TABLE_WIDTH  # a pipe has no width; wrapped cells are hard to read in a log
    console.print(table(report.rows))
    console.print("\nWithout evidence by the deadline, the agent goes on with the trusted instruction and the tail:")
    for role, content in report.fallback:
        console.print(f"  {role:>9}  {_beginning(content)}", markup=False, highlight=False)
    console.print(f"\n{report.memory()}", markup=False, highlight=False)
    console.print(
        f"{report.seconds:.1f} s on {report.machine}, everything started and stopped", markup=False, highlight=False
    )
    for fault in report.faults():
        console.print(f"NOT as expected: {fault}", markup=False, highlight=False)


def _beginning(text: str) -> str:
    return textwrap.shorten(text, 100, placeholder=" ...")


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Hold the demo's lock.

    Raises:
        ConfigurationError: A demo is running in this checkout already.
    """
    state.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(state.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise ConfigurationError("a demo is running in this checkout already") from None
    finally:
        os.close(descriptor)
