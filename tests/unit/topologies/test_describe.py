"""The wiring is what was reviewed, and can be read by others."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from pratique.contract import topics as names
from tests.vectors.generate_topology import VECTORS
from topologies.apps import APPS
from topologies.catalog import TOPICS, TopicSpec
from topologies.describe import asyncapi, describe

IDENTIFIER = re.compile(r"[A-Za-z0-9._-]+")


def test_wiring_is_the_committed_one() -> None:
    assert describe() == VECTORS.read_text(encoding="utf-8")


def test_asyncapi_names_every_topic_and_every_use_of_it() -> None:
    document = asyncapi("1.2.3")
    assert (document["asyncapi"], document["info"]["version"]) == ("3.0.0", "1.2.3")
    assert set(document["channels"]) == {spec.name for spec in TOPICS}
    expected = {
        (app.name, action, spec.name)
        for app in APPS
        for action, specs in (("receive", app.sources), ("send", [spec for _, spec in app.writes]))
        for spec in specs
    }
    found = {
        (*name.split(".", 2)[:2], operation["channel"]["$ref"].removeprefix("#/channels/"))
        for name, operation in document["operations"].items()
    }
    assert found == expected
    assert {operation["action"] for operation in document["operations"].values()} == {"receive", "send"}


def test_asyncapi_points_only_at_what_is_there() -> None:
    document = asyncapi("1")
    for operation in document["operations"].values():
        assert operation["channel"]["$ref"].removeprefix("#/channels/") in document["channels"]
    json.dumps(document)


def test_asyncapi_names_are_identifiers() -> None:
    document = asyncapi("1")
    for channel in document["channels"].values():
        assert all(IDENTIFIER.fullmatch(name) for name in channel["messages"])
    assert all(IDENTIFIER.fullmatch(name) for name in document["operations"])


def test_records_of_the_language_come_with_their_schema() -> None:
    channels = asyncapi("1")["channels"]
    records = {
        names.COMPACTION_REQUESTED: "CompactionRequested",
        names.EVIDENCE: "Evidence",
        names.COMPACTION_QUARANTINED: "Verdict",
        names.QUARANTINE_LEDGER: "LedgerEntry",
    }
    for name, record in records.items():
        (message,) = channels[name]["messages"].values()
        assert message["payload"]["schema"]["name"] == record


# -------------------------------------------------------------------------------------------------------- the catalogue


def test_every_topic_of_an_app_is_in_the_catalogue_and_said_to_be_its() -> None:
    for app in APPS:
        for _, spec in app.writes:
            assert spec in TOPICS
            assert app.name in spec.writers or spec.writers == ("every app",)
        assert all(spec in TOPICS for spec in app.sources)


NOT_YET = {("verdict", names.QUARANTINE_COMMANDS)}
"""Who may write by the contract, and does not: nothing is quarantined without a curator so far."""


def test_nobody_is_said_to_write_who_does_not() -> None:
    apps = {app.name: {spec.name for _, spec in app.writes} for app in APPS}
    for spec in TOPICS:
        for writer in spec.writers:
            assert (writer, spec.name) in NOT_YET or writer not in apps or spec.name in apps[writer]


@pytest.mark.parametrize("app", APPS, ids=lambda app: app.name)
def test_channels_and_groups_are_used_once(app: object) -> None:
    channels = Counter(channel for channel, _ in app.writes)  # type: ignore[attr-defined] # a Topology
    assert set(channels.values()) == {1}
    assert len({item.group for item in APPS}) == len(APPS)


def test_topics_with_agent_content_are_short_lived_and_no_others_have_any() -> None:
    content = {spec.name for spec in TOPICS if spec.content}
    assert content == {names.COMPACTION_REQUESTED, names.MEMORY_RECALLED, names.WORK, names.DEAD_LETTER} & {
        spec.name for spec in TOPICS
    }
    for spec in TOPICS:
        if spec.content:
            assert 0 < spec.retention_ms <= 7 * 24 * 60 * 60 * 1000


def spec_of(name: str) -> TopicSpec:
    return next(spec for spec in TOPICS if spec.name == name)


def test_evidence_is_stamped_by_the_broker_and_its_partitions_are_for_ever() -> None:
    evidence = spec_of(names.EVIDENCE)
    assert evidence.configuration["message.timestamp.type"] == "LogAppendTime"
    assert evidence.fixed_partitions
    assert evidence.cleanup == "delete"


def test_bounds_leave_room_for_each_other() -> None:
    requested, work, dead = spec_of(names.COMPACTION_REQUESTED), spec_of(names.WORK), spec_of(names.DEAD_LETTER)
    assert requested.max_message_bytes > names.MAX_REQUEST_BYTES
    assert requested.max_message_bytes + names.MAX_ENVELOPE_BYTES // 2 < work.max_message_bytes
    assert work.max_message_bytes <= dead.max_message_bytes
