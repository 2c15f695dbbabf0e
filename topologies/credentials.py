"""Faust's credentials from librdkafka's properties, so that consumers and producers are let in by the same settings.

The contract: what Faust's consumer can't do as librdkafka would is refused at start, never left out: a property that
one of the two ignores would be believed to hold. It opens no connection.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any, Final

import faust

from pratique.errors import ConfigurationError

MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_SSL", "SASL_PLAINTEXT")

_MECHANISM_NAMES: Final = ("sasl.mechanism", "sasl.mechanisms")
"""librdkafka's property, and its older name."""

_FILES: Final = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location")

_KNOWN: Final = frozenset(
    {
        "security.protocol",
        "sasl.username",
        "sasl.password",
        *_MECHANISM_NAMES,
        *_FILES,
        "ssl.key.password",
    }
)
_OF_SECURITY: Final = ("security.", "sasl.", "ssl.", "enable.ssl.", "enable.sasl.")


def faust_credentials(kafka: Mapping[str, str]) -> Any:  # noqa: ANN401 - Faust's credentials have no common type
    """Return what Faust's consumer shows a broker; null for an open one.

    Args:
        kafka: librdkafka's properties, by name.

    Raises:
        ConfigurationError: A protocol, mechanism or property that Faust's consumer does not know; or a file that is not
            there or holds no certificate or key.
    """
    unknown = sorted(name for name in kafka if name.startswith(_OF_SECURITY) and name not in _KNOWN)
    if unknown:
        raise ConfigurationError(
            f"{', '.join(map(_variable, unknown))}: the apps' consumers can't go by it; docs/guide/operator.md lists "
            "what a connection may be secured by"
        )
    protocol = kafka.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        raise ConfigurationError(f"{_variable('security.protocol')} {protocol} is none of {', '.join(PROTOCOLS)}")
    if protocol == "PLAINTEXT":
        return None
    if protocol == "SSL":
        return faust.SSLCredentials(_tls(kafka))
    return faust.SASLCredentials(
        username=kafka.get("sasl.username"),
        password=kafka.get("sasl.password"),
        mechanism=_mechanism(kafka),
        ssl_context=_tls(kafka) if protocol == "SASL_SSL" else None,
    )


def _mechanism(kafka: Mapping[str, str]) -> str:
    # librdkafka's own default is GSSAPI, which neither side of ours is built for: whoever says nothing is told.
    found = next((kafka[name] for name in _MECHANISM_NAMES if name in kafka), "")
    if found not in MECHANISMS:
        raise ConfigurationError(
            f"{_variable('sasl.mechanism')} is {found or 'not set'}, expected one of {', '.join(MECHANISMS)}"
        )
    return found


def _tls(kafka: Mapping[str, str]) -> ssl.SSLContext:
    certificate = kafka.get("ssl.certificate.location")
    try:
        context = ssl.create_default_context(cafile=kafka.get("ssl.ca.location"))
        if certificate is not None:
            # Without a password OpenSSL would ask for one at a terminal.
            context.load_cert_chain(certificate, kafka.get("ssl.key.location"), kafka.get("ssl.key.password", ""))
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(
            f"a certificate or key of the connection to Kafka can't be read ({error.__class__.__name__}): look at the "
            f"files that {', '.join(map(_variable, _FILES))} name, and at {_variable('ssl.key.password')}"
        ) from None
    return context


def _variable(name: str) -> str:
    return "PRATIQUE_KAFKA_" + name.replace(".", "_").upper()
