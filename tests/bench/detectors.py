"""What the detectors find in the development corpora, and how fast: ``python -m tests.bench.detectors [--json FILE]``.

The contract: the corpora are read from ``PRATIQUE_CORPORA``, else from ``../shared/corpora``; nothing else needs them.
Recall and false positives are counted by row: a row counts when any finding of the detector's category is in it. The
profile is the broad one: every language, every advised entity type. Throughput is CPU time of one process over agent
messages of 1 to 8 KB, each scanned alone.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from streams.adapters.detectors import standard_detectors
from streams.adapters.pii.foreign import ForeignCheck
from streams.adapters.presidio import PresidioDetector
from streams.adapters.presidio_profiles import SUPPORTED_LANGUAGES, UNADVISED_ENTITY_TYPES
from streams.application.ports.detection import Detector
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile

DEFAULT_CORPORA: Final = Path(__file__).resolve().parents[3] / "shared" / "corpora"
TRANSCRIPTS: Final = "transcripts/transcripts.jsonl"
SECRETS: Final = (
    "secrets/positives_kingfisher.jsonl",
    "secrets/positives_other_scanners.jsonl",
    "secrets/positives_derived.jsonl",
    "secrets/negatives_lookalikes.jsonl",
    "secrets/negatives_scanner_examples.jsonl",
    "benign/benign_public.jsonl",
    "benign/benign_encoded.jsonl",
    "benign/benign_authored_memory_multilingual.jsonl",
)
FILES: Final = {
    "kingfisher": SECRETS,
    "secrets": SECRETS,
    "presidio": (
        "pii/positives.jsonl",
        "pii/negatives.jsonl",
        "benign/benign_public.jsonl",
        "benign/benign_authored_memory_multilingual.jsonl",
    ),
}
"""Not the injection model: it has learnt from these corpora. Its card has what it scores on sources it has not seen."""
SHORTEST_CHARACTERS: Final = 1_000
LONGEST_CHARACTERS: Final = 8_000
MESSAGES: Final = 60
"""Messages that throughput is measured over: some 200 KB."""


@dataclass(frozen=True, slots=True)
class Count:
    """What a detector finds in a part of a file."""

    detector: str
    file: str
    part: str
    label: str
    rows: int
    found: int


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a detector is under a profile."""

    detector: str
    profile: str
    megabytes: float
    megabytes_per_cpu_second: float


def corpora() -> Path:
    """Return where the corpora are."""
    return Path(os.environ.get("PRATIQUE_CORPORA", DEFAULT_CORPORA))


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read a corpus file; texts kept in base64 are decoded."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if "text_b64" in row:
                row["text"] = base64.b64decode(row["text_b64"]).decode()
            yield row


def broad_profile(presidio: PresidioDetector) -> ScanProfile:
    """Return every language with every advised entity type."""
    languages = tuple(sorted(SUPPORTED_LANGUAGES))
    found = presidio.supported_entity_types(languages)
    return ScanProfile(languages, tuple(item for item in found if item not in UNADVISED_ENTITY_TYPES))


def english_profile() -> ScanProfile:
    """Return the profile of the first demo policy: English, eight entity types."""
    kinds = "CREDIT_CARD CRYPTO EMAIL_ADDRESS IBAN_CODE IP_ADDRESS MAC_ADDRESS PHONE_NUMBER US_SSN"
    return ScanProfile(("en",), tuple(kinds.split()))


def counted(detector: Detector, folder: Path, profile: ScanProfile) -> Iterator[Count]:
    """Count the rows in which a detector finds something."""
    name = detector.manifest.name
    for file in FILES[name]:
        total: Counter[tuple[str, str]] = Counter()
        found: Counter[tuple[str, str]] = Counter()
        for row in rows(folder / file):
            part = (_part(row), row["label"])
            total[part] += 1
            found[part] += bool(detector.scan([Field("text", row["text"])], profile))
        for part in sorted(total):
            yield Count(name, file, *part, total[part], found[part])


def _part(row: dict[str, Any]) -> str:
    if row["label"] == "clean":
        return str(row["kind"]) if "pii" in row["id"] else ""
    filler = ", placeholder" if row.get("placeholder_like") else ""
    return f"{row.get('form') or row['kind']}{filler}"


def messages(folder: Path) -> list[str]:
    """Return agent messages to measure throughput over, none in a language that an English profile lacks."""
    texts: list[str] = []
    foreign = ForeignCheck(english_profile().language_profiles)
    for row in rows(folder / TRANSCRIPTS):
        contents = (message["content"] for message in row["messages"])
        texts += [text for text in contents if isinstance(text, str) and _is_of_size(text)]
    texts = [text for text in texts if not foreign.is_foreign(text)]
    return texts[:: max(1, len(texts) // MESSAGES)]


def _is_of_size(text: str) -> bool:
    return SHORTEST_CHARACTERS <= len(text) <= LONGEST_CHARACTERS


def speeds(texts: Sequence[str]) -> list[Speed]:
    """Measure the throughput of every detector, and of all together, over texts scanned one by one."""
    by_name = {detector.manifest.name: detector for detector in standard_detectors()}
    presidio = _presidio()
    size = sum(len(text.encode()) for text in texts) / 1e6
    measured = []
    sets: list[tuple[str, tuple[Detector, ...], str, ScanProfile]] = [
        *(
            (name, (detector,), "any", english_profile())
            for name, detector in by_name.items()
            if detector is not presidio
        ),
        ("presidio", (presidio,), "English", english_profile()),
        ("presidio", (presidio,), "broad", broad_profile(presidio)),
        ("all", tuple(by_name.values()), "broad", broad_profile(presidio)),
    ]
    for name, detectors, title, profile in sets:
        _scan(detectors, profile, texts[:1])  # compiles what is compiled at first use
        began = time.process_time()
        _scan(detectors, profile, texts)
        measured.append(Speed(name, title, round(size, 3), round(size / (time.process_time() - began), 3)))
    return measured


def _presidio() -> PresidioDetector:
    for detector in standard_detectors():
        if isinstance(detector, PresidioDetector):
            return detector
    raise TypeError("Presidio is none of the standard detectors")


def _scan(detectors: Sequence[Detector], profile: ScanProfile, texts: Sequence[str]) -> None:
    for text in texts:
        for detector in detectors:
            detector.scan([Field("text", text)], profile)


def main() -> None:
    """Measure, print, and write JSON where asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.detectors")
    parser.add_argument("--json", type=Path, help="write the numbers here as well")
    arguments = parser.parse_args()
    folder = corpora()
    if not folder.is_dir():
        raise SystemExit(f"no corpora in {folder}: set PRATIQUE_CORPORA")
    profile = broad_profile(_presidio())
    counted_ones = [detector for detector in standard_detectors() if detector.manifest.name in FILES]
    counts = [count for detector in counted_ones for count in counted(detector, folder, profile)]
    measured = speeds(messages(folder))
    _show(counts, measured)
    if arguments.json:
        body = {"counts": [asdict(count) for count in counts], "speeds": [asdict(speed) for speed in measured]}
        arguments.json.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")


def _show(counts: Sequence[Count], measured: Sequence[Speed]) -> None:
    console = Console()
    table = Table("detector", "file", "part", "label", "found", "of", "rate", title="rows with a finding")
    for count in counts:
        rate = f"{count.found / count.rows:.1%}"
        table.add_row(count.detector, count.file, count.part, count.label, str(count.found), str(count.rows), rate)
    console.print(table)
    table = Table("detector", "profile", "MB", "MB per CPU second", title="throughput of one process")
    for speed in measured:
        table.add_row(speed.detector, speed.profile, f"{speed.megabytes:.2f}", f"{speed.megabytes_per_cpu_second:.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
