"""Topics and start offsets: what a cluster lacks, and making it agree with the catalogue.

The contract: ``plan`` only looks. ``apply`` creates what is missing, changes configuration that differs, and commits
start offsets for every group and partition that has none, so that an app never has to guess where to begin. It
refuses what would destroy: a change of cleanup, and any change of the partition count of a topic that fixes it (a key's
partition would change under open joins). What an operator keeps for longer than the catalogue asks stays, unless it is
agent content; partition counts that are not fixed are the operator's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pratique.errors import RefusedError
from streams.adapters.kafka_admin import ExistingTopic, KafkaAdmin
from topologies.apps import APPS, Topology
from topologies.catalog import TOPICS, TopicSpec
from topologies.settings import Settings

_TIMESTAMPS: Final = "message.timestamp.type"
_RETENTION: Final = "retention.ms"


class ChangeKind(Enum):
    """What a change does."""

    CREATE = "create"
    CONFIGURE = "configure"
    START = "start offsets"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between catalogue and cluster."""

    kind: ChangeKind
    topic: str
    detail: str


def plan(settings: Settings) -> list[Change]:
    """Return what ``apply`` would do.

    Raises:
        UnavailableError: The cluster does not answer.
    """
    return [change for change, _ in _differences(KafkaAdmin(settings.connection), settings)]


def apply(settings: Settings) -> list[Change]:
    """Make the cluster agree with the catalogue; return what was done.

    Raises:
        UnavailableError: The cluster does not answer.
        RefusedError: A difference can only be mended by destroying something; nothing was changed.
    """
    admin = KafkaAdmin(settings.connection)
    differences = _differences(admin, settings)
    refused = [change for change, _ in differences if change.kind is ChangeKind.REFUSE]
    if refused:
        raise RefusedError("; ".join(f"{change.topic}: {change.detail}" for change in refused))
    for _, make in differences:
        make()
    # Start offsets need the topics, so they are looked at once those are there.
    starts = _starts(admin, settings)
    for _, make in starts:
        make()
    return [change for change, _ in differences + starts]


def require_start_offsets(settings: Settings, topology: Topology) -> None:
    """Refuse to start an app whose group has lost its place.

    Raises:
        RefusedError: A partition has no committed offset: ``topics apply`` was never run, or offsets expired. Or the
            broker does not stamp the topic's records, so that their writers could choose their times.
        UnavailableError: The cluster does not answer.
    """
    admin = KafkaAdmin(settings.connection)
    for spec in topology.sources:
        _require_start_offsets(admin, topology.group, spec)


def _require_start_offsets(admin: KafkaAdmin, group: str, spec: TopicSpec) -> None:
    existing = admin.topics((spec.name,)).get(spec.name)
    if existing is None:
        raise RefusedError(f"topic {spec.name} does not exist; run `pratique topics apply`")
    if spec.append_time and existing.configuration.get(_TIMESTAMPS) != spec.configuration[_TIMESTAMPS]:
        raise RefusedError(f"{_TIMESTAMPS} of {spec.name} is not LogAppendTime; run `pratique topics apply`")
    committed = admin.committed(group, spec.name, existing.partitions)
    missing = [number for number in range(existing.partitions) if number not in committed]
    if missing:
        raise RefusedError(
            f"group {group} has no committed offset for partitions {missing} of {spec.name}: "
            "run `pratique topics apply` (it begins at the first record) and see docs/guide/operator.md"
        )


_Difference = tuple[Change, Callable[[], None]]


def _differences(admin: KafkaAdmin, settings: Settings) -> list[_Difference]:
    existing = admin.topics(tuple(spec.name for spec in TOPICS))
    found: list[_Difference] = []
    for spec in TOPICS:
        present = existing.get(spec.name)
        if present is None:
            found.append(_creation(admin, spec, settings))
        else:
            found.extend(_changes(admin, spec, present, settings))
    return found


def _creation(admin: KafkaAdmin, spec: TopicSpec, settings: Settings) -> _Difference:
    def make() -> None:
        configuration = dict(spec.configuration)
        if settings.replication >= 3:  # noqa: PLR2004 - three replicas bear the loss of one with two in sync
            configuration["min.insync.replicas"] = "2"
        admin.create(spec.name, settings.partitions, settings.replication, configuration)

    detail = f"{settings.partitions} partitions, {settings.replication} replicas"
    return Change(ChangeKind.CREATE, spec.name, detail), make


def _changes(admin: KafkaAdmin, spec: TopicSpec, present: ExistingTopic, settings: Settings) -> list[_Difference]:
    found: list[_Difference] = []
    differing = {name: value for name, value in spec.configuration.items() if present.configuration.get(name) != value}
    if not spec.content and _is_longer(present.configuration.get(_RETENTION), spec.retention_ms):
        differing.pop(_RETENTION, None)
    if "cleanup.policy" in differing:
        found.append(_refusal(spec, "its cleanup policy differs; changing it would lose records"))
    elif differing:
        found.append(
            (
                Change(ChangeKind.CONFIGURE, spec.name, ", ".join(sorted(differing))),
                lambda: admin.configure(spec.name, differing),
            )
        )
    if spec.fixed_partitions and present.partitions != settings.partitions:
        wanted = f"{settings.partitions} are set and {present.partitions} exist"
        found.append(_refusal(spec, f"its partition count can't change: {wanted}"))
    return found


def _is_longer(present_ms: str | None, wanted_ms: int) -> bool:
    """Compare retentions; a negative one is for ever."""
    present = int(present_ms or "0")
    return wanted_ms >= 0 and (present < 0 or present > wanted_ms)


def _refusal(spec: TopicSpec, detail: str) -> _Difference:
    def make() -> None:
        raise RefusedError(f"{spec.name}: {detail}")

    return Change(ChangeKind.REFUSE, spec.name, detail), make


def _starts(admin: KafkaAdmin, settings: Settings) -> list[_Difference]:
    found: list[_Difference] = []
    existing = admin.topics(tuple(spec.name for spec in TOPICS))
    read = [(topology.group, spec.name) for topology in APPS for spec in topology.sources]
    for group, topic in read:
        partitions = existing[topic].partitions if topic in existing else settings.partitions
        committed = admin.committed(group, topic, partitions)
        missing = [number for number in range(partitions) if number not in committed]
        if missing:
            bounds = admin.bounds(topic, partitions)
            offsets = {number: bounds[number][0] for number in missing}
            found.append(
                (
                    Change(ChangeKind.START, topic, f"group {group}: {len(missing)} partitions"),
                    lambda group=group, topic=topic, offsets=offsets: admin.commit(group, topic, offsets),  # type: ignore[misc]
                )
            )
    return found
