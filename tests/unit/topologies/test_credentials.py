"""What Faust is told of a secured Kafka; that it is let in is shown in tests/integration/test_secured_kafka.py."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from pratique.errors import ConfigurationError
from tests.fakes.certificates import Authority
from topologies.credentials import faust_credentials

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PASSWORDS = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "u", "sasl.password": "1234"}


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "plaintext"])
def test_open_connection_has_no_credentials(protocol: str) -> None:
    assert faust_credentials({"security.protocol": protocol}) is None
    assert faust_credentials({"linger.ms": "5"}) is None


@pytest.mark.parametrize("name", ["sasl.mechanism", "sasl.mechanisms"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_password_is_passed_on_and_never_shown(name: str, mechanism: str) -> None:
    found = faust_credentials({**PASSWORDS, name: mechanism})
    assert (found.username, found.password, found.mechanism.value) == ("u", "1234", mechanism)
    assert "1234" not in repr(found)


@pytest.mark.parametrize("mechanism", [{}, {"sasl.mechanism": "GSSAPI"}, {"sasl.mechanisms": "OAUTHBEARER"}])
def test_mechanism_that_is_not_built_in_is_refused(mechanism: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=r"PRATIQUE_KAFKA_SASL_MECHANISM is .*PLAIN, SCRAM"):
        faust_credentials({**PASSWORDS, **mechanism})


def test_unknown_protocol_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="TELNET"):
        faust_credentials({"security.protocol": "TELNET"})


@pytest.mark.parametrize(
    "name", ["ssl.keystore.location", "ssl.ca.pem", "enable.ssl.certificate.verification", "sasl.oauthbearer.config"]
)
def test_property_that_only_librdkafka_would_go_by_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"PRATIQUE_KAFKA_{name.replace('.', '_').upper()}:"):
        faust_credentials({"security.protocol": "SSL", name: "value"})


class TestFiles:
    @pytest.fixture
    def kafka(self, tmp_path: Path) -> dict[str, str]:
        authority = Authority(tmp_path, "authority", NOW)
        certificate, key = authority.issue("client")
        return {
            "security.protocol": "SSL",
            "ssl.ca.location": str(authority.certificate),
            "ssl.certificate.location": str(certificate),
            "ssl.key.location": str(key),
        }

    def test_certificates_are_loaded(self, kafka: dict[str, str]) -> None:
        assert faust_credentials(kafka).context.cert_store_stats()["x509_ca"] == 1

    def test_key_under_a_password_is_opened_by_it_alone(self, kafka: dict[str, str], tmp_path: Path) -> None:
        plain = load_pem_private_key((tmp_path / "client.key").read_bytes(), None)
        locked = plain.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"word"))
        (tmp_path / "client.key").write_bytes(locked)
        faust_credentials({**kafka, "ssl.key.password": "word"})
        for wrong in ({}, {"ssl.key.password": "other"}):  # nobody is asked at a terminal
            with pytest.raises(ConfigurationError, match="PRATIQUE_KAFKA_SSL_KEY_PASSWORD"):
                faust_credentials({**kafka, **wrong})

    @pytest.mark.parametrize("name", ["ssl.ca.location", "ssl.certificate.location", "ssl.key.location"])
    @pytest.mark.parametrize("content", [None, b"", b"no certificate"])
    def test_file_that_holds_nothing_is_named(
        self, kafka: dict[str, str], tmp_path: Path, name: str, content: bytes | None
    ) -> None:
        file = tmp_path / "file"
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(ConfigurationError, match=name.replace(".", "_").upper()):
            faust_credentials({**kafka, name: str(file)})
