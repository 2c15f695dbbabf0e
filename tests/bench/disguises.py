"""What is found of secrets and personal data in disguise: ``python -m tests.bench.disguises [--every N]``.

The contract: of the development corpora's secrets in sentences and personal data, those that are found plainly are
disguised in every way here and looked for again: the value alone where the row knows it, in its sentence, and the whole
sentence. A row is found when a finding of its category lies inside what was disguised, or around it. Benign texts under
the same disguises are counted too: what is found there only in disguise is false.
"""

from __future__ import annotations

import argparse
import base64
import bz2
import codecs
import gzip
import json
import quopri
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

from streams.adapters.kingfisher import KingfisherDetector
from streams.adapters.presidio import PresidioDetector
from streams.adapters.secrets.detector import SecretsDetector
from streams.adapters.viewing import detect
from streams.application.ports.detection import Detector
from streams.domain.scanning.finding import Category, Finding
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.bench.detectors import broad_profile, corpora, rows

# ruff: noqa: RUF001 - look-alikes are meant

LOOKALIKES: Final = str.maketrans("aceopxyiABCEHKMOPTX", "асеорхуіАВСЕНКМОРТХ")


def _b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _cut(text: str, size: int, between: str) -> str:
    return between.join(text[place : place + size] for place in range(0, len(text), size))


def _bold(letter: str) -> str:
    if letter.isascii() and letter.isalpha():
        return chr((0x1D41A if letter.islower() else 0x1D400) + ord(letter.lower()) - ord("a"))
    return chr(0x1D7CE + int(letter)) if letter in "0123456789" else letter


DISGUISES: Final[dict[str, Callable[[str], str]]] = {
    "base64": lambda text: _b64(text.encode()),
    "base64 without padding": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 in lines": lambda text: _cut(_b64(text.encode()), 24, "\n"),
    "base64 with spaces": lambda text: _cut(_b64(text.encode()), 8, " "),
    "base64 twice": lambda text: _b64(_b64(text.encode()).encode()),
    "base64 three times": lambda text: _b64(_b64(_b64(text.encode()).encode()).encode()),
    "base64 of UTF-16": lambda text: _b64(text.encode("utf-16-le")),
    "base64 backwards": lambda text: _b64(text.encode())[::-1],
    "data URL": lambda text: f"data:text/plain;base64,{_b64(text.encode())}",
    "gzip": lambda text: _b64(gzip.compress(text.encode(), mtime=0)),
    "zlib in hex": lambda text: zlib.compress(text.encode()).hex(),
    "bzip2": lambda text: _b64(bz2.compress(text.encode())),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "base85": lambda text: base64.b85encode(text.encode()).decode(),
    "ascii85": lambda text: base64.a85encode(text.encode(), adobe=True).decode(),
    "hex": lambda text: text.encode().hex(),
    "hex capitals": lambda text: text.encode().hex().upper(),
    "hex in pairs": lambda text: text.encode().hex(" "),
    "hex with colons": lambda text: text.encode().hex(":"),
    "hex list": lambda text: ", ".join(f"0x{byte:02x}" for byte in text.encode()),
    "decimal list": lambda text: ", ".join(str(byte) for byte in text.encode()),
    "binary": lambda text: " ".join(f"{byte:08b}" for byte in text.encode()),
    "percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent twice": lambda text: "".join(f"%25{byte:02X}" for byte in text.encode()),
    "quoted-printable": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "quoted-printable lines": lambda text: quopri.encodestring(text.encode(), quotetabs=True).decode(),
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "entities in hex": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "unicode escapes": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "hex escapes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "octal escapes": lambda text: "".join(f"\\{byte:03o}" for byte in text.encode()),
    "after a string's escape": lambda text: json.dumps(f"of it:\n{text}\n"),
    "a string in a string": lambda text: json.dumps(json.dumps(f"of it:\t{text}\t")),
    "signs escaped": lambda text: re.sub("(?<=[0-9A-Za-z])([_.@-])", r"\\\1", text),
    "base64 in lines of a string": lambda text: json.dumps(_cut(_b64(text.encode()), 24, "\n")),
    "decimal list in lines": lambda text: json.dumps(list(text.encode()), indent=2),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "zero-width": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "tags": lambda text: "".join(chr(0xE0000 + ord(letter)) if letter.isascii() else letter for letter in text),
    "selectors": lambda text: (
        "\U0001f600" + "".join(chr(0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16) for byte in text.encode())
    ),
    "wide": lambda text: "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text),
    "bold": lambda text: "".join(map(_bold, text)),
    "look-alikes": lambda text: text.translate(LOOKALIKES),
    "spaced": " ".join,
    "spaced with hyphens": "-".join,
    "a letter a line": "\n".join,
    "in two lines": lambda text: text[: len(text) // 2] + "\n" + text[len(text) // 2 :],
    "in groups": lambda text: _cut(text, 5, " "),
    "added up": lambda text: '"' + _cut(text, 6, '" + "') + '"',
    "side by side": lambda text: "'" + _cut(text, 6, "' '") + "'",
}


def main() -> None:
    """Disguise, look, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.disguises")
    parser.add_argument("--every", type=int, default=10, help="use one row of so many")
    parser.add_argument("--only", help="one disguise alone")
    parser.add_argument("--category", choices=("SECRET", "PII"), help="one category alone")
    arguments = parser.parse_args()
    presidio = PresidioDetector()
    profile = broad_profile(presidio)
    kinds: list[tuple[str, Category, Sequence[Detector]]] = [
        ("secrets/positives_derived.jsonl", Category.SECRET, (KingfisherDetector(), SecretsDetector())),
        ("pii/positives.jsonl", Category.PII, (presidio,)),
    ]
    console = Console()
    for file, category, detectors in kinds:
        if arguments.category not in {None, category.value}:
            continue
        table = Table("disguise", "values", "found", "sentences", "found", "benign", "false", title=category.value)
        values = list(_values(file, category, detectors, profile, arguments.every))
        benign = [row["text"] for row in rows(corpora() / "benign/benign_public.jsonl")][:: 4 * arguments.every]
        benign = [text for text in benign if not _found(text, category, detectors, profile)]
        for name, disguise in DISGUISES.items():
            if arguments.only in {None, name}:
                counted: Counter[str] = Counter()
                for before, value, after in values:
                    counted["value"] += _is_found(before, disguise(value), after, category, detectors, profile)
                    counted["text"] += _is_found("", disguise(before + value + after), "", category, detectors, profile)
                counted["false"] = sum(bool(_found(disguise(text), category, detectors, profile)) for text in benign)
                of, sample = str(len(values)), str(len(benign))
                table.add_row(name, of, str(counted["value"]), of, str(counted["text"]), sample, str(counted["false"]))
        console.print(table)


def _values(
    file: str, category: Category, detectors: Sequence[Detector], profile: ScanProfile, every: int
) -> Iterator[tuple[str, str, str]]:
    """Yield values that are found plainly, with what stands before and after them."""
    used = 0
    for row in rows(corpora() / file):
        text = row["text"]
        if row.get("obfuscation") or not (found := _found(text, category, detectors, profile)):
            continue
        used += 1
        if used % every == 0:
            yield text[: found[0].start], text[found[0].start : found[0].end], text[found[0].end :]


def _found(text: str, category: Category, detectors: Sequence[Detector], profile: ScanProfile) -> list[Finding]:
    findings, failure = detect([Field("text", text)], profile, detectors)
    if failure is not None:
        raise RuntimeError(failure[0].value)
    return [finding for finding in findings if finding.category is category]


def _is_found(
    before: str, value: str, after: str, category: Category, detectors: Sequence[Detector], profile: ScanProfile
) -> bool:
    low, high = len(before), len(before) + len(value)
    return any(
        finding.start < high and finding.end > low
        for finding in _found(before + value + after, category, detectors, profile)
    )


if __name__ == "__main__":
    main()
