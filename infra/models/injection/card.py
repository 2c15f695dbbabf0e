"""The model's card: what was measured, as JSON in the artifact and as a page for people.

The contract: every figure on the page is in the artifact's card, which policy pins by digest, or is computed from one
that is, or from what the code reads texts with; none is typed by hand.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from infra.models.injection.calibration import BASE_RATE, interval
from infra.models.injection.corpora import Row
from infra.models.injection.lexicon import read_concepts
from infra.models.injection.sources import FOLDS
from streams.adapters.injection.detector import FINDING_SCORE
from streams.adapters.injection.scorer import SCORE_UNIT, SIGNAL_SCORE
from streams.adapters.injection.signals import ANY, packaged_families
from streams.adapters.injection.windows import BLOCK, SCALES
from streams.domain.scanning.decoding import MAX_DEPTH

PLACE: Final = Path(__file__).resolve().parents[3] / "docs" / "reference" / "injection-model.md"

SCORES: Final = (0.25, 0.3, 0.35, 0.6, 0.8)
"""Scores at which rates are given, the demo policy's of recalled memories and the scanner's among them."""

PROBES: Final = "probes"
"""The corpus of attacks that were put into long texts to measure how they are found there."""

_BINS: Final = (0.0, 0.01, 0.05, 0.1, 0.3, 0.6, 0.8, 0.95, 1.0)
_FEWEST: Final = 20
_LEAST: Final = {"all": 0.9, "marked hard": 0.75, "memory text, authored": 0.85}
_LEAST_LANGUAGE: Final = 0.8
_MANY: Final = 50
_MOST_OTHERS: Final = 0.01
"""Targets: of recall, also in languages with many texts, and of other texts found."""

Scores = npt.NDArray[np.float64]
Chosen = Callable[[int], bool]


def measure(
    rows: Sequence[Row],
    groups: Sequence[str],
    scores: Scores,
    own: npt.NDArray[np.bool_],
    signals: npt.NDArray[np.bool_],
) -> dict[str, Any]:
    """Return rates and calibration of held-out texts.

    Args:
        rows: All texts.
        groups: Where each is from.
        scores: Held-out scores; no number for what was not held out.
        own: Which texts are of the corpora of injections.
        signals: In which texts a rule matches.
    """
    held = [place for place in range(len(rows)) if not np.isnan(scores[place])]
    parts = []
    for title, attack, chosen in _parts(rows, groups, own, held):
        of = [place for place in held if rows[place].attack is attack and chosen(place)]
        if of:
            found = [int((scores[of] >= score).sum()) for score in SCORES]
            parts.append({"part": title, "attacks": attack, "texts": len(of), "found": found})
    attacks = np.array([row.attack for row in rows])
    return {
        "scores": list(SCORES),
        "parts": parts,
        "calibration": _calibration(rows, scores, own),
        "signals": {
            "attacks": int((own & attacks).sum()),
            "attacks_found": int((signals & own & attacks).sum()),
            "others": int((own & ~attacks).sum()),
            "others_found": int((signals & own & ~attacks).sum()),
        },
    }


def _parts(
    rows: Sequence[Row], groups: Sequence[str], own: npt.NDArray[np.bool_], held: Sequence[int]
) -> Iterator[tuple[str, bool, Chosen]]:
    yield "all", True, lambda place: bool(own[place])
    yield "not marked hard", True, lambda place: bool(own[place]) and not rows[place].hard
    yield "marked hard", True, lambda place: bool(own[place]) and rows[place].hard
    yield "memory text, authored", True, lambda place: "authored" in rows[place].corpus
    yield "in 8,000 characters of a transcript", True, lambda place: rows[place].corpus == PROBES
    yield "disguised", True, lambda place: bool(rows[place].obfuscation)
    yield "all", False, lambda place: bool(own[place])
    yield "encoded", False, lambda place: "encoded" in rows[place].corpus
    for title, is_system in (("messages", False), ("system prompts", True)):
        yield f"{title} of agent transcripts", False, _of_transcripts(rows, is_system=is_system)
    yield (
        "texts about secrets and personal data",
        False,
        lambda place: rows[place].corpus.startswith(("pii", "secrets")),
    )
    yield "paragraphs of this project's pages", False, lambda place: rows[place].corpus == "pages"
    for attack in (True, False):
        of = [place for place in held if rows[place].attack is attack and own[place]]
        for what, values in (("language", [row.lang for row in rows]), ("source", list(groups))):
            for value in sorted({values[place] for place in of}):
                yield f"{what} {value}", attack, _is(values, value, own)


def _of_transcripts(rows: Sequence[Row], *, is_system: bool) -> Chosen:
    return lambda place: rows[place].corpus == "transcripts" and (rows[place].category == "system") is is_system


def _is(values: Sequence[str], value: str, own: npt.NDArray[np.bool_]) -> Chosen:
    return lambda place: bool(own[place]) and values[place] == value


def _calibration(rows: Sequence[Row], scores: Scores, own: npt.NDArray[np.bool_]) -> list[dict[str, Any]]:
    """Compare, bin by bin, what scores state with the share of attacks at the stated base rate."""
    used = own & ~np.isnan(scores)
    attacks = np.array([row.attack for row in rows])[used]
    stated = scores[used]
    share = attacks.mean()
    weights = np.where(attacks, BASE_RATE / share, (1 - BASE_RATE) / (1 - share))
    bins = []
    for low, high in pairwise(_BINS):
        inside = (stated >= low) & ((stated < high) | (high == _BINS[-1]))
        if inside.any():
            mass = weights[inside].sum()
            bins.append(
                {
                    "from": low,
                    "to": high,
                    "texts": int(inside.sum()),
                    "stated": round(float((stated[inside] * weights[inside]).sum() / mass), 4),
                    "measured": round(float((attacks[inside] * weights[inside]).sum() / mass), 4),
                }
            )
    return bins


def body(name: str, version: str, seed: int, rows: Sequence[Row], measured: dict[str, Any]) -> dict[str, Any]:
    """Return the artifact's card, less what the artifact adds."""
    sources: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        counts = sources.setdefault((row.group, row.licence), [0, 0])
        counts[row.attack] += 1
    learnt = [
        {"source": group, "licence": licence, "attacks": attacks, "others": others}
        for (group, licence), (others, attacks) in sorted(sources.items())
    ]
    return {
        "name": name,
        "version": version,
        "seed": seed,
        "base_rate": BASE_RATE,
        "learnt_from": learnt,
        "measured": measured,
    }


def write(place: Path, card: Mapping[str, Any], revision: str) -> None:
    """Write the page."""
    measured = card["measured"]
    parts = [
        "<!-- Made by infra/models/injection/train.py from its measurements; change nothing by hand. -->",
        "# The injection model",
        f"`{revision}`",
        _wrapped(_about()),
        "## What a score means",
        _wrapped(_SCORES.format(base_rate=f"{card['base_rate']:.0%}")),
        _table(("scores", "texts", "stated, mean", "measured"), map(_bin, measured["calibration"])),
        "## Measured",
        _wrapped(_MEASURED.format(folds=FOLDS)),
        _wrapped(_SIGNALS.format(**measured["signals"])),
        f"### Targets, at the scanner's {FINDING_SCORE}",
        _targets(measured),
        _wrapped(_MISSED),
        "### Attacks found",
        _rates(measured, attacks=True),
        "### Other texts found (false positives)",
        _rates(measured, attacks=False),
        "## Learnt from",
        _wrapped(_LEARNT),
        _table(
            ("source", "licence", "attacks", "others"),
            ((item["source"], item["licence"], item["attacks"], item["others"]) for item in card["learnt_from"]),
        ),
        "## Limits",
        "\n".join(_wrapped(f"- {limit}") for limit in _LIMITS),
    ]
    place.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


_ABOUT: Final = """
What a recall policy's `detector_revision` names; a scan policy's `scanner_sha256` covers the same model.

[ADR 0010](../adr/0010-injection-model.md) says why it is what it is; how it is used stands in [scanning](scanning.md)
and [recall](recall.md).

It scores how likely a text is to steer a model that reads it: a linear model over hashed character and word n-grams and
over {concepts} concepts that are known by words of {languages} languages, in overlapping windows of {windows}
characters; the highest windows count together. Texts are read folded (case, accents, width, look-alikes, invisible
characters) and decoded (base64, hex, escapes, ROT13, reversed and others, to a depth of {depth}). Integers alone are
added up, in time linear in the text.

Beside it, {families} families of rules (`streams/adapters/injection/signals`, in {rule_languages} languages) read the
same. A rule that matches makes the score at least {signal_score:.2f}; where it was lower, a finding's type is the
family's name.
"""
_SCORES: Final = """
A calibrated probability for a stream of texts of which {base_rate} are attacks: of its texts that score 0.3, three in
ten are. Where attacks are rarer, so are they among texts of one score. No score is nearer to 0 or 1 than a thousandth.
It is no verdict: thresholds are policy's. Below, what scores state is compared with the share of attacks among them, at
that same rate.
"""
_MEASURED: Final = """
Every text was scored by a model that had learnt nothing from its source ({folds} groups of whole repositories, and no
text that begins like one of theirs), calibrated on the other groups. A share is followed by its 95 % interval (Wilson).
The packaged model has learnt from all of them. Texts written for it, summaries and borrowed messages are measured
nowhere, pages of this project by models that had not read the page. Concept words, rules and written texts were made
while looking at errors on these corpora, and thresholds, and how windows count together, were chosen after these
figures: a corpus that nobody has looked at will come out worse. That is most so for microsoft/BIPIA and for memory
text, since the rules on replies, code, authority and tampering were made with those rows in view.

Hard is what the corpus marks so: attacks by their meaning, and bare questions or roles that are asked of a model.
"""
_SIGNALS: Final = """
Scores are those of model and rules together. Rules alone match {attacks_found} of the {attacks} attacks and
{others_found} of the {others} other texts.
"""
_MISSED: Final = """
Missed is what names nothing of an attack: a question below a mail or beside another question, a part to play that might
be asked for in earnest, a persona told as a story, an order to a tool in words of work that only their purpose makes an
attack. In German nearly all rows are of one source, questions to a newspaper with such an order among them, in part
translated by machine. A lower threshold finds more of them and more honest text; a model that reads meaning would be
another detector.
"""
_LEARNT: Final = """
The development corpora, messages of clean agent transcripts, texts about secrets and personal data, pages of this
project, messages of programs in many languages (`infra/models/injection/borrowed`), summaries in the clauses of this
project's grammars (`infra/models/injection/summaries.jsonl`), and texts written for this model
(`infra/models/injection/authored`, expanded to their readings), which no native speaker has reviewed.
"""
_LIMITS: Final = (
    (
        "It sees wording, not meaning: an attack in plain words that name nothing of the kind passes, and an honest "
        "text that is about attacks or full of orders can be found."
    ),
    "Sources differ by more than the intervals say: for a new source, look at the worst one here and not at the mean.",
    "A text about attacks that quotes one is found where a rule matches what it quotes: rules know no quotation marks.",
    "Languages with few rows are hardly measured at all.",
    "An attack among much other text scores lower than alone; the row of attacks inside transcripts says how much.",
    "System prompts of agents, which order a model about, are found far more often than other honest texts.",
    "Whoever has the artifact can look for a wording that scores low. It is one check beside signals and ledger.",
    "Nothing here speaks of images, sound or files.",
)


_NO_LANGUAGES: Final = {"xx", "hl"}
"""Tags of words that are of every language, and of Hindi in Latin letters."""


def _about() -> str:
    concepts = read_concepts()
    languages = {language for stems in concepts.values() for language, _ in stems} - _NO_LANGUAGES
    *lengths, longest = (length * BLOCK for length, _ in SCALES)
    windows = f"{', '.join(map(str, lengths))} and {longest}"
    families, _ = packaged_families()
    rule_languages = {language for family in families for language in family.patterns} - {ANY}
    return _ABOUT.format(
        concepts=len(concepts),
        languages=len(languages),
        windows=windows,
        depth=MAX_DEPTH,
        families=len(families),
        rule_languages=len(rule_languages),
        signal_score=SIGNAL_SCORE / SCORE_UNIT,
    )


def _wrapped(text: str) -> str:
    wrapped = []
    for part in text.strip().split("\n\n"):
        indent = "  " if part.startswith("- ") else ""
        plain = " ".join(part.split())
        wrapped.append(
            textwrap.fill(plain, 120, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)
        )
    return "\n\n".join(wrapped)


def _rates(measured: Mapping[str, Any], *, attacks: bool) -> str:
    rows = []
    for part in measured["parts"]:
        if part["attacks"] is attacks:
            few = " (few)" if part["texts"] < _FEWEST else ""
            rows.append((part["part"] + few, part["texts"], *(_rate(found, part["texts"]) for found in part["found"])))
    return _table(("texts", "of", *(f"score ≥ {score:.2f}" for score in measured["scores"])), rows)


def _targets(measured: Mapping[str, Any]) -> str:
    """Return the targets of recall and of false positives, and whether they are met."""
    at = measured["scores"].index(FINDING_SCORE)
    rows = []
    for part in measured["parts"]:
        target = _target(part)
        if target is None:
            continue
        found, of = part["found"][at], part["texts"]
        met = found >= target * of if part["attacks"] else found <= target * of
        sign, kind = ("≥", "attacks") if part["attacks"] else ("≤", "other texts")
        rows.append((f"{kind}: {part['part']}", f"{sign} {target:.0%}", _rate(found, of), "met" if met else "missed"))
    return _table(("texts", "target", "measured", ""), rows)


def _target(part: Mapping[str, Any]) -> float | None:
    if not part["attacks"]:
        return _MOST_OTHERS if part["part"] in {"all", "encoded"} else None
    if part["part"].startswith("language "):
        return _LEAST_LANGUAGE if part["texts"] >= _MANY else None
    return _LEAST.get(part["part"])


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [" | ".join(map(str, row)) for row in (heads, *rows)]
    lines.insert(1, " | ".join("---" if place == 0 else "--:" for place in range(len(heads))))
    return "\n".join(f"| {line} |" for line in lines)


def _bin(item: Mapping[str, Any]) -> tuple[object, ...]:
    stated, found = (f"{item[key]:.3f}" for key in ("stated", "measured"))
    return f"{item['from']:.2f} to {item['to']:.2f}", item["texts"], stated, found


def _rate(found: int, of: int) -> str:
    low, high = interval(found, of)
    return f"{found / of:.1%} ({low:.1%} to {high:.1%})"
