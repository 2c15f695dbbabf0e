"""Files, environment, a key of OpenSSL's, and a PKCS #11 token do what the port says."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pratique.keyfiles import write_private_file
from streams.adapters.fingerprint_keys import (
    CURRENT,
    GENERATION_VARIABLE,
    KEYS_VARIABLE,
    KMS_VARIABLE,
    FingerprintKeyFiles,
    fingerprint_directory,
)
from streams.adapters.wrapped_keys import WrapAlgorithm, wrap
from streams.application.ports.quarantine import FingerprintKeys
from tests.contracts.fingerprint_keys import FingerprintKeysCases, Place
from tests.fakes.softhsm import SoftToken, soft_token

OPENSSL = rsa.generate_private_key(65537, 2048)
OPENSSL_PUBLIC = OPENSSL.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def openssl() -> rsa.RSAPrivateKey:
    return OPENSSL


@dataclass
class Files:
    """Plain files."""

    directory: Path
    environment: dict[str, str] = field(default_factory=dict)

    def source(self) -> FingerprintKeys:
        return FingerprintKeyFiles(self.directory, self.environment)

    def put(self, generation: str, secret: bytes) -> None:
        self._write(f"{generation}.key", base64.b64encode(secret))

    def state(self, generation: str) -> None:
        (fingerprint_directory(self.directory) / CURRENT).write_text(generation + "\n", "utf-8")

    def _write(self, name: str, content: bytes) -> None:
        write_private_file(fingerprint_directory(self.directory) / name, content)


class Environment(Files):
    """Environment variables alone."""

    def source(self) -> FingerprintKeys:
        return FingerprintKeyFiles(None, self.environment)

    def put(self, generation: str, secret: bytes) -> None:
        item = f"{generation}:{base64.b64encode(secret).decode()}"
        self.environment[KEYS_VARIABLE] = f"{self.environment.get(KEYS_VARIABLE, '')} {item}"

    def state(self, generation: str) -> None:
        self.environment[GENERATION_VARIABLE] = generation


@dataclass
class Wrapped(Files):
    """Files that somebody unwraps."""

    service: str = ""
    public: bytes = b""
    algorithm: WrapAlgorithm = WrapAlgorithm.RSA_OAEP_256

    def __post_init__(self) -> None:
        self.environment[KMS_VARIABLE] = self.service

    def put(self, generation: str, secret: bytes) -> None:
        self._write(f"{generation}.wrapped", wrap(generation, secret, self.public, self.algorithm))


@pytest.fixture(scope="module")
def token(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SoftToken, bytes]]:
    with soft_token(tmp_path_factory.mktemp("token")) as made:
        yield made


class TestFiles(FingerprintKeysCases):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return Files(tmp_path)


class TestEnvironment(FingerprintKeysCases):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        return Environment(tmp_path)


class TestWrappedForOpenSsl(FingerprintKeysCases):
    @pytest.fixture(params=list(WrapAlgorithm), ids=lambda algorithm: algorithm.value)
    def place(self, tmp_path: Path, request: pytest.FixtureRequest) -> Place:
        service = f"{__name__}:{openssl.__name__}"
        return Wrapped(tmp_path, service=service, public=OPENSSL_PUBLIC, algorithm=request.param)


class TestWrappedForToken(FingerprintKeysCases):
    @pytest.fixture
    def place(self, tmp_path: Path, token: tuple[SoftToken, bytes]) -> Place:
        named, public = token
        return Wrapped(tmp_path, service=named.uri, public=public, algorithm=WrapAlgorithm.RSA_OAEP)
