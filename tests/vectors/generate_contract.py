"""Makes the golden vectors of the published language.

``python -m tests.vectors.generate_contract`` writes ``contract.json``; a test holds the committed file to it byte for
byte. A difference means that bytes on the wire, a digest or a signature changed, which the published language may not.
``--release`` also takes today's schemas over as released; a schema is only ever added to that folder.

The signing keys are made from names and secret to nobody.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique.contract.avro import encode, fingerprints, released_schemas, schema_directory
from pratique.contract.canonical import JsonValue, canonical_json
from pratique.contract.signing import Ed25519Signer, MacSigner
from pratique.contract.topics import COMPACTION_ACCEPTED, COMPACTION_REQUESTED, EVIDENCE
from tests.vectors.contract_samples import RECORDS
from tests.vectors.digest_table import DIGESTS, Form

HERE: Final = Path(__file__).parent
VECTORS: Final = HERE / "contract.json"
RELEASED: Final = released_schemas()

CANONICAL: Final[tuple[tuple[str, JsonValue], ...]] = (
    ("sorted keys, no blanks", {"b": 1, "a": [True, False, None]}),
    ("no ASCII escaping", "ü 🙂 \u2028"),
    ("JSON's own escapes", 'quote " backslash \\ slash / control \n \t \x01 delete \x7f'),
    ("keys sort by code point, not by UTF-16 unit", {"\ufffd": 1, "\U00010000": 2, "z": 3, "Z": 4}),
    ("integers are exact", 2**63 + 1),
    ("floats are the shortest that read back", [0.1, 1e22, 1.0, -0.0, 1e-7]),
    ("empty", {"a": {}, "b": [], "c": ""}),
)


def ed25519_key(name: str) -> Ed25519PrivateKey:
    """Return the test key of a name."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


def mac_key(name: str) -> bytes:
    """Return the test MAC key of a name."""
    return hashlib.sha256(name.encode()).digest()


def build() -> dict[str, JsonValue]:
    """Return all vectors."""
    values = {name: encode(record) for name, record in RECORDS.items()}
    signed = (
        (COMPACTION_REQUESTED, "test-publisher", "CompactionRequested"),
        (COMPACTION_ACCEPTED, "test-gate", "Verdict"),
    )
    signatures: list[JsonValue] = []
    for topic, key_id, record in signed:
        key = ed25519_key(key_id)
        signature = Ed25519Signer(key_id, key).sign(topic, values[record])
        public = base64.b64encode(key.public_key().public_bytes_raw()).decode()
        signatures.append(_signature("ed25519", topic, record, key_id, signature.signature) | {"public": public})
    mac = MacSigner("test-scan", mac_key("test-scan")).sign(EVIDENCE, values["Evidence SCAN"])
    signatures.append(_signature("hmac-sha256", EVIDENCE, "Evidence SCAN", mac.key_id, mac.signature))
    return {
        "fingerprints": dict(fingerprints()),
        "records": {name: value.hex() for name, value in values.items()},
        "canonical_json": [
            {"what": what, "ascii": json.dumps(value), "canonical": canonical_json(value)} for what, value in CANONICAL
        ],
        "digests": [
            {
                "name": row.name,
                "form": row.form.name,
                "preimage": row.example.hex() if row.form is Form.BYTES else row.example.decode(),
                "digest": row.value,
            }
            for row in DIGESTS
        ],
        "signatures": signatures,
    }


def _signature(algorithm: str, topic: str, record: str, key_id: str, signature: bytes) -> dict[str, JsonValue]:
    return {
        "algorithm": algorithm,
        "topic": topic,
        "record": record,
        "key_id": key_id,
        "signature": base64.b64encode(signature).decode(),
    }


def render() -> str:
    """Return the file's text."""
    return json.dumps(build(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def release() -> None:
    """Take today's schemas over as released, beside those of before."""
    for source in sorted(schema_directory().glob("*.avsc")):
        text = source.read_text(encoding="utf-8")
        known = [path.read_text(encoding="utf-8") for path in RELEASED.glob(f"{source.stem}.v*.avsc")]
        if text not in known:
            (RELEASED / f"{source.stem}.v{len(known) + 1}.avsc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    VECTORS.write_text(render(), encoding="utf-8")
    if "--release" in sys.argv[1:]:
        RELEASED.mkdir(exist_ok=True)
        release()
