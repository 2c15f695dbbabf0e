"""Signatures cover topic and exact value, come with exactly one pair of headers, and never pass quietly."""

from __future__ import annotations

import hmac

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.signing import (
    MIN_MAC_KEY_BYTES,
    Ed25519Signer,
    Headers,
    MacSigner,
    Signature,
    signed_preimage,
    verify_ed25519,
    verify_mac,
)
from pratique.contract.topics import (
    COMPACTION_ACCEPTED,
    COMPACTION_QUARANTINED,
    HEADER_KEY_ID,
    HEADER_SIGNATURE,
)
from pratique.errors import ConfigurationError, SignatureInvalidError
from tests.vectors.generate_contract import ed25519_key, mac_key

TOPIC = COMPACTION_ACCEPTED
VALUE = b"\xc3\x01value\x00"
SIGNER = Ed25519Signer("test-gate", ed25519_key("test-gate"))
PUBLIC = SIGNER.private_key.public_key()
MAC = MacSigner("test-scan", mac_key("test-scan"))


def test_preimage_is_topic_zero_value() -> None:
    assert signed_preimage(TOPIC, VALUE) == b"compaction.accepted\x00" + VALUE


@given(st.binary(max_size=200))
def test_what_was_signed_verifies(value: bytes) -> None:
    verify_ed25519(PUBLIC, SIGNER.sign(TOPIC, value), TOPIC, value)
    verify_mac(MAC.secret, MAC.sign(TOPIC, value), TOPIC, value)


def test_signing_twice_gives_the_same_signature() -> None:
    assert SIGNER.sign(TOPIC, VALUE) == SIGNER.sign(TOPIC, VALUE)
    assert MAC.sign(TOPIC, VALUE) == MAC.sign(TOPIC, VALUE)


def test_value_that_was_moved_to_another_topic_does_not_verify() -> None:
    for moved in (COMPACTION_QUARANTINED, "", TOPIC + "\x00"):
        with pytest.raises(SignatureInvalidError):
            verify_ed25519(PUBLIC, SIGNER.sign(TOPIC, VALUE), moved, VALUE)
        with pytest.raises(SignatureInvalidError):
            verify_mac(MAC.secret, MAC.sign(TOPIC, VALUE), moved, VALUE)


def test_bytes_can_not_move_between_topic_and_value() -> None:
    with pytest.raises(SignatureInvalidError):
        verify_ed25519(PUBLIC, SIGNER.sign("a", b"bc"), "ab", b"c")
    with pytest.raises(SignatureInvalidError):
        verify_mac(MAC.secret, MAC.sign("a", b"bc"), "ab", b"c")


@pytest.mark.parametrize("index", range(len(VALUE)))
def test_any_altered_byte_of_the_value_does_not_verify(index: int) -> None:
    for bit in range(8):
        altered = bytearray(VALUE)
        altered[index] ^= 1 << bit
        with pytest.raises(SignatureInvalidError):
            verify_ed25519(PUBLIC, SIGNER.sign(TOPIC, VALUE), TOPIC, bytes(altered))
        with pytest.raises(SignatureInvalidError):
            verify_mac(MAC.secret, MAC.sign(TOPIC, VALUE), TOPIC, bytes(altered))


def test_any_altered_byte_of_the_signature_does_not_verify() -> None:
    for signer, length in ((SIGNER, 64), (MAC, 32)):
        genuine = signer.sign(TOPIC, VALUE)
        assert len(genuine.signature) == length
        for index in range(length):
            altered = bytearray(genuine.signature)
            altered[index] ^= 0x80
            signature = Signature(genuine.key_id, bytes(altered))
            with pytest.raises(SignatureInvalidError):
                verify_ed25519(PUBLIC, signature, TOPIC, VALUE)
            with pytest.raises(SignatureInvalidError):
                verify_mac(MAC.secret, signature, TOPIC, VALUE)


@pytest.mark.parametrize("length", [0, 1, 31, 33, 63, 65, 128])
def test_signature_of_another_length_does_not_verify(length: int) -> None:
    signature = Signature("test", b"\x01" * length)
    with pytest.raises(SignatureInvalidError):
        verify_ed25519(PUBLIC, signature, TOPIC, VALUE)
    with pytest.raises(SignatureInvalidError):
        verify_mac(MAC.secret, signature, TOPIC, VALUE)


def test_signature_under_another_key_does_not_verify() -> None:
    with pytest.raises(SignatureInvalidError):
        verify_ed25519(Ed25519PrivateKey.generate().public_key(), SIGNER.sign(TOPIC, VALUE), TOPIC, VALUE)
    with pytest.raises(SignatureInvalidError):
        verify_mac(mac_key("other"), MAC.sign(TOPIC, VALUE), TOPIC, VALUE)


def test_mac_is_hmac_sha256() -> None:
    assert MAC.sign(TOPIC, VALUE).signature == hmac.digest(MAC.secret, signed_preimage(TOPIC, VALUE), "sha256")


def test_ed25519_is_that_of_rfc_8032() -> None:
    # RFC 8032, section 7.1, TEST 3; the preimage of an empty topic and value is one zero byte, so sign it bare.
    seed = bytes.fromhex("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")
    key = Ed25519PrivateKey.from_private_bytes(seed)
    assert key.public_key().public_bytes_raw().hex() == (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
    )
    assert key.sign(bytes.fromhex("af82")).hex() == (
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    )


@pytest.mark.parametrize("length", [0, MIN_MAC_KEY_BYTES - 1])
def test_short_mac_key_is_refused(length: int) -> None:
    with pytest.raises(ConfigurationError):
        MacSigner("short", b"k" * length)
    MacSigner("long enough", b"k" * MIN_MAC_KEY_BYTES)


GENUINE = SIGNER.sign(TOPIC, VALUE).headers
KEY_ID, SIGNATURE = GENUINE


def test_headers_carry_the_signature() -> None:
    assert Signature.from_headers(GENUINE) == SIGNER.sign(TOPIC, VALUE)
    others = [("traceparent", b"00-x"), *reversed(GENUINE), ("pratique-other", b"")]
    assert Signature.from_headers(others) == SIGNER.sign(TOPIC, VALUE)


@pytest.mark.parametrize(
    "headers",
    [
        None,
        [],
        [KEY_ID],
        [SIGNATURE],
        [KEY_ID, KEY_ID, SIGNATURE],
        [KEY_ID, SIGNATURE, SIGNATURE],
        [KEY_ID, ("pratique-key-id", b"another"), SIGNATURE],
        [(HEADER_KEY_ID, b""), SIGNATURE],
        [KEY_ID, (HEADER_SIGNATURE, b"")],
        [(HEADER_KEY_ID, b"\xff"), SIGNATURE],
        [(HEADER_KEY_ID.upper(), KEY_ID[1]), SIGNATURE],
    ],
)
def test_headers_that_are_missing_repeated_or_no_text_are_refused(headers: Headers | None) -> None:
    with pytest.raises(SignatureInvalidError):
        Signature.from_headers(headers)
