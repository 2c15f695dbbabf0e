"""DSSE envelopes (Dead Simple Signing Envelope, protocol v1) with Ed25519, read strictly.

The contract: an envelope is JSON with exactly ``payload``, ``payloadType`` and ``signatures``; base64 is the standard,
padded, canonical form; what is signed is the pre-authentication encoding of type and payload. Opening needs one
signature by a key that the trust target authorises; further signatures by unknown keys are no reason to refuse, so
that a rotation can sign with the old and the new key.

What the payload says is the caller's to judge, after it is opened.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidSignature

from pratique.contract.canonical import canonical_bytes, parse_json
from pratique.contract.document import Fields, strict_base64
from pratique.contract.signing import Ed25519Signer
from pratique.contract.trust import TrustedKey
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError

COMMITMENTS_TYPE: Final = "application/vnd.pratique.commitments.v1+json"

MAX_ENVELOPE_BYTES: Final = 512 * 1024
MAX_SIGNATURES: Final = 4
ED25519_SIGNATURE_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class SignedPayload:
    """A payload that one authorised key has signed."""

    payload: bytes
    key_id: str


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """Return the bytes that DSSE signs: ``DSSEv1``, and type and payload each after its length in bytes."""
    encoded_type = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(encoded_type), encoded_type, len(payload), payload)


def seal(payload_type: str, payload: bytes, *signers: Ed25519Signer) -> bytes:
    """Return an envelope over a payload, signed by every signer, as canonical JSON."""
    preimage = pre_authentication_encoding(payload_type, payload)
    return canonical_bytes(
        {
            "payload": base64.b64encode(payload).decode("ascii"),
            "payloadType": payload_type,
            "signatures": [
                {
                    "keyid": signer.key_id,
                    "sig": base64.b64encode(signer.private_key.sign(preimage)).decode("ascii"),
                }
                for signer in signers
            ],
        }
    )


def open_envelope(envelope: bytes, payload_type: str, authorise: Callable[[str], TrustedKey]) -> SignedPayload:
    """Return the payload that an authorised key has signed.

    Args:
        envelope: The envelope's JSON in UTF-8.
        payload_type: The only payload type accepted.
        authorise: Returns the key of an id, or raises ``SignerNotAuthorisedError``.

    Raises:
        SignatureInvalidError: It is no envelope, is of another type, or an authorised key's signature does not verify.
        SignerNotAuthorisedError: No signature is by an authorised key; the message is that of the first.
    """
    payload, signatures = _parse(envelope, payload_type)
    preimage = pre_authentication_encoding(payload_type, payload)
    refusal: SignerNotAuthorisedError | None = None
    for key_id, signature in signatures:
        try:
            key = authorise(key_id)
        except SignerNotAuthorisedError as error:
            refusal = refusal or error
            continue
        try:
            key.public_key.verify(signature, preimage)
        except InvalidSignature:
            raise SignatureInvalidError(f"envelope's signature by key {key.key_id} does not verify") from None
        return SignedPayload(payload, key.key_id)
    raise refusal or SignerNotAuthorisedError("envelope has no signature")


def _parse(envelope: bytes, payload_type: str) -> tuple[bytes, list[tuple[str, bytes]]]:
    try:
        value = parse_json(envelope, max_bytes=MAX_ENVELOPE_BYTES, max_depth=8)
    except MalformedError as error:
        raise SignatureInvalidError(f"envelope can't be read: {error}") from None
    fields = Fields(value, "envelope", ("payload", "payloadType", "signatures"), SignatureInvalidError)
    fields.literal("payloadType", payload_type)
    payload = strict_base64(fields.text("payload", max_characters=MAX_ENVELOPE_BYTES))
    if payload is None:
        raise fields.refusal("payload", "is not in standard base64")
    signatures = [
        (item.text("keyid", max_characters=128), item.base64("sig", length=ED25519_SIGNATURE_BYTES))
        for item in fields.records("signatures", ("keyid", "sig"), minimum=1, maximum=MAX_SIGNATURES)
    ]
    if len({key_id for key_id, _ in signatures}) != len(signatures):
        raise fields.refusal("signatures", "hold a key id twice")
    return payload, signatures
