"""A language model's files: found without importing anything, and only exactly the pinned ones count."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import srsly

from streams.adapters import language_models
from streams.adapters.language_models import files_sha256, located, verified_folder
from streams.domain.policy.language_models import LanguageModel
from streams.errors import ConfigurationError
from tests.fakes.language_model import ENGLISH, PACKAGE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What looks like a model."""
    made = tmp_path / "model"
    (made / "ner").mkdir(parents=True)
    (made / "config.cfg").write_text("[nlp]\n", encoding="utf-8")
    (made / "ner" / "model").write_bytes(b"\x00\x01")
    return made


def at(folder: Path) -> LanguageModel:
    return replace(ENGLISH, package="", path=str(folder), sha256=files_sha256(folder))


def test_the_installed_package_is_the_pinned_one_and_is_not_imported() -> None:
    found = verified_folder(ENGLISH)
    assert (found / "config.cfg").is_file()
    assert PACKAGE not in sys.modules


def form_of(path: Path) -> str:
    """Return what a file is, read to its end; raise if it is nothing that is read without running anything."""
    content = path.read_bytes()
    if content.startswith(b"\x93NUMPY"):
        np.load(path, allow_pickle=False)
        return "array"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        srsly.msgpack_loads(content)
        return "msgpack"
    return "text"


def test_a_package_of_data_holds_data_alone() -> None:
    """What was looked at before it was used: no code, no pickles, nothing that a config could call but spaCy's own."""
    found = located(PACKAGE)
    assert {form_of(path) for path in found.rglob("*") if path.is_file()} == {"text", "msgpack", "array"}
    names = {path.relative_to(found).as_posix() for path in found.rglob("*") if path.is_file()}
    assert not [name for name in names if name.endswith((".py", ".pyc", ".so", ".pkl", ".pickle"))]
    config = (found / "config.cfg").read_text(encoding="utf-8")
    registries = {line.split("=")[0].strip() for line in config.splitlines() if line.startswith("@")}
    assert registries <= {"@architectures", "@readers", "@batchers", "@schedules", "@loggers", "@optimizers", "@misc"}
    callables = [line.split("=")[1].strip(' "') for line in config.splitlines() if line.startswith("@")]
    assert [name for name in callables if not name.startswith("spacy.")] == ["compounding.v1", "Adam.v1"]
    assert "before_creation = null" in config


def test_the_very_files_at_a_path_count(folder: Path) -> None:
    assert verified_folder(at(folder)) == folder


def test_any_other_file_is_another_model(folder: Path) -> None:
    pinned = at(folder)
    changes: list[Callable[[Path], object]] = [
        lambda copy: (copy / "ner" / "model").write_bytes(b"\x00\x02"),
        lambda copy: (copy / "ner" / "model").rename(copy / "ner" / "other"),
        lambda copy: (copy / "ner" / "model").unlink(),
        lambda copy: (copy / "hook.py").write_text("", encoding="utf-8"),
    ]
    variants = [shutil.copytree(folder, folder.parent / f"copy-{number}") for number in range(len(changes))]
    for change, copy in zip(changes, variants, strict=True):
        change(copy)
    assert len({files_sha256(copy) for copy in [folder, *variants]}) == len(variants) + 1
    for copy in variants:
        with pytest.raises(ConfigurationError, match=rf"not the one that policy pins.*{files_sha256(copy)}"):
            verified_folder(replace(pinned, path=str(copy)))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"package": "no_such_language_model"}, "is not installed: install it"),
        ({"package": "json"}, "holds no language model"),
        ({"package": "sys"}, "is not installed"),
        ({"package": "", "path": "/no/such/folder"}, "holds no language model"),
    ],
)
def test_a_model_that_is_not_there_is_an_error_with_the_next_step(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        verified_folder(replace(ENGLISH, **changes))  # type: ignore[arg-type] # a package or a path


def test_a_folder_without_end_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_models, "MAX_FILES", 1)
    with pytest.raises(ConfigurationError, match="more than 1 files"):
        files_sha256(folder)
