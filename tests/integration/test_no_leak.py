"""No content leaves the content topics: canaries in every field, and a search of everything the system wrote.

Content is what requests carry beside ids. It may be in the topics of the catalogue that say so, and nowhere else: no
other topic, the broker's own included, no log at its most talkative, no metric, no answer of the console, no file that
apps, console and Redis keep, nothing in Redis.
"""

from __future__ import annotations

import base64
import json
import subprocess
import urllib.request
import uuid
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from pratique.contract.avro import decode
from pratique.contract.digests import request_sha256
from pratique.contract.records import Verdict
from pratique.contract.topics import DEAD_LETTER, WORK
from pratique.redacting import MASK
from streams.adapters.redis_connect import RedisIdentity, connect
from streams.adapters.redis_verdicts import TAG
from streams.domain.policy.documents import NARRATIVE_FIELD_ROOTS
from streams.domain.policy.quarantine_rules import DAY_MS
from tests.integration.asking import VERDICT_TOPICS, verdicts_since
from tests.integration.canaries import Canaries
from tests.integration.planting import Planter
from tests.integration.platform import ALL_APPS, PATIENT_DEADLINE_MS, TENANT, Platform
from tests.integration.raw import Ends, until
from tests.integration.test_console import console
from topologies.catalog import TOPICS

pytestmark = pytest.mark.containers

POLICY: Final = "leak-rule"
NARRATIVES: Final = "leak-narratives"
RULE: Final[dict[str, Any]] = {
    "codes": ["INJECTION", "ROLE_ASSERTION", "SECRET", "PII", "PREDICATE_CONFLICT"],
    "minimum_characters": 16,
    "hourly_quota": 1000,
    "expires_after_ms": 30 * DAY_MS,
    "effect": "QUARANTINE",
}
Asked: TypeAlias = tuple[str, tuple[str, ...], str]
"""A command of the console: its name here, its arguments, and what it reads."""

LEAKING: Final = "tests.fakes.recall:quoting"


class Told:
    """The platform after everything was planted and answered."""

    def __init__(self, platform: Platform, tmp_path: Path) -> None:
        self.platform = platform
        self.canaries = Canaries()
        self.since: Ends = platform.log.ends(*platform.log.topics())
        self.console: dict[str, subprocess.CompletedProcess[str]] = {}
        self._asked: list[Asked] = []
        self._tmp_path = tmp_path
        self.written = tmp_path / "written"
        platform.publish(
            POLICY, recall={"auto_quarantine": RULE}, deadline_ms=PATIENT_DEADLINE_MS, auto_quarantine=RULE
        )
        with platform.gate(policy_id=POLICY) as gate:
            planter = Planter(platform, gate, self.canaries)
            self.masked = planter.masked()
            self.planted = list(planter.everything())
        platform.publish(
            NARRATIVES,
            scan={"field_roots": list(NARRATIVE_FIELD_ROOTS)},
            deadline_ms=PATIENT_DEADLINE_MS,
            assurance="BOUNDED_WITH_UNTRUSTED_NARRATIVE",
        )
        with platform.gate(policy_id=NARRATIVES) as gate:
            self.planted += Planter(platform, gate, self.canaries).narratives()
        for record in self.planted:
            platform.log.publish(record.topic, record.value, key=record.key, headers=record.headers)
        self.answers: dict[str, str] = {}
        until(self._all_answered, f"an answer to each of {len(self.planted)} requests")
        self.metrics = self._metrics()
        self._ask_the_console()

    def _metrics(self) -> dict[str, bytes]:
        self.platform.tend()
        self.platform.await_ready(*ALL_APPS)
        served: dict[str, bytes] = {}
        for app in ALL_APPS:
            with urllib.request.urlopen(self.platform.metrics_at(app), timeout=30) as answer:  # noqa: S310 - our own
                served[app] = answer.read()
        return served

    def _all_answered(self) -> bool:
        self.platform.tend()
        verdicts = verdicts_since(self.platform, self.since)
        letters = {record.value for record in self.platform.log.records(DEAD_LETTER, since=self.since)}
        for record in self.planted:
            digest = request_sha256(record.value)
            if digest in verdicts:
                self.answers[record.name] = decode(verdicts[digest][0].value, Verdict).outcome.value
            elif record.value in letters:
                self.answers[record.name] = DEAD_LETTER
        return {record.name for record in self.planted} == self.answers.keys()

    def _ask_the_console(self) -> None:
        word, ask = self.canaries.word, self._ask
        text = f"Send the numbers to {word('a text put into the ledger')}."
        scope = (
            "--tenant",
            TENANT,
            "--incident",
            "INC-9",
            "--reason",
            "a canary",
            "--stack",
            str(self.platform.stack_file),
        )
        ask("ledger", "add", "-", *scope, given=text)
        ask("ledger", "show", "-", "--tenant", TENANT, given=text)
        ask("quarantine", "list", "--all", "--json")
        ask("dead-letter", "list", "--json")
        letter = self.platform.log.records(DEAD_LETTER, since=self.since)[0]
        ask("dead-letter", "show", str(letter.partition), str(letter.offset), "--json")
        for record in self.platform.log.records(*VERDICT_TOPICS, since=self.since)[:3]:
            verdict = decode(record.value, Verdict)
            ask("verdict", "get", verdict.verdict_id, "--json")
        ask("submit", "-", "--wait", "60", "--stack", str(self.platform.stack_file), given="\n".join(self._lines()))
        scanned = [{"id": 1, "text": f"{word('a scanned text')} a@example.org"}, {"id": 2, "text": 3}]
        ask("scan", "--jsonl", given="".join(f"{json.dumps(line)}\n" for line in scanned))
        file = self._tmp_path / "notes.txt"
        file.write_text(f"{word('a scanned file')}\n{word('an address in a file')}@example.org\n", "utf-8")
        ask("scan", str(file))
        ask("scan", "--json", str(file))
        ask(
            "policy",
            "diff",
            "current",
            str(self.platform.policy / "source"),
            "--topic",
            "1000",
            "--json",
            "--directory",
            str(self.platform.policy),
        )
        ask("doctor", "--json")
        ask("ledger", "verify")
        for record in self.platform.log.records(*VERDICT_TOPICS, since=self.since):
            verdict = decode(record.value, Verdict)
            if verdict.entries:
                ask("recall", "verify", verdict.verdict_id, "--json")
                break
        self._ask_for_an_evaluation()
        with ThreadPoolExecutor() as beside:
            self.console = dict(beside.map(self._answered, self._asked))

    def _ask_for_an_evaluation(self) -> None:
        """Evaluate rows with canaries, a conversation among them; what is written counts as an answer too."""
        word = self.canaries.word
        secret = {"id": "r1", "label": "detect", "text": f"{word('a row')} ghp_{word('a secret in a row')}0123456789AB"}
        talk = {"id": "r2", "label": "clean", "messages": [{"role": "user", "content": word("a conversation")}]}
        wrong = {"id": "r3", "label": word("a label that is none"), "text": word("a row that is none")}
        for corpus, folder, row in (
            ("corpus", "secrets", secret),
            ("corpus", "transcripts", talk),
            ("wrong", "pii", wrong),
        ):
            (self._tmp_path / corpus / folder).mkdir(parents=True)
            (self._tmp_path / corpus / folder / "rows.jsonl").write_text(f"{json.dumps(row)}\n", "utf-8")
        written = [(f"--{name}", str(self.written / name)) for name in ("rows", "html", "out")]
        self.written.mkdir()
        options = [part for pair in written for part in pair]
        self._ask("eval", "--workers", "1", "--corpus", str(self._tmp_path / "corpus"), "--json", *options)
        self._ask("eval", "--workers", "1", "--corpus", str(self._tmp_path / "wrong"))

    def _lines(self) -> Iterator[str]:
        word = self.canaries.word
        yield f"{{{word('a line that is no JSON')}"
        good: dict[str, Any] = {
            "kind": "compaction",
            "tenant_id": TENANT,
            "task_id": f"task-{uuid.uuid4().hex}",
            "candidate_json": word("a submitted candidate"),
            "source_messages": [
                {"message_id": "m1", "role": "user", "content": word("a submitted message"), "provenance": "TRUSTED"}
            ],
        }
        for field, value in (
            ("kind", word("a kind that is none")),
            ("candidate_json", [word("a candidate that is no text")]),
            ("source_messages", word("messages that are none")),
            ("source_messages", [{"message_id": "m1", "role": word("a role that is none"), "content": "x"}]),
            ("commitments", word("commitments that are none, submitted")),
            ("trace_context", {word("a submitted trace"): 3}),
            ("requested_at", word("a time that is none")),
        ):
            yield json.dumps({**good, field: value})
        yield json.dumps(good)

    def _ask(self, *arguments: str, given: str = "") -> None:
        self._asked.append((f"{len(self._asked)} {' '.join(arguments[:2])}", arguments, given))

    def _answered(self, asked: Asked) -> tuple[str, subprocess.CompletedProcess[str]]:
        name, arguments, given = asked
        return name, console(self.platform, *arguments, given=given)


@pytest.fixture(scope="module")
def told(one_platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """Every app at its most talkative, and a primary detector whose errors quote what it was given."""
    one_platform.restore()
    for app in ALL_APPS:
        more = {"PRATIQUE_PROMPT_SAFETY": LEAKING} if app == "scan" else {}
        one_platform.discard(app)
        one_platform.launch(app, PRATIQUE_LOG_LEVEL="DEBUG", **more)
    one_platform.await_ready(*ALL_APPS)
    yield Told(one_platform, tmp_path_factory.mktemp("leak"))
    for app in ALL_APPS:
        one_platform.discard(app)  # whoever comes next has apps as everyone has them


def test_requests_got_every_kind_of_answer(told: Told) -> None:
    """Else there would be little to find: what follows would pass over nothing."""
    assert set(told.answers.values()) == {"ACCEPTED", "QUARANTINED", DEAD_LETTER}
    codes = {
        reason.code
        for records in verdicts_since(told.platform, told.since).values()
        for reason in decode(records[0].value, Verdict).reasons
    }
    assert codes >= {
        "SECRET",
        "PII",
        "INJECTION",
        "SCHEMA_INVALID",
        "DUPLICATE_KEY",
        "PREDICATE_CONFLICT",
        "DETECTOR_ERROR",
    }


def test_canaries_are_where_content_may_be(told: Told) -> None:
    """The search finds what is there to find."""
    records = told.platform.log.records(DEAD_LETTER, WORK, since=told.since)
    found = told.canaries.found_in(*(record.value for record in records))
    assert {
        "a narrative",
        "prose of a summary",
        "garbage on compaction.requested",
        "a clean memory",
        "trace value",
    } <= found


@pytest.mark.parametrize("topic", [topic.name for topic in TOPICS if not topic.content])
def test_no_other_topic_holds_content(told: Told, topic: str) -> None:
    records = told.platform.log.records(topic, since=told.since)
    headers = [part for record in records for name, value in record.headers for part in (name.encode(), value)]
    values = [part for record in records for part in (record.key, record.value)]
    assert records, "nothing was written: there would be nothing to find"
    assert told.canaries.found_in(*headers, *values) == set()


def test_no_topic_beyond_the_catalogue_holds_content(told: Told) -> None:
    """Consumers' offsets with their metadata, and whatever a framework makes for itself."""
    others = set(told.platform.log.topics()) - {topic.name for topic in TOPICS}
    records = told.platform.log.records(*others, since=told.since)
    assert records
    assert told.canaries.found_in(*(part for record in records for part in (record.key, record.value))) == set()


def test_a_memory_comes_back_without_what_was_masked(told: Told) -> None:
    (memory,) = told.masked
    assert memory.content == f"Deploy with {MASK} on Monday."
    assert memory.memory_version.startswith("1+masked.")
    assert told.canaries.found_in(repr(memory).encode()) == set()


def test_no_file_that_is_kept_holds_content(told: Told) -> None:
    files = told.platform.files()
    kept = [path for path in (*files, *told.written.iterdir()) if told.canaries.found_in(path.read_bytes())]
    assert kept == []
    assert {"rows", "html", "out"} == {path.name for path in told.written.iterdir()}
    assert told.platform.process("scan").log in files


@pytest.mark.parametrize("app", ALL_APPS)
def test_no_log_holds_content(told: Told, app: str) -> None:
    path = told.platform.process(app).log
    written = path.read_bytes()
    assert b"DEBUG" in written
    assert told.canaries.found_in(written) == set()


@pytest.mark.parametrize("app", ALL_APPS)
def test_no_metric_holds_content(told: Told, app: str) -> None:
    assert b"pratique_" in told.metrics[app]
    assert told.canaries.found_in(told.metrics[app]) == set()


def test_no_answer_of_the_console_holds_content(told: Told) -> None:
    leaks = {
        name: told.canaries.found_in(done.stdout.encode(), done.stderr.encode()) for name, done in told.console.items()
    }
    assert {name: places for name, places in leaks.items() if places} == {}
    assert all(done.stdout for name, done in told.console.items() if "submit" in name or "scan" in name)
    assert not [name for name, done in told.console.items() if "Traceback" in done.stderr]


def test_redis_holds_no_content(told: Told) -> None:
    client = connect(
        told.platform.redis.url, RedisIdentity.VERIFY, told.platform.policy / "keys", told.platform.environment
    )
    readers: dict[str, Callable[[str], Any]] = {
        "list": lambda key: client.lrange(key, 0, -1),
        "string": client.get,
        "set": client.smembers,
        "hash": client.hgetall,
    }
    held = []
    until(lambda: any(client.scan_iter(f"{TAG}*{TENANT}*")), "verdicts are in the index")
    for key in client.scan_iter():
        kind = client.type(key)
        held.append(key)
        assert kind in readers, kind
        found = readers[kind](key)
        held.append(repr(found))
        if kind == "hash" and "value" in found:  # a verdict in the index
            held.append(zlib.decompress(base64.b64decode(found["value"])).decode("utf-8", "replace"))
    client.close()
    assert held
    assert told.canaries.found_in(*(text.encode() for text in held)) == set()
