"""``pratique topics describe``: what the wiring is, without a cluster."""

from __future__ import annotations

import json

from click.testing import CliRunner

from topologies.cli.topics import topics
from topologies.describe import asyncapi, describe


def test_describe_prints_the_wiring() -> None:
    found = CliRunner().invoke(topics, ["describe"])
    assert (found.exit_code, found.output) == (0, describe())


def test_describe_prints_asyncapi_of_the_installed_release() -> None:
    found = CliRunner().invoke(topics, ["describe", "--asyncapi"])
    document = json.loads(found.output)
    assert found.exit_code == 0
    assert document == json.loads(json.dumps(asyncapi(document["info"]["version"])))
    assert document["info"]["version"] != ""


def test_describe_prints_the_same_facts_as_json() -> None:
    found = CliRunner().invoke(topics, ["describe", "--json"])
    facts = json.loads(found.output)
    assert (found.exit_code, list(facts)) == (0, ["apps", "topics"])
    said = describe()
    for app in facts["apps"]:
        assert f"  {app['name']} (group {app['group']})\n    reads  {', '.join(app['reads'])}\n" in said
        assert all(f"{channel} -> {topic}" in said for channel, topic in app["writes"].items())
    for topic in facts["topics"]:
        settings = ", ".join(f"{name}={value}" for name, value in sorted(topic["configuration"].items()))
        assert f"  {topic['name']}\n    value {topic['value']}; key {topic['key']}; writers " in said
        assert f"    {settings}; content {'yes' if topic['content'] else 'no'}\n" in said
    assert len(facts["apps"]) == said.count("(group ")
    assert len(facts["topics"]) == said.count("    value ")
