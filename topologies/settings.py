"""The environment, typed: everything that a deployment sets, with its default.

The contract: ``Settings.read`` takes an environment and raises one ``ConfigurationError`` that names the variable and
what it expects. Secrets are never settings: keys come from the key source that ``keys`` points to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from pratique.errors import ConfigurationError

PREFIX: Final = "PRATIQUE_"
_LEAST: Final[Mapping[str, int]] = {"skew_ms": 0, "quota_per_second": 0, "metrics_port": -1}
"""Smallest value of a number; 1 where it is not named here."""

_KINDS: Final[Mapping[type, str]] = {int: "whole number", float: "number", str: "text"}
"""What a setting of a type is called."""

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "log_level": ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
    "ledger_lost_reviews": ("refuse", "accept"),
}
"""What a text must be one of; anything where it is not named here."""

KAFKA_PREFIX: Final = "PRATIQUE_KAFKA_"
"""``PRATIQUE_KAFKA_SECURITY_PROTOCOL=SSL`` sets librdkafka's ``security.protocol``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a process needs to know of where it runs.

    Attributes:
        bootstrap: Kafka bootstrap servers.
        policy_repository: The TUF repository: a directory or an http(s) address.
        policy_root: File of the trusted root metadata, handed over by the security engineer.
        policy_state: Where this process keeps TUF metadata it trusts; one folder a process.
        keys: Directory of this process's keys.
        partitions: Partitions of a topic that ``topics apply`` creates.
        replication: Replicas of such a topic.
        session_timeout_ms: Kafka consumer session; a killed process's partitions move after it.
        horizon_ms: How long after ``requested_at`` a request is served (architecture, decision 6).
        skew_ms: How far a publisher's clock may run ahead.
        min_deadline_ms: Shortest deadline a policy may set here; at least 3 sessions in production.
        open_per_tenant: Open joins of one tenant in one evidence partition.
        quota_per_second: Requests a second that a tenant may make, over all workers.
        quota_burst: Requests a tenant may make at once.
        ledger_entries_per_tenant: Entries of one tenant in the quarantine ledger, quarantined or released.
        ledger_lost_reviews: ``refuse``, or ``accept`` to let the ledger go on without records of automatic entries that
            the review topic lost.
        ledger_staleness_ms: How long ago the ledger's view may last have been known to hold everything.
        lineage_ms: How long the index keeps a verdict, for compactions of what it accepted.
        lineage_redis_url: Redis of the index of verdicts, which may evict; ``redis_url`` where empty.
        redis_url: Redis of the ledger's view and of the index of verdicts, ``redis://`` or ``rediss://``; neither where
            empty.
        scan_processes: Worker processes of one scan app.
        prompt_safety: Factory of the primary detector of recalls, ``module:function``; the packaged model if not set,
            none if empty: then every recalled entry is an ERROR.
        policy_refresh_ms: How often the policy repository is asked for news.
        metrics_host: Address that metrics are served on.
        metrics_port: Port of it; 0 takes a free one, -1 serves none.
        ready_file: File that is written once the app holds its first assignment; none if empty.
        judges: ``real``, or ``absent`` to measure the flow alone: then nothing is ever accepted.
        log_level: Level of the log on stderr.
        kafka: Further librdkafka properties of every connection.
    """

    bootstrap: str = "127.0.0.1:9092"
    policy_repository: str = ""
    policy_root: str = ""
    policy_state: str = ""
    keys: str = ""
    partitions: int = 8
    replication: int = 1
    session_timeout_ms: int = 10_000
    horizon_ms: int = 600_000
    skew_ms: int = 30_000
    min_deadline_ms: int = 30_000
    open_per_tenant: int = 10_000
    quota_per_second: float = 200.0
    quota_burst: float = 2_000.0
    ledger_entries_per_tenant: int = 100_000
    ledger_lost_reviews: str = "refuse"
    ledger_staleness_ms: int = 5_000
    lineage_ms: int = 172_800_000
    lineage_redis_url: str = ""
    redis_url: str = ""
    scan_processes: int = 1
    prompt_safety: str = "streams.adapters.injection.detector:packaged"
    policy_refresh_ms: int = 30_000
    metrics_host: str = "127.0.0.1"
    metrics_port: int = 0
    ready_file: str = ""
    judges: str = "real"
    log_level: str = "INFO"
    kafka: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Settings:
        """Read the settings of an environment.

        Raises:
            ConfigurationError: A variable does not hold what it must.
        """
        values: dict[str, Any] = {}
        for item in fields(cls):
            text = environment.get(PREFIX + item.name.upper())
            if item.name != "kafka" and text is not None:
                values[item.name] = _parsed(item.name, text, type(item.default))
        values["kafka"] = {
            name.removeprefix(KAFKA_PREFIX).lower().replace("_", "."): value
            for name, value in environment.items()
            if name.startswith(KAFKA_PREFIX)
        }
        return cls(**values)

    @property
    def connection(self) -> dict[str, str]:
        """Librdkafka properties of every connection."""
        return {"bootstrap.servers": self.bootstrap, **self.kafka}

    def required(self, name: str) -> str:
        """Return a setting that this command can't do without.

        Raises:
            ConfigurationError: It is not set.
        """
        value = str(getattr(self, name))
        if not value:
            raise ConfigurationError(
                f"{PREFIX}{name.upper()} is not set: export it (docs/guide/operator.md, Running the apps), or name "
                "with --stack what `make up` left"
            )
        return value

    def path(self, name: str) -> Path:
        """Return a required setting as a path.

        Raises:
            ConfigurationError: It is not set.
        """
        return Path(self.required(name))


def _parsed(name: str, text: str, kind: type) -> object:
    variable = PREFIX + name.upper()
    parsers: Mapping[type, Callable[[str], object]] = {int: int, float: float, str: str}
    try:
        value = parsers[kind](text)
    except ValueError:
        raise ConfigurationError(f"{variable} is no {_KINDS[kind]}") from None
    if isinstance(value, int | float) and not _LEAST.get(name, 1) <= value < math.inf:
        raise ConfigurationError(f"{variable} is not a number of at least {_LEAST.get(name, 1)}")
    if isinstance(value, str) and value not in _WORDS.get(name, (value,)):
        raise ConfigurationError(f"{variable} is none of {', '.join(_WORDS[name])}")
    return value
