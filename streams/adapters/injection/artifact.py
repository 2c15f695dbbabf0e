"""The model's artifact: a card that says what it is, and one file of plain numbers that the card pins by digest.

The contract: ``read_artifact`` gives the arrays that the card describes, or refuses. The file holds nothing but
little-endian numbers at stated offsets; reading it runs nothing. Its SHA-256 is in the card, the card's own digest is
in the scanner's manifest, and policy pins that: other numbers are another scanner.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pratique.contract.canonical import JsonValue, canonical_sha256
from pratique.errors import ConfigurationError

DIRECTORY: Final = Path(__file__).parent / "artifact"
CARD: Final = "card.json"
WEIGHTS: Final = "weights.bin"

CARD_SCHEMA: Final = "pratique.injection-model.v1"
MAX_BYTES: Final = 4 << 20

_DTYPES: Final = {
    "i1": np.int8,
    "i2": np.int16,
    "i4": np.int32,
    "i8": np.int64,
    "u1": np.uint8,
    "u4": np.uint32,
    "u8": np.uint64,
}

Array = npt.NDArray[Any]


class Artifact(NamedTuple):
    """A model as it is stored.

    Attributes:
        card: What it is: name, version, sources, calibration, sections of the file.
        arrays: The numbers, by the sections' names; read-only.
        sha256: Canonical digest of the card, which has that of the numbers.
    """

    card: Mapping[str, JsonValue]
    arrays: Mapping[str, Array]
    sha256: str


def read_artifact(directory: Path = DIRECTORY) -> Artifact:
    """Read a model.

    Args:
        directory: Where card and weights are.

    Raises:
        ConfigurationError: A file is missing or too large, or the numbers are not those of the card.
    """
    try:
        card = json.loads((directory / CARD).read_bytes())
        raw = (directory / WEIGHTS).read_bytes()
        if card["schema_version"] != CARD_SCHEMA or len(raw) > MAX_BYTES:
            raise ConfigurationError("injection model is of another schema or too large")
        if hashlib.sha256(raw).hexdigest() != card["weights_sha256"]:
            raise ConfigurationError("injection model's weights are not those of its card")
        arrays = {name: _section(raw, section) for name, section in card["sections"].items()}
        return Artifact(card, arrays, canonical_sha256(card))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ConfigurationError("injection model can't be read; install it anew") from error


def write_artifact(directory: Path, card: Mapping[str, JsonValue], arrays: Mapping[str, Array]) -> Artifact:
    """Write a model and read it back.

    Args:
        directory: Where to; it exists.
        card: What to say of it beside schema, digest and sections.
        arrays: The numbers.

    Raises:
        ConfigurationError: What was written does not read back.
    """
    raw = bytearray()
    sections: dict[str, JsonValue] = {}
    for name, array in arrays.items():
        kind = array.dtype.str[1:]
        raw += bytes(-len(raw) % 8)
        sections[name] = {"dtype": kind, "shape": list(array.shape), "offset": len(raw)}
        raw += array.astype(f"<{kind}").tobytes()
    body: dict[str, JsonValue] = {
        "schema_version": CARD_SCHEMA,
        "weights_sha256": hashlib.sha256(raw).hexdigest(),
        "sections": sections,
        **card,
    }
    (directory / WEIGHTS).write_bytes(raw)
    (directory / CARD).write_text(json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
    return read_artifact(directory)


def _section(raw: bytes, section: Mapping[str, Any]) -> Array:
    dtype = np.dtype(_DTYPES[section["dtype"]]).newbyteorder("<")
    shape = tuple(int(size) for size in section["shape"])
    if min(shape, default=-1) < 0:
        raise ValueError("a section has no shape")
    array = np.frombuffer(raw, dtype, math.prod(shape), int(section["offset"])).reshape(shape)
    return array.astype(array.dtype.newbyteorder("="), copy=False)
