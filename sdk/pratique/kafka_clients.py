"""librdkafka's clients made from settings: what one refuses is said by the names of the settings.

The contract: settings that no client can be made of raise ``ConfigurationError``, which names properties and variables
and never a value: one of them may be a password. What clients log is passed on to the logger ``pratique.kafka``, each
kind of complaint seldom: with a broker away, every client complains several times a second.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

from pratique.errors import ConfigurationError, KafkaUnavailableError

LOG: Final = logging.getLogger("pratique.kafka")

SELDOM_S: Final = 30.0
"""How long after a complaint of a client the next of its kind is passed over, in seconds."""

_VARIABLES: Final[Mapping[str, str]] = {"bootstrap.servers": "PRATIQUE_BOOTSTRAP"}
_NO_TEXTS: Final = ("default.topic.config", "logger")
"""What the library takes beside librdkafka's properties, and no text can be."""

_CREDENTIALS: Final = ("sasl.username", "sasl.password")
"""What librdkafka may miss, though nobody set it."""

_FAULTS: Final = (
    ("No such configuration property", "librdkafka knows no such property"),
    ("outside allowed range", "the value is out of librdkafka's range"),
    ("Invalid value", "the value is none that librdkafka takes"),
    ("must be set", "must be set, and suit the others"),
    ("location failed", "the file that it names can't be read, or does not hold what it must"),
)
_NOBODY: Final = frozenset(
    {
        KafkaError._TRANSPORT,  # noqa: SLF001 - librdkafka's own codes are spelt so
        KafkaError._TIMED_OUT,  # noqa: SLF001 - the same
        KafkaError._RESOLVE,  # noqa: SLF001 - the same
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 - the same
    }
)
"""What the client says where nobody answered it."""

_Client = TypeVar("_Client")


def new_client(
    kind: Callable[[dict[str, Any]], _Client], configuration: Mapping[str, str | int | float | bool]
) -> _Client:
    """Return a producer, consumer or administrator.

    Args:
        kind: Its class.
        configuration: librdkafka's properties.

    Raises:
        ConfigurationError: librdkafka refuses them.
        KafkaUnavailableError: It has no resources for another client.
    """
    _check(configuration)
    try:
        return kind({**configuration, "logger": LOG})
    except KafkaException as error:
        cause: KafkaError = error.args[0]
        if cause.code() != KafkaError._INVALID_ARG:  # noqa: SLF001 - librdkafka's own codes are spelt so
            raise KafkaUnavailableError(f"no client of Kafka could be made: {cause.name()}") from None
        raise ConfigurationError(_fault(cause.str(), configuration)) from None


def unanswered(configuration: Mapping[str, object], what: str, error: KafkaException) -> str:
    """Say that the cluster did not answer, and the next step.

    Args:
        configuration: librdkafka's properties of who asked.
        what: What was asked for.
        error: What the client was told.
    """
    cause: KafkaError = error.args[0]
    if cause.code() not in _NOBODY:
        return f"the cluster did not answer for {what}: {cause.name()}"
    place = configuration.get("bootstrap.servers", "")
    return (
        f"no broker at {place} (PRATIQUE_BOOTSTRAP) answered for {what} ({cause.name()}): is it running, and is it "
        "asked as it wants to be (PRATIQUE_KAFKA_…)?"
    )


def variable(name: str) -> str:
    """Return the environment variable that sets a property of librdkafka."""
    return _VARIABLES.get(name) or "PRATIQUE_KAFKA_" + name.replace(".", "_").upper()


def _check(configuration: Mapping[str, object]) -> None:
    """Refuse what the library would not refuse as it refuses everything else."""
    unknown = [name for name in configuration if name in _NO_TEXTS or not _is_unicode(name)]
    if unknown:
        raise ConfigurationError(f"{_named(unknown)}: librdkafka knows no such property")
    wrong = [name for name, value in configuration.items() if not _is_unicode(str(value))]
    if configuration.get("group.id") == "":  # the library ends the process for it
        wrong.append("group.id")
    if wrong:
        raise ConfigurationError(f"{_named(wrong)}: the value is none that librdkafka takes")


def _is_unicode(text: str) -> bool:
    """Tell whether a text has no lone surrogates, as one has whose bytes in the environment are no UTF-8."""
    return all(not 0xD800 <= ord(letter) <= 0xDFFF for letter in text)  # noqa: PLR2004 - the surrogates


def _fault(text: str, configuration: Mapping[str, object]) -> str:
    """Say what librdkafka refuses; its own text may hold a value, so only names are taken from it."""
    fault = next((said for found, said in _FAULTS if found in text), None)
    if "SASL mechanism" in text:
        return f"{_named(['sasl.mechanism'])}: expected PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"
    words = {word.strip(":,") for word in text.replace("`", " ").replace('"', " ").split()}
    names = [name for name in {**configuration, **dict.fromkeys(_CREDENTIALS)} if name in words or f'"{name}"' in text]
    if names:
        return f"{_named(names)}: {fault or 'librdkafka does not take the value beside the others'}"
    return "librdkafka makes no client of the properties that PRATIQUE_KAFKA_… variables set: take out one by one"


def _named(names: list[str]) -> str:
    return ", ".join(f"Kafka property {name} ({variable(name)})" for name in names)


class _Seldom(logging.Filter):
    """Passes complaints of a kind over for a time after one of them; what is less than a warning passes."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._passed_at: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is to be logged."""
        if record.levelno < logging.WARNING:
            return True
        kind = str(record.args[0]) if isinstance(record.args, tuple) and record.args else record.msg
        with self._lock:
            now = time.monotonic()
            if kind in self._passed_at and now < self._passed_at[kind] + SELDOM_S:
                return False
            self._passed_at[kind] = now
            return True


LOG.addFilter(_Seldom())
