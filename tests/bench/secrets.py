"""What the two detectors of secrets find in the development corpora: ``python -m tests.bench.secrets [--docs]``.

The contract: rows are counted as ``tests.bench.detectors`` counts them, over the text as it stands: what undoes
disguises comes before detectors and is measured by ``pratique eval``. Every rate has Wilson's 95 % interval.
``--docs`` writes the page ``docs/reference/secrets.md``; without it the page goes to standard output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from streams.adapters.kingfisher import KingfisherDetector
from streams.adapters.secrets.detector import SecretsDetector
from streams.adapters.secrets.families import Family, load_families
from streams.application.ports.detection import Detector
from streams.domain.evaluation.rates import Rate
from streams.domain.scanning.population import Field
from tests.bench.detectors import FILES, english_profile, rows
from tests.bench.pages import REFERENCE, shown, target, write_page

PAGE: Final = REFERENCE / "secrets.md"
WITH: Final = ("kingfisher alone", "kingfisher and secrets")

_LONG: Final = 12
"""Characters from which a secret's value is told from a word that occurs anywhere."""
_BOTH: Final = "look-alikes and scanners' own false positives together"
_LESS: Final = f"{_BOTH}, less those in which the same value as in a secret's row was found"

_SELF_DESCRIBING: Final = ("self-describing", "self-describing, filler")
TARGETS: Final = (
    ("self-describing, with filler", "detect", _SELF_DESCRIBING, 0.97),
    ("of other scanners, vendor-or-structured", "detect", ("of other scanners, vendor-or-structured",), 0.85),
    ("of other scanners, generic", "detect", ("of other scanners, generic",), 0.85),
    ("in sentences", "detect", ("in sentences",), 0.95),
    ("look-alikes", "clean", ("look-alikes",), 0.015),
    (_BOTH, "clean", (_BOTH,), 0.015),
    ("benign texts", "clean", ("benign texts",), 0.003),
)
"""What the detectors are held to: a share of secrets at least, of other texts the interval's upper bound at most."""

MISSED: Final = (
    'Missed: passwords made of the words of documentation (`user:password@`, "thisismypassword", "value with',
    'spaces"); plain words without quotes and without a user beside them; weak passwords that stand without a word',
    "for them; tokens whose body is one letter repeated; generated values without a name; and rows of other",
    "scanners that hold no value (`key: password`).",
    "",
    "Found, though their sources call them harmless: values that are half a template, and a token of one",
    "vendor's form that is one letter off another's.",
)

Counts = dict[tuple[str, str], list[Rate]]
"""By part and label: what each of ``WITH`` finds."""


def parts(file: str, row: dict[str, Any], *, contradicted: bool) -> Iterator[str]:
    """Yield the parts that a row is counted in; ``contradicted``: what was found in it is a secret in another row."""
    if row["label"] == "clean":
        part = {
            "negatives_lookalikes": "look-alikes",
            "negatives_scanner_examples": "scanners' own false positives",
        }.get(Path(file).stem, "benign texts")
        yield part
        if part != "benign texts":
            yield _BOTH
            if not contradicted:
                yield _LESS
        return
    if row["kind"] == "derived-obfuscated":
        return
    filler = ", filler" if row.get("placeholder_like") else ""
    if row["kind"] == "derived-embedded-in-memory-text":
        yield "in sentences"
        yield f"in sentences, {row['lang']}"
    elif "positives_kingfisher" in file:
        yield f"{row['form']}{filler}"
    else:
        yield f"of other scanners, {row['form']}"
        yield f"of other scanners, {row['form']}, {row['source'].split(':')[0]}"


def counted(detectors: Sequence[Detector], folder: Path) -> Counts:
    """Count the rows in which the first detector, and any, finds something."""
    total: Counter[tuple[str, str]] = Counter()
    found = [Counter[tuple[str, str]]() for _ in WITH]
    profile = english_profile()
    secrets = "\n".join(
        row["text"] for file in FILES["secrets"] for row in rows(folder / file) if row["label"] == "detect"
    )
    for file in FILES["secrets"]:
        for row in rows(folder / file):
            first, *others = ([*detector.scan([Field("text", row["text"])], profile)] for detector in detectors)
            values = [row["text"][item.start : item.end] for items in (first, *others) for item in items]
            contradicted = any(len(value) >= _LONG and value in secrets for value in values)
            for part in {(part, str(row["label"])) for part in parts(file, row, contradicted=contradicted)}:
                total[part] += 1
                found[0][part] += bool(first)
                found[1][part] += bool(first or any(others))
    return {part: [Rate(counter[part], total[part]) for counter in found] for part in sorted(total)}


def page(families: Sequence[Family], counts: Counts) -> str:
    """Return the page: the families, and the rates."""
    lines = [
        "# Secrets",
        "",
        "Written by `python -m tests.bench.secrets --docs`. Decisions:",
        "[ADR 0015](../adr/0015-secrets-by-rule-families.md).",
        "",
        "The detector `kingfisher` has its engine's own rules. The detector `secrets` has the families below, in",
        "`streams/adapters/secrets/rules`, and the engine's rules without their thresholds (`catalogue.*`). A",
        "finding's type is `FAMILY.RULE`.",
        "",
        "| family | rules | what |",
        "|---|--:|---|",
        *(f"| `{family.name}` | {len(family.rules)} | {family.about} |" for family in families),
        "",
        *targets(counts),
        "## Measured",
        "",
        "Rows of the development corpora in which something is found, as the texts stand, with 95 % intervals. The",
        "rules were written by form, but with these rows in sight: on texts of other sources they will find less.",
        "Some of the scanners' own false positives and true positives are the same text under different file types.",
        "",
    ]
    for label, title in (("detect", "secrets"), ("clean", "no secrets")):
        lines += [f"| {title} | rows | {' | '.join(WITH)} |", "|---|--:|--:|--:|"]
        lines += [
            f"| {part} | {rates[0].of} | {' | '.join(map(shown, rates))} |"
            for (part, of), rates in counts.items()
            if of == label
        ]
        lines.append("")
    return "\n".join([*lines, *MISSED, ""])


def targets(counts: Counts) -> Iterator[str]:
    """Yield the lines of the section on targets."""
    yield from ("## Targets", "", "| texts | target | measured |  |", "| --- | --: | --: | --: |")
    for title, label, named, bound in TARGETS:
        rates = [counts[part, label][1] for part in named]
        rate = Rate(sum(item.found for item in rates), sum(item.of for item in rates))
        is_met = rate.share >= bound if label == "detect" else rate.interval[1] <= bound
        asked = f"≥ {bound:.0%}" if label == "detect" else f"upper bound ≤ {bound:.1%}"
        yield target(title, asked, rate, is_met=is_met)
    found, apart = counts[_BOTH, "clean"][1].found, counts[_LESS, "clean"][1].found
    yield ""
    yield "Disguised ones are counted by `pratique eval`, which undoes disguises first. Of the scanners' own false"
    yield f"positives and look-alikes that are found ({found}), {found - apart} hold a value that stands in another"
    yield "row, which its source labels a secret: no rule on the text tells them apart, so that both count as secrets."
    yield ""


def main() -> None:
    """Measure, and print or write the page."""
    detectors = (KingfisherDetector(), SecretsDetector())
    write_page("tests.bench.secrets", PAGE, lambda folder: page(load_families(), counted(detectors, folder)))


if __name__ == "__main__":
    main()
