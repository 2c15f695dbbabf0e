"""Wrapped fingerprint secrets: unwrapped by cryptography's RSA interface, made by it or by OpenSSL's own tool."""

from __future__ import annotations

import base64
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from pratique.errors import ConfigurationError
from pratique.keyfiles import write_private_file
from streams.adapters import wrapped_keys
from streams.adapters.fingerprint_keys import KMS_VARIABLE, FingerprintKeyFiles, fingerprint_directory
from streams.adapters.wrapped_keys import wrap

SECRET = b"s" * 32
KEY = rsa.generate_private_key(65537, 2048)
PUBLIC = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
HERE = f"{__name__}:service"
ENVIRONMENT = {KMS_VARIABLE: HERE}


@dataclass
class Service:
    """A key management service: nothing of the key but ``decrypt`` can be asked for."""

    asked: list[int] = field(default_factory=list)
    fails: bool = False

    def decrypt(self, ciphertext: bytes, padding: Any) -> bytes:  # noqa: ANN401 - cryptography's own interface
        self.asked.append(len(ciphertext))
        if self.fails:
            raise RuntimeError("the service's words, which may quote the request")
        return KEY.decrypt(ciphertext, padding)


rsa.RSAPrivateKey.register(Service)
SERVICE = Service()


def service() -> Service:
    return SERVICE


def nothing() -> str:
    return "no key"


@pytest.fixture(autouse=True)
def _anew() -> None:
    SERVICE.asked.clear()
    SERVICE.fails = False


def write(directory: Path, name: str, content: bytes) -> Path:
    path = fingerprint_directory(directory) / name
    write_private_file(path, content)
    return path


def test_wrapped_secret_is_unwrapped_once(tmp_path: Path) -> None:
    write(tmp_path, "g2.wrapped", wrap("g2", SECRET, PUBLIC))
    write(tmp_path, "g1.key", base64.b64encode(b"1" * 32))
    keys = FingerprintKeyFiles(tmp_path, ENVIRONMENT)
    for _ in range(3):
        assert [(key.generation, key.secret) for key in keys.held()] == [("g1", b"1" * 32), ("g2", SECRET)]
    assert len(SERVICE.asked) == 1


def test_what_openssl_wrapped_is_unwrapped(tmp_path: Path) -> None:
    public = tmp_path / "public.pem"
    public.write_bytes(PUBLIC)
    command = ["openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", str(public)]
    for option in ("rsa_padding_mode:oaep", "rsa_oaep_md:sha256", "rsa_mgf1_md:sha256"):
        command += ["-pkeyopt", option]
    made = subprocess.run(command, input=b"g9\0" + SECRET, check=True, capture_output=True, timeout=30)
    write(tmp_path, "g9.wrapped", base64.b64encode(made.stdout) + b"\n")
    assert FingerprintKeyFiles(tmp_path, ENVIRONMENT).current().secret == SECRET


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (wrap("g1", SECRET, PUBLIC), "no secret of generation g2"),
        (wrap("g2", b"short", PUBLIC), "no secret of generation g2"),
        (base64.b64encode(b"x" * 256), "can't be unwrapped: ValueError"),
        (b"!", "no base64"),
        (b"", "no base64"),
        (b"RSA-OAEP", "no base64"),
        (b"RSA-OAEP RSA-OAEP-256 eHh4", "no base64"),
        (b"RSA1_5 eHh4", "not known here"),
        (b"RSA-OAEP " + wrap("g2", SECRET, PUBLIC), "can't be unwrapped: ValueError"),
    ],
    ids=[
        "another generation's",
        "short",
        "no ciphertext",
        "no base64",
        "nothing",
        "algorithm alone",
        "two algorithms",
        "unknown algorithm",
        "another algorithm",
    ],
)
def test_what_does_not_unwrap_to_this_generation_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    write(tmp_path, "g2.wrapped", content)
    with pytest.raises(ConfigurationError, match=problem):
        FingerprintKeyFiles(tmp_path, ENVIRONMENT).held()


def test_service_that_fails_is_told_of_without_its_words(tmp_path: Path) -> None:
    write(tmp_path, "g2.wrapped", wrap("g2", SECRET, PUBLIC))
    SERVICE.fails = True
    with pytest.raises(ConfigurationError, match="RuntimeError") as refusal:
        FingerprintKeyFiles(tmp_path, ENVIRONMENT).held()
    assert "quote" not in str(refusal.value)


@pytest.mark.parametrize("factory", ["", "nowhere:nothing", f"{__name__}:absent", f"{__name__}:nothing", "x"])
def test_without_a_service_nothing_is_unwrapped(tmp_path: Path, factory: str) -> None:
    write(tmp_path, "g2.wrapped", wrap("g2", SECRET, PUBLIC))
    with pytest.raises(ConfigurationError, match=KMS_VARIABLE):
        FingerprintKeyFiles(tmp_path, {KMS_VARIABLE: factory}).held()


def test_wrapped_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "g2.wrapped", wrap("g2", SECRET, PUBLIC)).chmod(0o640)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        FingerprintKeyFiles(tmp_path, ENVIRONMENT).held()


def test_generation_that_is_there_plain_and_wrapped_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "g2.wrapped", wrap("g2", SECRET, PUBLIC))
    write(tmp_path, "g2.key", base64.b64encode(SECRET))
    with pytest.raises(ConfigurationError, match="two keys"):
        FingerprintKeyFiles(tmp_path, ENVIRONMENT).held()


@pytest.mark.parametrize(
    "public",
    [
        b"",
        rsa.generate_private_key(65537, 1024)  # noqa: S505 - to be refused
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
    ],
)
def test_only_a_large_enough_rsa_key_wraps(public: bytes) -> None:
    with pytest.raises(ConfigurationError):
        wrap("g2", SECRET, public)
    with pytest.raises(ConfigurationError, match="too small"):
        wrap("g" * 128, b"s" * 64, PUBLIC)
    assert wrapped_keys.MIN_RSA_BITS == 2048
