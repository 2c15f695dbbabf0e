"""Certificates for tests: a CA that nothing else trusts, and what it issues for this machine."""

from __future__ import annotations

from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

LOOPBACK: Final = "127.0.0.1"
LIFE: Final = timedelta(days=1)
"""Certificates are good for so long before and after the moment they are made for."""


class Authority:
    """A CA.

    Attributes:
        certificate: Its certificate's file.
    """

    def __init__(self, folder: Path, name: str, now: datetime) -> None:
        self._now = now
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        self.certificate = folder / f"{name}.pem"
        issued = self._sign(self._name, self._key, [(x509.BasicConstraints(ca=True, path_length=0), True)])
        self.certificate.write_bytes(issued.public_bytes(Encoding.PEM))

    def issue(self, name: str) -> tuple[Path, Path]:
        """Return the files of a certificate for this machine and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        machine = x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK))])
        issued = self._sign(_named(name), key, [(machine, False)])
        certificate, key_file = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        certificate.write_bytes(issued.public_bytes(Encoding.PEM))
        key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return certificate, key_file

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extensions: list[tuple[x509.ExtensionType, bool]]
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - LIFE)
            .not_valid_after(self._now + LIFE)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self._key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
