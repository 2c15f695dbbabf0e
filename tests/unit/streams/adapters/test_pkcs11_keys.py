"""A key in a PKCS #11 token, by a vendor's library: named without doubt, not locked by retries, errors told plainly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pkcs11
import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from pratique.errors import ConfigurationError
from pratique.keyfiles import write_private_file
from streams.adapters.pkcs11_keys import TokenKey, TokenUri
from streams.adapters.wrapped_keys import WrapAlgorithm
from tests.fakes.softhsm import LABEL, PIN, SoftToken, soft_token

SETTING = "PRATIQUE_FINGERPRINT_KMS"
FILES = "module-path=/lib/p11.so&pin-source=/run/pin"
SHA1, SHA256 = WrapAlgorithm.RSA_OAEP.padding, WrapAlgorithm.RSA_OAEP_256.padding


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SoftToken, bytes]]:
    with soft_token(tmp_path_factory.mktemp("token")) as (token, public):
        token.add_key("twice", b"\x02")
        token.add_key("twice", b"\xff ;")
        yield token, public


@pytest.fixture
def token(made: tuple[SoftToken, bytes]) -> SoftToken:
    return made[0]


@pytest.fixture
def ciphertext(made: tuple[SoftToken, bytes]) -> bytes:
    key = load_pem_public_key(made[1])
    assert isinstance(key, RSAPublicKey)
    return key.encrypt(b"content", SHA1)


def key(uri: str) -> TokenKey:
    return TokenKey(uri, SETTING)


def test_uri_says_all_there_is(tmp_path: Path) -> None:
    uri = "pkcs11:token=My%20HSM%3B1;serial=a1;object=f%C3%BCr;id=%00%ff;type=private?pin-source=file:///run/a%20b&"
    assert TokenUri.parse(f"{uri}module-path={tmp_path}", SETTING) == TokenUri(
        tmp_path, Path("/run/a b"), "My HSM;1", "a1", "für", b"\0\xff"
    )


@pytest.mark.parametrize(
    "uri",
    [
        "pkcs11:",
        f"pkcs11:?{FILES}",
        f"pkcs11:token=t?{FILES}",
        f"pkcs11:object=o?{FILES}",
        "pkcs11:token=t;object=o",
        "pkcs11:token=t;object=o?module-path=/lib/p11.so",
        "pkcs11:token=t;object=o?module-path=p11.so&pin-source=/run/pin",
        "pkcs11:token=t;object=o?module-path=/lib/p11.so&pin-source=pin",
        f"pkcs11:token=t;object=o;token=u?{FILES}",
        f"pkcs11:token=t;object=o;type=public?{FILES}",
        f"pkcs11:token=t;object=o;slot-id=1?{FILES}",
        f"pkcs11:token=t;object?{FILES}",
        f"pkcs11:token=;object=o?{FILES}",
        f"pkcs11:token=%ff;object=o?{FILES}",
        f"pkcs11:token=t;object=o?{FILES}&pin-value=1234",
    ],
)
def test_uri_that_leaves_a_doubt_is_refused(uri: str) -> None:
    with pytest.raises(ConfigurationError, match=SETTING) as refusal:
        TokenUri.parse(uri, SETTING)
    assert "1234" not in str(refusal.value)


def test_key_is_named_by_label_or_id_and_its_token_by_label_or_serial(token: SoftToken, ciphertext: bytes) -> None:
    serial = pkcs11.lib(token.module).get_token(token_label=LABEL).serial.decode()
    for where in ("token=pratique", f"serial={serial}", f"token=pratique;serial={serial}"):
        for which in ("object=fingerprint", "id=%01", "object=fingerprint;id=%01"):
            assert key(token.named(f"{where};{which}")).decrypt(ciphertext, SHA1) == b"content"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("token=another;object=fingerprint", "no such token"),
        ("token=pratique;serial=0;object=fingerprint", "no such token"),
        ("token=pratique;object=another", "no private RSA key"),
        ("token=pratique;object=fingerprint;id=%02", "no private RSA key"),
        ("token=pratique;object=twice", "several private RSA keys"),
    ],
)
def test_key_that_is_not_there_or_not_the_only_one_is_said(
    token: SoftToken, ciphertext: bytes, path: str, said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        key(token.named(path)).decrypt(ciphertext, SHA1)


def test_library_that_does_not_load_is_said(token: SoftToken, ciphertext: bytes, tmp_path: Path) -> None:
    (tmp_path / "p11.so").write_bytes(b"no library")
    for module in ("p11.so", "none.so"):
        with pytest.raises(ConfigurationError, match="no PKCS #11 library"):
            key(replace(token, module=str(tmp_path / module)).uri).decrypt(ciphertext, SHA1)


def test_refused_pin_is_not_tried_again(token: SoftToken, ciphertext: bytes, tmp_path: Path) -> None:
    pin_file = tmp_path / "pin"
    write_private_file(pin_file, b"wrong-pin\n")
    refused = key(replace(token, pin_file=pin_file).uri)
    with pytest.raises(ConfigurationError, match="refuses the PIN"):
        refused.decrypt(ciphertext, SHA1)
    with token.opened() as session:
        session.set_pin(PIN, "wrong-pin")
    try:
        with pytest.raises(ConfigurationError, match="not tried again"):
            refused.decrypt(ciphertext, SHA1)
        assert key(replace(token, pin_file=pin_file).uri).decrypt(ciphertext, SHA1) == b"content"
    finally:
        with token.opened("wrong-pin") as session:
            session.set_pin("wrong-pin", PIN)
    pin_file.write_text(PIN, "utf-8")
    assert refused.decrypt(ciphertext, SHA1) == b"content"


def test_pin_file_that_others_can_read_is_refused(token: SoftToken, ciphertext: bytes, tmp_path: Path) -> None:
    pin_file = tmp_path / "pin"
    write_private_file(pin_file, PIN.encode())
    pin_file.chmod(0o640)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        key(replace(token, pin_file=pin_file).uri).decrypt(ciphertext, SHA1)


def test_only_oaep_is_asked_for(token: SoftToken, ciphertext: bytes) -> None:
    with pytest.raises(ConfigurationError, match="OAEP"):
        key(token.uri).decrypt(ciphertext, PKCS1v15())


def test_token_that_takes_no_sha_256_says_what_to_do(made: tuple[SoftToken, bytes]) -> None:
    token, public = made
    wrapped = load_pem_public_key(public)
    assert isinstance(wrapped, RSAPublicKey)
    try:
        assert key(token.uri).decrypt(wrapped.encrypt(b"content", SHA256), SHA256) == b"content"
    except ConfigurationError as error:
        assert "does not take OAEP with sha256: see --wrap-algorithm" in str(error)  # noqa: PT017 - SoftHSM 2.6 does not


def test_without_the_binding_it_says_how_to_install_it(token: SoftToken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pkcs11", None)
    with pytest.raises(ConfigurationError, match=r"python-pkcs11"):
        key(token.uri)
