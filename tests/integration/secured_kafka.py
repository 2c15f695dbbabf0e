"""Kafka that asks who is there: a listener with TLS and passwords, one with client certificates, beside the open one.

The contract: ``SecuredKafka`` is a ``KafkaContainer`` with two further addresses. ``scram``, ``plain`` and
``certificate`` are what a client of each kind has in its environment. Certificates are made anew for each container, by
a CA that nothing else trusts.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Final, Self

from confluent_kafka.admin import (  # type: ignore[attr-defined] # re-exported without saying so
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from infra.stack.broker import LOOPBACK, free_ports
from infra.stack.kafka_settings import variable
from tests.fakes.certificates import Authority
from tests.integration.kafka_container import SHORT_SESSION_MS, KafkaContainer
from tests.integration.raw import WAIT_S

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PASSWORD_PORT: Final = 9095
CERTIFICATE_PORT: Final = 9096
FOLDER: Final = "/etc/kafka/secrets"
USER: Final = "pratique"

_JAAS: Final = "org.apache.kafka.common.security.{module} required {options};"


class SecuredKafka(KafkaContainer):
    """One broker with an open, a password and a certificate listener."""

    def __init__(self, image: str, folder: Path, now: datetime) -> None:
        """Make certificates and choose ports; nothing is started.

        Args:
            image: As for ``KafkaContainer``.
            folder: Where the certificates go.
            now: They are good for a day before and after it.
        """
        self._password = uuid.uuid4().hex
        self._authority = Authority(folder, "authority", now)
        self._client = self._authority.issue("client")
        broker = [item.read_text("ascii") for item in self._authority.issue("broker")]
        store = folder / "broker.pem"
        store.write_text("".join(reversed(broker)), "ascii")
        store.chmod(0o644)  # for the container's own user
        passwords, certificates = free_ports(2)
        self._passwords = f"{LOOPBACK}:{passwords}"
        self._certificates = f"{LOOPBACK}:{certificates}"
        super().__init__(image, settings={"KAFKA_GROUP_MIN_SESSION_TIMEOUT_MS": str(SHORT_SESSION_MS)})
        self.env |= self._secured(self.env)
        self.with_volume_mapping(str(folder), FOLDER, "ro")
        for inside, outside in ((PASSWORD_PORT, passwords), (CERTIFICATE_PORT, certificates)):
            self.ports[f"{inside}/tcp"] = (LOOPBACK, outside)  # type: ignore[assignment] # as in KafkaContainer

    def _secured(self, own: Mapping[str, str]) -> dict[str, str]:
        plain = _JAAS.format(
            module="plain.PlainLoginModule",
            options=f'username="broker" password="{self._password}" user_{USER}="{self._password}"',
        )
        settings = {
            "listener.name.passwords.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            "listener.name.passwords.plain.sasl.jaas.config": plain,
            "listener.name.passwords.scram-sha-512.sasl.jaas.config": _JAAS.format(
                module="scram.ScramLoginModule", options=""
            ),
            "listener.name.certificates.ssl.client.auth": "required",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": f"{FOLDER}/broker.pem",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": f"{FOLDER}/{self._authority.certificate.name}",
        }
        added = {
            "listener.security.protocol.map": "PASSWORDS:SASL_SSL,CERTIFICATES:SSL",
            "listeners": f"PASSWORDS://0.0.0.0:{PASSWORD_PORT},CERTIFICATES://0.0.0.0:{CERTIFICATE_PORT}",
            "advertised.listeners": f"PASSWORDS://{self._passwords},CERTIFICATES://{self._certificates}",
        }
        return {
            **{variable(name): value for name, value in settings.items()},
            **{variable(name): f"{own[variable(name)]},{value}" for name, value in added.items()},
        }

    def start(self) -> Self:
        """Start, and let the user in by SCRAM as well."""
        super().start()
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
        asked: list[UserScramCredentialAlteration] = [UserScramCredentialUpsertion(USER, info, self._password.encode())]
        for future in admin.alter_user_scram_credentials(asked).values():
            future.result(WAIT_S)
        return self

    def password(self, mechanism: str) -> dict[str, str]:
        """Return the environment of a client with a password."""
        return {
            "PRATIQUE_BOOTSTRAP": self._passwords,
            "PRATIQUE_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
            "PRATIQUE_KAFKA_SASL_MECHANISM": mechanism,
            "PRATIQUE_KAFKA_SASL_USERNAME": USER,
            "PRATIQUE_KAFKA_SASL_PASSWORD": self._password,
            "PRATIQUE_KAFKA_SSL_CA_LOCATION": str(self._authority.certificate),
        }

    def certificate(self) -> dict[str, str]:
        """Return the environment of a client with a certificate."""
        certificate, key = self._client
        return {
            "PRATIQUE_BOOTSTRAP": self._certificates,
            "PRATIQUE_KAFKA_SECURITY_PROTOCOL": "SSL",
            "PRATIQUE_KAFKA_SSL_CA_LOCATION": str(self._authority.certificate),
            "PRATIQUE_KAFKA_SSL_CERTIFICATE_LOCATION": str(certificate),
            "PRATIQUE_KAFKA_SSL_KEY_LOCATION": str(key),
        }
