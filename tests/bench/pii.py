"""Personal data: this detector against Presidio's own engine, in one run: ``python -m tests.bench.pii [--json FILE]``.

The contract: both run the same recognisers over the same agent messages of 1 to 8 KB, one by one, in one process; the
ratio of their CPU times is what is measured. What the engine matches is judged as the detector judges it, outside the
measured time, and has to be the same findings. The detector's time is the median of several rounds, and the first
round, over text that its automata have not seen, is given beside it.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import NoOpNlpEngine
from rich.console import Console
from rich.table import Table

from streams.adapters.pii.around import Around
from streams.adapters.pii.judgement import SCORE_THRESHOLD, judged
from streams.adapters.pii.rules import Match
from streams.adapters.pii.scanner import Scanner
from streams.adapters.presidio import PresidioDetector
from streams.domain.scanning.population import Field
from streams.domain.scanning.request import ScanProfile
from tests.bench.detectors import broad_profile, corpora, english_profile, messages

ROUNDS: Final = 3
LANGUAGE: Final = "en"
"""The engine takes one language a call: it is given the merged recognisers as this one's."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Both over the same texts, under one profile."""

    profile: str
    recognisers: int
    megabytes: float
    engine_mb_per_s: float
    first_round_mb_per_s: float
    mb_per_s: float
    ratio: float
    texts: int
    texts_that_differ: int


def measured(title: str, detector: PresidioDetector, profile: ScanProfile, texts: Sequence[str]) -> Ratio:
    """Measure one profile."""
    scanner = detector.scanner(profile)
    fields = [[Field("text", text)] for text in texts]
    size = sum(len(text.encode()) for text in texts) / 1e6

    def ours() -> None:
        for field in fields:
            detector.scan(field, profile)

    first, *others = [_seconds(ours) for _ in range(ROUNDS + 1)]
    analyzer = _engine(scanner, detector.recognizers_of(profile))
    found: list[list[Any]] = []

    def engine() -> None:
        found.extend(analyzer.analyze(text, LANGUAGE) for text in texts)

    theirs = _seconds(engine)
    differ = sum(
        _judged(scanner, text, results) != _spans(scanner, text) for text, results in zip(texts, found, strict=True)
    )
    own = statistics.median(others)
    return Ratio(
        title,
        len(scanner.rules),
        round(size, 3),
        round(size / theirs, 3),
        round(size / first, 3),
        round(size / own, 3),
        round(theirs / own, 1),
        len(texts),
        differ,
    )


def _seconds(run: Callable[[], None]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def _engine(scanner: Scanner, groups: Sequence[Sequence[Any]]) -> AnalyzerEngine:
    recognizers = []
    for rule, items in zip(scanner.rules, groups, strict=True):
        merged = copy.copy(items[0])
        merged.context = list(rule.context.words)
        merged.supported_language = LANGUAGE
        if hasattr(merged, "supported_regions"):
            merged.supported_regions = tuple(dict.fromkeys(code for item in items for code in item.supported_regions))
        recognizers.append(merged)
    registry = RecognizerRegistry(recognizers=recognizers, supported_languages=[LANGUAGE])
    nothing = NoOpNlpEngine([{"lang_code": LANGUAGE, "model_name": "no_op"}])
    nothing.load()
    return AnalyzerEngine(registry=registry, nlp_engine=nothing, supported_languages=[LANGUAGE])


def _judged(scanner: Scanner, text: str, results: Sequence[Any]) -> set[tuple[str, int, int]]:
    rules = {rule.name: rule for rule in scanner.rules}
    spans = set()
    around = Around(text)
    for result in results:
        rule = rules[result.recognition_metadata["recognizer_name"]]
        if judged(Match(rule, result.start, result.end, result.score), around) >= SCORE_THRESHOLD:
            spans.add((rule.entity, result.start, result.end))
    return spans


def _spans(scanner: Scanner, text: str) -> set[tuple[str, int, int]]:
    return {(item.entity, item.start, item.end) for item in scanner.matches(text)}


def main() -> None:
    """Measure, print, and write JSON where asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pii")
    parser.add_argument("--json", type=Path, help="write the numbers here as well")
    arguments = parser.parse_args()
    detector = PresidioDetector()
    texts = messages(corpora())
    profiles = {"English, eight types": english_profile(), "every language and type": broad_profile(detector)}
    ratios = [measured(title, detector, profile, texts) for title, profile in profiles.items()]
    table = Table("profile", "recognisers", "MB", "engine MB/s", "unseen MB/s", "seen MB/s", "ratio", "differ")
    for item in ratios:
        row = (item.profile, item.recognisers, item.megabytes, item.engine_mb_per_s, item.first_round_mb_per_s)
        table.add_row(*map(str, row), str(item.mb_per_s), str(item.ratio), f"{item.texts_that_differ} of {item.texts}")
    Console().print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(item) for item in ratios], indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
