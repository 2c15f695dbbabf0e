"""Lists that people and tools keep beside their work: checksums, lock files, logs of commits, tables of identifiers.

The contract: ``a_list`` makes one of about so many lines, the same each time. None of them holds a secret.
"""

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import Callable
from typing import Final

_LETTERS: Final = "ABCDEFGHJKMNPQRSTVWXYZ0123456789"


def a_list(name: str, lines: int) -> str:
    """Return a list.

    Args:
        name: Which one, of ``LISTS``.
        lines: How many lines it has, about.
    """
    height, end, row = LISTS[name]
    chance = seeded(f"{name}:{lines}")
    return end.join(row(chance, number) for number in range(1, 1 + max(2, lines // height)))


def seeded(seed: int | str) -> random.Random:
    """Return chance that is the same each time."""
    return random.Random(seed)  # noqa: S311 - texts are made of it, no keys


def _hex(chance: random.Random, size: int) -> str:
    return chance.randbytes(size).hex()


def _b64(chance: random.Random, size: int) -> str:
    return base64.b64encode(chance.randbytes(size)).decode()


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _sums(size: int) -> Callable[[random.Random, int], str]:
    return lambda chance, number: f"{_hex(chance, size)}  usr/share/doc/pkg{number}/README.md"


def _sources(size: int) -> Callable[[random.Random, int], str]:
    return lambda chance, number: f"{_hex(chance, size)}  src/mod{number}/file_{number}.py"


LISTS: Final[dict[str, tuple[int, str, Callable[[random.Random, int], str]]]] = {
    "md5sum": (1, "\n", _sums(16)),
    "md5sum of code": (1, "\n", _sources(16)),
    "md5sum, carriage returns": (1, "\r\n", _sums(16)),
    "sha1sum": (1, "\n", _sums(20)),
    "sha1sum of code": (1, "\n", _sources(20)),
    "sha256sum": (1, "\n", _sums(32)),
    "sha256sum of archives": (1, "\n", lambda c, n: f"{_hex(c, 32)} *release-{n}.{n % 7}.tar.gz"),
    "sha512sum": (1, "\n", _sums(64)),
    "sums behind names": (1, "\n", lambda c, n: f"usr/lib/mod{n}.so: {_hex(c, 16)}"),
    "git ls-tree": (1, "\n", lambda c, n: f"100644 blob {_hex(c, 20)}\tsrc/mod{n}/file_{n}.py"),
    "git log --oneline": (1, "\n", lambda c, n: f"{_hex(c, 4)} Fix issue {n} in the parser of v{n % 5}"),
    "git log, whole digests": (1, "\n", lambda c, n: f"{_hex(c, 20)} Fix issue {n} in mod{n}.py"),
    "go.sum": (
        2,
        "\n",
        lambda c, n: "\n".join(
            f"github.com/org{n}/lib{n % 9} v1.{n}.{n % 4}{part} h1:{_b64(c, 32)}" for part in ("", "/go.mod")
        ),
    ),
    "pip hashes": (
        3,
        "\n",
        lambda c, n: (
            f"package{n}=={n % 9}.{n}.1 \\\n    --hash=sha256:{_hex(c, 32)} \\\n    --hash=sha256:{_hex(c, 32)}"
        ),
    ),
    "pip hash": (2, "\n", lambda c, n: f"package{n}=={n % 9}.{n}.1 \\\n    --hash=sha256:{_hex(c, 32)}"),
    "package-lock": (
        6,
        ",\n",
        lambda c, n: (
            f'    "node_modules/pkg{n}": {{\n      "version": "1.{n}.0",\n'
            f'      "resolved": "https://registry.npmjs.org/pkg{n}/-/pkg{n}-1.{n}.0.tgz",\n'
            f'      "integrity": "sha512-{_b64(c, 64)}",\n      "dev": true\n    }}'
        ),
    ),
    "Cargo.lock": (
        6,
        "\n\n",
        lambda c, n: (
            f'[[package]]\nname = "crate-{n}"\nversion = "0.{n}.1"\n'
            f'source = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "{_hex(c, 32)}"'
        ),
    ),
    "yarn.lock": (
        5,
        "\n\n",
        lambda c, n: (
            f'pkg{n}@^1.{n}.0:\n  version "1.{n}.0"\n'
            f'  resolved "https://registry.yarnpkg.com/pkg{n}/-/pkg{n}-1.{n}.0.tgz#{_hex(c, 20)}"\n'
            f"  integrity sha512-{_b64(c, 64)}"
        ),
    ),
    "pnpm-lock": (2, "\n", lambda c, n: f"  /pkg{n}@1.{n}.0:\n    resolution: {{integrity: sha512-{_b64(c, 64)}}}"),
    "a wheel's record": (1, "\n", lambda c, n: f"pkg/mod{n}.py,sha256={_b64(c, 32).rstrip('=')},{n * 37}"),
    "integrity": (1, "\n", lambda c, _: f"sha256-{_b64(c, 32)}"),
    "h1": (1, "\n", lambda c, _: f"h1:{_b64(c, 32)}"),
    "names and base64": (1, "\n", lambda c, n: f"file{n}.txt {_b64(c, 32)}"),
    "base64 and names": (1, "\n", lambda c, n: f"{_b64(c, 32)} file{n}.txt"),
    "digests and base64": (1, "\n", lambda c, _: f"{_hex(c, 20)} {_b64(c, 32)}"),
    "identifiers and base64": (1, "\n", lambda c, _: f"{_uuid(c)} {_b64(c, 32)}"),
    "images": (1, "\n", lambda c, n: f"registry.example.com/team/app{n}@sha256:{_hex(c, 32)}"),
    "a store": (1, "\n", lambda c, n: f"/nix/store/{''.join(c.choices(_LETTERS, k=32)).lower()}-pkg{n}-1.{n}"),
    "UUIDs": (1, "\n", lambda c, _: _uuid(c)),
    "a table of UUIDs": (1, "\n", lambda c, n: f"{_uuid(c)},user{n},{n * 7919 % 99991}"),
    "a table of orders": (1, "\n", lambda c, n: f"{n},ORD-{n:06d}-{_hex(c, 3).upper()},item{n},A{n * 31}"),
    "a table of ULIDs": (1, "\n", lambda c, n: f"{n};{''.join(c.choices(_LETTERS, k=26))};ok"),
    "ULIDs": (1, "\n", lambda c, _: "".join(c.choices(_LETTERS, k=26))),
    "object ids": (1, "\n", lambda c, _: _hex(c, 12)),
    "a server's log": (
        1,
        "\n",
        lambda c, n: f"2026-01-01T10:{n % 60:02d}:00Z req={_hex(c, 8)} GET /api/v1/items/{n} 200 {n % 300}ms",
    ),
}
"""Lines of a row, what stands between rows, and a row."""
