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
