from __future__ import annotations

import json

import pytest
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, Signature, SSlibKey

from pratique.contract.canonical import canonical_bytes
from pratique.contract.dsse import open_envelope, pre_authentication_encoding, seal
from pratique.contract.trust import KeyRole, TrustedKey
from pratique.errors import SignatureInvalidError, SignerNotAuthorisedError
from tests.unit.sdk.builders import signer, trusted

TYPE = "http://example.com/HelloWorld"
KEY = signer("dsse-1")
SECOND = signer("dsse-2")


def authorise(key_id: str) -> TrustedKey:
    if key_id != KEY.key_id:
        raise SignerNotAuthorisedError("no such key")
    return trusted(KEY, KeyRole.SERVICE)


def test_the_encoding_is_the_specifications_example() -> None:
    # github.com/secure-systems-lab/dsse, protocol.md, "Test Vectors"
    assert (
        pre_authentication_encoding(TYPE, b"hello world") == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_lengths_are_in_bytes() -> None:
    assert pre_authentication_encoding("é", "ü".encode()) == "DSSEv1 2 é 2 ü".encode()


def test_what_is_sealed_opens() -> None:
    opened = open_envelope(seal(TYPE, b"\x00\xff", KEY), TYPE, authorise)
    assert (opened.payload, opened.key_id) == (b"\x00\xff", KEY.key_id)


def test_securesystemslib_verifies_what_is_sealed() -> None:
    envelope = Envelope.from_dict(json.loads(seal(TYPE, b"hello", KEY)))
    public = SSlibKey.from_crypto(KEY.private_key.public_key(), KEY.key_id)
    assert envelope.verify([public], 1) == {KEY.key_id: public}


def test_what_securesystemslib_signs_opens() -> None:
    envelope = Envelope(b"hello", TYPE, {})
    signature = CryptoSigner(KEY.private_key).sign(envelope.pae())
    envelope.signatures[KEY.key_id] = Signature(KEY.key_id, signature.signature)
    assert open_envelope(canonical_bytes(envelope.to_dict()), TYPE, authorise).payload == b"hello"


def test_a_signature_by_a_key_of_no_account_is_passed_over() -> None:
    assert open_envelope(seal(TYPE, b"x", SECOND, KEY), TYPE, authorise).key_id == KEY.key_id


def test_signatures_by_unknown_keys_alone_are_refused() -> None:
    with pytest.raises(SignerNotAuthorisedError, match="no such key"):
        open_envelope(seal(TYPE, b"x", SECOND), TYPE, authorise)


def test_a_wrong_signature_by_a_known_key_is_refused_whatever_stands_beside_it() -> None:
    envelope = json.loads(seal(TYPE, b"x", KEY))
    envelope["signatures"][0]["sig"] = json.loads(seal(TYPE, b"y", KEY))["signatures"][0]["sig"]
    with pytest.raises(SignatureInvalidError):
        open_envelope(canonical_bytes(envelope), TYPE, authorise)
