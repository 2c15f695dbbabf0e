"""The packaged numbers are those that the card names; anything else is refused before it is used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pratique.errors import ConfigurationError
from streams.adapters.injection.artifact import (
    CARD,
    DIRECTORY,
    MAX_BYTES,
    WEIGHTS,
    Array,
    read_artifact,
    write_artifact,
)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DIRECTORY, tmp_path / "artifact"))


def edited(place: Path, change: Callable[[dict[str, object]], object]) -> None:
    card = json.loads((place / CARD).read_text("utf-8"))
    change(card)
    (place / CARD).write_text(json.dumps(card), "utf-8")


def test_it_is_small_and_holds_numbers_alone() -> None:
    assert sum(path.stat().st_size for path in DIRECTORY.iterdir()) < 3 << 20
    assert {path.name for path in DIRECTORY.iterdir()} == {CARD, WEIGHTS}
    artifact = read_artifact()
    assert all(array.dtype.kind in "iu" and not array.dtype.hasobject for array in artifact.arrays.values())
    assert len(artifact.sha256) == 64


def test_it_reads_back_as_written(tmp_path: Path) -> None:
    arrays: dict[str, Array] = {
        "a": np.arange(5, dtype=np.int8),
        "b": np.array([[1, -2]], np.int32),
        "c": np.array([1 << 63], np.uint64),
    }
    artifact = write_artifact(tmp_path, {"name": "x"}, arrays)
    assert {name: array.tolist() for name, array in artifact.arrays.items()} == {
        name: array.tolist() for name, array in arrays.items()
    }
    assert artifact.card["name"] == "x"
    assert write_artifact(tmp_path, {"name": "y"}, arrays).sha256 != artifact.sha256


def test_a_changed_number_is_refused(copied: Path) -> None:
    raw = bytearray((copied / WEIGHTS).read_bytes())
    raw[len(raw) // 2] ^= 1
    (copied / WEIGHTS).write_bytes(raw)
    with pytest.raises(ConfigurationError, match="not those of its card"):
        read_artifact(copied)


def test_numbers_changed_together_with_the_card_are_another_model(copied: Path) -> None:
    edited(copied, lambda card: card.update(version="1.0"))
    assert read_artifact(copied).sha256 != read_artifact().sha256


@pytest.mark.parametrize(
    "change",
    [
        lambda card: card.update(schema_version="pratique.injection-model.v0"),
        lambda card: card.pop("sections"),
        lambda card: card.pop("weights_sha256"),
        lambda card: card["sections"]["word_weights"].update(dtype="O"),
        lambda card: card["sections"]["word_weights"].update(shape=[1 << 40]),
        lambda card: card["sections"]["word_weights"].update(shape=[-1]),
        lambda card: card["sections"]["word_weights"].update(offset=1 << 40),
        lambda card: card["sections"]["word_weights"].update(offset=-8),
        lambda card: card["sections"].update(word_weights=None),
    ],
)
def test_a_card_that_describes_something_else_is_refused(
    copied: Path, change: Callable[[dict[str, object]], object]
) -> None:
    edited(copied, change)
    with pytest.raises(ConfigurationError):
        read_artifact(copied)


@pytest.mark.parametrize("name", [CARD, WEIGHTS])
def test_a_missing_file_is_refused(copied: Path, name: str) -> None:
    (copied / name).unlink()
    with pytest.raises(ConfigurationError):
        read_artifact(copied)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "\ud800"])
def test_what_is_no_card_is_refused(copied: Path, text: str) -> None:
    (copied / CARD).write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigurationError):
        read_artifact(copied)


def test_too_many_numbers_are_refused(copied: Path) -> None:
    (copied / WEIGHTS).write_bytes(bytes(MAX_BYTES + 1))
    with pytest.raises(ConfigurationError, match="too large"):
        read_artifact(copied)
