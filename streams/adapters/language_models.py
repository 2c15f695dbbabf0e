"""Where a language model's files are, and whether they are the ones that policy pins.

The contract: a model is a folder of data as spaCy writes it. It is found by path, or inside an installed package, whose
code is neither imported nor needed; it counts only where the digest over all its files is the pinned one. Whatever else
there is (nothing, another model, files that can't be read) is a ``ConfigurationError`` that says what to do.

Nothing is loaded here: reading the files takes some hundredths of a second, loading a model is the workers' part.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
from pathlib import Path
from typing import Final

from pratique.contract.canonical import JsonValue, canonical_sha256
from streams.domain.policy.language_models import LanguageModel
from streams.errors import ConfigurationError

SCHEMA_VERSION: Final = "pratique.language-model.v1"
CONFIG: Final = "config.cfg"
"""The file by which a folder is known to be a model."""

MAX_FILES: Final = 256


def verified_folder(model: LanguageModel) -> Path:
    """Return the folder of a model that is exactly the pinned one.

    Raises:
        ConfigurationError: It is not there, or another one is.
    """
    folder = located(model.package or model.path)
    found = files_sha256(folder)
    if found != model.sha256:
        raise ConfigurationError(
            f"the language model for {model.language} in {folder} is not the one that policy pins: install that one, or"
            f" have policy's `models` name this one by its digest {found}"
        )
    return folder


def located(place: str) -> Path:
    """Return the folder of a model.

    Args:
        place: An installed package's name, or an absolute path.

    Raises:
        ConfigurationError: There is none.
    """
    if place.startswith("/"):
        if (Path(place) / CONFIG).is_file():
            return Path(place)
        raise ConfigurationError(f"{place} holds no language model: put one there, or take it out of policy's `models`")
    # The finder of files, asked by name: ``importlib.util.find_spec`` would go by what was imported before.
    spec = importlib.machinery.PathFinder.find_spec(place)
    for parent in (spec.submodule_search_locations or ()) if spec else ():
        folders = [file.parent for file in sorted(Path(parent).glob(f"{place}-*/{CONFIG}"))]
        if len(folders) == 1:
            return folders[0]
    problem = "holds no language model" if spec else "is not installed"
    raise ConfigurationError(
        f"language model package {place} {problem}: install it wherever scan workers run, or take it out of policy's"
        " `models`"
    )


def files_sha256(folder: Path) -> str:
    """Return the digest of a model: of the names and digests of all the files in its folder.

    Raises:
        ConfigurationError: A file can't be read, or there are too many.
    """
    files: dict[str, JsonValue] = {}
    try:
        for path in sorted(folder.rglob("*")):
            if path.is_dir():
                continue
            if len(files) >= MAX_FILES:
                raise ConfigurationError(f"{folder} holds more than {MAX_FILES} files: that is no language model")
            with path.open("rb") as file:
                files[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ConfigurationError(f"a language model's file in {folder} can't be read: {error.strerror}") from None
    return canonical_sha256({"schema_version": SCHEMA_VERSION, "files": files})
