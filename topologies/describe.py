"""The wiring as text and as AsyncAPI, made from the same frozen values that the apps run on.

The contract: deterministic output; a golden test holds it, so a change of wiring shows in review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from pratique.contract.avro import schema_directory
from topologies.apps import APPS
from topologies.catalog import TOPICS, TopicSpec

ASYNCAPI_VERSION: Final = "3.0.0"
AVRO_FORMAT: Final = "application/vnd.apache.avro+json;version=1.11.0"


def describe() -> str:
    """Return apps and topics as plain text."""
    lines = ["apps"]
    for app in APPS:
        writes = ", ".join(f"{channel.value} -> {spec.name}" for channel, spec in app.writes)
        lines.append(f"  {app.name} (group {app.group})")
        lines.append(f"    reads  {', '.join(spec.name for spec in app.sources)}")
        lines.append(f"    writes {writes}")
    lines.append("topics")
    for spec in TOPICS:
        lines.append(f"  {spec.name}")
        lines.append(f"    value {spec.record}; key {spec.key}; writers {', '.join(spec.writers)}")
        settings = ", ".join(f"{name}={value}" for name, value in sorted(spec.configuration.items()))
        lines.append(f"    {settings}; content {'yes' if spec.content else 'no'}")
    return "\n".join(lines) + "\n"


def described() -> Mapping[str, Any]:
    """Return the facts that ``describe`` tells, for programs."""
    return {
        "apps": [
            {
                "name": app.name,
                "group": app.group,
                "reads": [spec.name for spec in app.sources],
                "writes": {channel.value: spec.name for channel, spec in app.writes},
            }
            for app in APPS
        ],
        "topics": [
            {
                "name": spec.name,
                "value": spec.record,
                "key": spec.key,
                "writers": list(spec.writers),
                "configuration": dict(spec.configuration),
                "content": spec.content,
            }
            for spec in TOPICS
        ],
    }


def asyncapi(version: str) -> Mapping[str, Any]:
    """Return the topics as an AsyncAPI document.

    Args:
        version: The release that is described.
    """
    return {
        "asyncapi": ASYNCAPI_VERSION,
        "info": {"title": "Pratique", "version": version},
        "channels": {spec.name: _channel(spec) for spec in TOPICS},
        "operations": {
            f"{app.name}.{action}.{spec.name}": {"action": action, "channel": {"$ref": f"#/channels/{spec.name}"}}
            for app in APPS
            for action, spec in [
                *(("receive", spec) for spec in app.sources),
                *(("send", spec) for _, spec in app.writes),
            ]
        },
    }


def _channel(spec: TopicSpec) -> Mapping[str, Any]:
    name = re.split(r"\W", spec.record, maxsplit=1)[0]
    schema = schema_directory() / f"{name}.avsc"
    message: dict[str, Any] = {"title": spec.record}
    if not schema.is_file():
        return {"address": spec.name, "messages": {"bytes": message}}
    message["payload"] = {"schemaFormat": AVRO_FORMAT, "schema": json.loads(schema.read_text(encoding="utf-8"))}
    return {"address": spec.name, "messages": {name: message}}
