"""How a policy repository's bytes are obtained: from a directory, or over http(s).

The contract: python-tuf's ``FetcherInterface``. *Not there* is ``DownloadHTTPError`` with 404; *out of reach* is any
other ``DownloadError``; nothing else leaves these classes. A URL here is a path below the repository, since python-tuf
only ever appends to the base it was given.

Nothing here is trusted: python-tuf verifies every byte that comes out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from tuf.api.exceptions import DownloadError, DownloadHTTPError
from tuf.ngclient import FetcherInterface
from tuf.ngclient.urllib3_fetcher import Urllib3Fetcher

NOT_FOUND: Final = 404
CHUNK_BYTES: Final = 256 * 1024
HTTP_TIMEOUT_S: Final = 3
"""Longest wait for a connection and between two pieces of a response, in seconds; python-tuf tries four times."""

_TOP_LEVEL: Final = re.compile(r"metadata/(?:[0-9]+\.)?(root|timestamp|snapshot|targets)\.json")


class DirectoryFetcher(FetcherInterface):
    """Reads a repository in a local directory (or one mounted as such).

    Args:
        directory: The repository, with ``metadata`` and ``targets`` in it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def _fetch(self, url: str) -> Iterator[bytes]:
        relative = PurePosixPath(url)
        if relative.is_absolute() or ".." in relative.parts:
            raise DownloadError("path leads out of the policy repository")
        if not self._directory.is_dir():
            raise DownloadError(f"policy repository {self._directory} is not there")
        return self._pieces(self._directory / relative, _piece(self._directory / relative, 0))

    @staticmethod
    def _pieces(path: Path, first: bytes) -> Iterator[bytes]:
        """Yield a file piece by piece: whoever reads stops at the length it expects, however long the file is.

        It is open for each piece alone, since whoever stops never says so.
        """
        piece, offset = first, 0
        while piece:
            yield piece
            offset += len(piece)
            piece = _piece(path, offset) if len(piece) == CHUNK_BYTES else b""


class HttpFetcher(FetcherInterface):
    """Reads a repository over http(s) with python-tuf's own fetcher, its stray errors translated.

    Args:
        base_url: The repository's URL.
    """

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url.rstrip("/") + "/"
        self._inner = Urllib3Fetcher(socket_timeout=HTTP_TIMEOUT_S, app_user_agent="pratique")

    def _fetch(self, url: str) -> Iterator[bytes]:
        return self._translated(self._inner.fetch(self._base_url + url))

    @staticmethod
    def _translated(chunks: Iterator[bytes]) -> Iterator[bytes]:
        try:
            yield from chunks
        except DownloadError:
            raise
        except Exception as error:  # python-tuf translates what opening a connection raises, not what reading does
            raise DownloadError(f"download broke off: {type(error).__name__}") from error


class CacheFetcher(FetcherInterface):
    """Plays back the top-level metadata that was verified before, for when there is no newer that can be had.

    python-tuf has no way to start from its cache alone: it always asks for a newer root and the newest timestamp. This
    answers "there is none" to the first, and to the rest of the top level with the copy that python-tuf itself keeps,
    so that what has expired is refused as expired and not as missing.

    Args:
        metadata_directory: The copies of the top level that are played back.
        beyond: Where delegated roles and targets are fetched, which verify or not by the metadata played back; null
            where the repository is out of reach.
    """

    def __init__(self, metadata_directory: Path, beyond: FetcherInterface | None) -> None:
        self._directory = metadata_directory
        self._beyond = beyond

    def _fetch(self, url: str) -> Iterator[bytes]:
        played_back = _TOP_LEVEL.fullmatch(url)
        if played_back is None:
            if self._beyond is None:
                raise DownloadError("the policy repository is out of reach")
            return self._beyond.fetch(url)
        if played_back[1] == "root":
            raise DownloadHTTPError("no newer root in the cache", NOT_FOUND)
        try:
            return iter((self._directory.joinpath(f"{played_back[1]}.json").read_bytes(),))
        except OSError:
            raise DownloadError(f"no {played_back[1]} in the cache") from None


def _piece(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(CHUNK_BYTES)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise DownloadHTTPError(f"{path.name} is not in the policy repository", NOT_FOUND) from None
    except OSError as error:
        raise DownloadError(f"{path.name} can't be read: {error.strerror}") from None


def fetcher_for(repository: str) -> FetcherInterface:
    """Return the fetcher for a repository given as a directory or an http(s) URL."""
    if repository.startswith(("http://", "https://")):
        return HttpFetcher(repository)
    return DirectoryFetcher(Path(repository))
