"""The whole way over a Kafka that asks for passwords and certificates: each app, each command and the client."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import pytest

from infra.stack.processes import ManagedProcess
from pratique.client import now_in_ms
from pratique.errors import UnavailableError
from streams.adapters.kafka_admin import KafkaAdmin
from tests.fakes.certificates import Authority
from tests.integration.asking import clean
from tests.integration.kafka_container import kafka_image
from tests.integration.platform import Platform
from tests.integration.raw import WAIT_S
from tests.integration.secured_kafka import SecuredKafka
from topologies.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

pytestmark = pytest.mark.containers

NOW: Final = datetime.fromtimestamp(now_in_ms() / 1000, UTC)


class SecuredPlatform(Platform):
    """A platform whose apps each come in by another door."""

    def __init__(self, broker: SecuredKafka, state: Path) -> None:
        super().__init__(broker.bootstrap, state)
        scram, plain, certificate = broker.password("SCRAM-SHA-512"), broker.password("PLAIN"), broker.certificate()
        self._doors: Mapping[str, Mapping[str, str]] = {
            "intake": scram,
            "consistency": certificate,
            "scan": plain,
            "verdict": scram,
            "ledger": certificate,
        }
        self.environment.update(plain)  # what commands go by

    def launch(self, app: str, name: str | None = None, **settings: str) -> ManagedProcess:
        """Start an app at its door."""
        return super().launch(app, name, **self._doors[app], **settings)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    folder = tmp_path_factory.mktemp("secrets")
    folder.chmod(0o755)
    with SecuredKafka(kafka_image(), folder, NOW) as container:
        yield container


def test_verdict_comes_over_every_door(broker: SecuredKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SecuredPlatform(broker, tmp_path) as platform:
        for name, value in broker.password("SCRAM-SHA-512").items():
            monkeypatch.setenv(name, value)
        with platform.gate() as gate:
            question = clean(gate, uuid.uuid4().hex)
            question.check(gate.ask(question.request, wait_s=WAIT_S))
        platform.cli("doctor")  # fails where it can't look at the cluster


@pytest.mark.parametrize("door", ["password", "authority", "certificate"])
def test_who_is_not_known_is_not_answered(broker: SecuredKafka, tmp_path: Path, door: str) -> None:
    """Neither side takes the other on trust: not the broker a client, not a client the broker."""
    environment = broker.password("SCRAM-SHA-512")
    KafkaAdmin(Settings.read(environment).connection).topics(())
    if door == "password":
        environment["PRATIQUE_KAFKA_SASL_PASSWORD"] = uuid.uuid4().hex
    elif door == "authority":
        environment["PRATIQUE_KAFKA_SSL_CA_LOCATION"] = str(Authority(tmp_path, "another", NOW).certificate)
    else:
        environment = broker.certificate()
        del environment["PRATIQUE_KAFKA_SSL_CERTIFICATE_LOCATION"]
        del environment["PRATIQUE_KAFKA_SSL_KEY_LOCATION"]
    with pytest.raises(UnavailableError):
        KafkaAdmin(Settings.read(environment).connection, timeout_s=1.0).topics(())
