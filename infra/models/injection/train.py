"""Makes the injection detector's artifact and its card: ``python -m infra.models.injection.train CORPORA``.

The contract: the same corpora, texts and seed give the same artifact on the same machine (NumPy's float arithmetic may
differ in the last place on another; the artifact that is pinned is the one in the repository). Figures come from texts
of sources that the measured model had not learnt from, scored by the detector's own code. Takes some minutes and 4 GB.

Nothing here runs in the service.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from infra.models.injection import card
from infra.models.injection.authored_texts import embedded, read_authored
from infra.models.injection.calibration import Calibration, Doubles, Flags, calibrate
from infra.models.injection.clause_texts import read_summaries
from infra.models.injection.corpora import Row, read_rows, read_side, read_transcripts
from infra.models.injection.examples import Examples, Tools, make_examples, make_tools
from infra.models.injection.honest_texts import read_borrowed, read_pages
from infra.models.injection.learning import Settings, learn
from infra.models.injection.quantizing import arrays_of
from infra.models.injection.sources import ALWAYS_LEARNT, FOLDS, NO_FOLD, folds_of, openings, with_origins
from streams.adapters.injection.artifact import DIRECTORY, Artifact, write_artifact
from streams.adapters.injection.detector import PromptSafety
from streams.adapters.injection.pooling import ONE
from streams.adapters.injection.scorer import SCORE_UNIT, SIGNAL_SCORE, Scorer

SEED: Final = 1
NAME: Final = "pratique-injection"
VERSION: Final = "5"

_READINGS: Final = 10
_SHORT: Final = 1_000
_AROUND: Final = 8_000
_PROBED: Final = 3
_AUTHORED_WEIGHT: Final = 4.0
_SIDE_WEIGHT: Final = 0.5
_UNCALIBRATED: Final = Calibration(np.array([-8.0, 8.0]), np.array([0.0, 1.0]))

MEASURED: Final = 0
WRITTEN: Final = 1
SIDE: Final = 2
AMONG: Final = 3
PROBE: Final = 4
BORROWED: Final = 5


class Texts(NamedTuple):
    """All texts, and what is known of each.

    Attributes:
        kinds: ``MEASURED`` (the corpora of injections), ``WRITTEN`` for this model, ``SIDE`` (others' corpora
            and this project's pages), ``BORROWED`` (others' honest texts that are measured nowhere),
            ``AMONG`` (attacks of the corpora, with written texts around them), ``PROBE`` (attacks inside transcripts,
            for measuring).
        groups: Where each is from.
        folds: When it is held out.
        openings: The same number for texts that begin alike.
    """

    rows: list[Row]
    kinds: npt.NDArray[np.int64]
    groups: list[str]
    folds: npt.NDArray[np.int64]
    openings: npt.NDArray[np.int64]

    @property
    def attacks(self) -> Flags:
        """Which are attacks."""
        return np.array([row.attack for row in self.rows])


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn, measure, write."""
    parser = argparse.ArgumentParser(prog="python -m infra.models.injection.train", description=__doc__)
    parser.add_argument("corpora", type=Path, help="the development corpora")
    parser.add_argument("--artifact", type=Path, default=DIRECTORY, help="where the artifact is written")
    parser.add_argument("--card", type=Path, default=card.PLACE, help="where the card is written")
    given = parser.parse_args(arguments)
    texts, tools = _read(given.corpora)
    _say(f"{len(texts.rows)} texts")
    examples = make_examples(
        [row for row, kind in zip(texts.rows, texts.kinds, strict=True) if kind != PROBE], tools, seed=SEED
    )
    _say(f"{examples.starts.size - 1} windows")
    logits, signals = _held_out(texts, examples, tools)
    usable = ~np.isnan(logits)
    own = usable & (texts.kinds == MEASURED)
    scores = _cross_fitted(logits, texts, own)
    scores[signals] = np.maximum(scores[signals], SIGNAL_SCORE / SCORE_UNIT)
    measured = card.measure(texts.rows, texts.groups, scores, own, signals)
    calibration = calibrate(logits[own], texts.attacks[own])
    learnt = learn(examples, texts.attacks, _weights(texts, NO_FOLD), Settings(), seed=SEED)
    body = card.body(
        NAME, VERSION, SEED, [row for row in texts.rows if row.corpus not in {"embedded", card.PROBES}], measured
    )
    given.artifact.mkdir(parents=True, exist_ok=True)
    artifact = write_artifact(given.artifact, body, arrays_of(learnt, tools, calibration))
    revision = PromptSafety(Scorer(artifact)).revision
    card.write(given.card, artifact.card, revision)
    _say(f"wrote {given.artifact}; policy's detector_revision is {revision}")


def _read(corpora: Path) -> tuple[Texts, Tools]:
    own = read_rows(corpora)
    written = read_authored(_READINGS, seed=SEED)
    fillers = [row for row in written if not row.attack]
    written += embedded(written, fillers, seed=SEED)
    short = [row for row in own if row.attack and not row.obfuscation and len(row.text) <= _SHORT]
    among = embedded(short, fillers, seed=SEED)
    transcripts = read_transcripts(corpora)
    side = transcripts + read_side(corpora) + read_pages()
    borrowed = read_borrowed() + read_summaries()
    parts = {MEASURED: own, WRITTEN: written, AMONG: among, SIDE: side, BORROWED: borrowed}
    learnt = [row for rows in parts.values() for row in rows]
    tools = make_tools(own)
    kinds = np.repeat(list(parts), [len(rows) for rows in parts.values()])
    groups = with_origins(learnt, tools)
    folds = np.where(np.isin(kinds, (WRITTEN, BORROWED)), ALWAYS_LEARNT, folds_of(groups))
    probes = _probes(short[::_PROBED], transcripts)
    rows = learnt + probes
    groups += [row.group for row in probes]
    kinds = np.append(kinds, np.full(len(probes), PROBE))
    return Texts(
        rows, kinds, groups, np.append(folds, folds_of([row.group for row in probes])), openings(rows, tools)
    ), tools


def _probes(attacks: Sequence[Row], transcripts: Sequence[Row]) -> list[Row]:
    """Return attacks in the middle of a transcript's text, where there are any of a transcript in the same fold."""
    draw = random.Random(SEED)  # noqa: S311 - no secret
    by_fold = {int(fold): "" for fold in range(FOLDS)}
    for row, fold in zip(transcripts, folds_of([row.group for row in transcripts]), strict=True):
        by_fold[int(fold)] += row.text + "\n"
    every = "".join(by_fold.values())
    probes = []
    for row, fold in zip(attacks, folds_of([row.group for row in attacks]), strict=True):
        near = by_fold[int(fold)] if len(by_fold[int(fold)]) > 2 * _AROUND else every
        start = draw.randrange(len(near) - _AROUND)
        around = near[start : start + _AROUND]
        text = f"{around[: _AROUND // 2]} {row.text} {around[_AROUND // 2 :]}"
        probes.append(replace(row, id=f"probe/{row.id}", text=text, corpus=card.PROBES))
    return probes


def _weights(texts: Texts, held_out: int) -> Doubles:
    """Return how much each text counts when a fold is held out."""
    held = texts.folds == held_out
    copied = np.isin(texts.openings, texts.openings[held]) & ~np.isin(texts.kinds, (WRITTEN, BORROWED))
    used = ~held & ~copied & (texts.folds != NO_FOLD) & (texts.kinds != PROBE)
    attacks = texts.attacks
    names = [f"{kind} {group} {attack}" for kind, group, attack in zip(texts.kinds, texts.groups, attacks, strict=True)]
    keys = np.unique(names, return_inverse=True)[1]
    sizes = np.bincount(keys[used], minlength=int(keys.max()) + 1)
    weights = np.zeros(len(texts.rows))
    weights[used] = sizes[keys[used]] ** -0.5
    weights[texts.kinds == WRITTEN] *= _AUTHORED_WEIGHT
    weights[np.isin(texts.kinds, (SIDE, BORROWED))] *= _SIDE_WEIGHT
    weights[attacks] *= weights[~attacks].sum() / weights[attacks].sum()
    return weights


def _held_out(texts: Texts, examples: Examples, tools: Tools) -> tuple[Doubles, Flags]:
    """Return each text's logit by a model that has not learnt from its source, and in which of them a rule matches."""
    logits, signals = np.full(len(texts.rows), np.nan), np.zeros(len(texts.rows), np.bool_)
    for fold in range(FOLDS):
        learnt = learn(examples, texts.attacks, _weights(texts, fold), Settings(), seed=SEED)
        scorer = Scorer(Artifact({}, arrays_of(learnt, tools, _UNCALIBRATED), ""))
        held = np.flatnonzero((texts.folds == fold) & (texts.kinds != AMONG))
        for place in held:
            best = scorer.best(texts.rows[place].text)
            logits[place], signals[place] = best.logit / ONE, best.signal is not None
        _say(f"fold {fold}: {held.size} texts held out")
    return logits, signals


def _cross_fitted(logits: Doubles, texts: Texts, own: Flags) -> Doubles:
    """Return scores by a calibration that has seen no text of the same fold."""
    scores = np.full(logits.size, np.nan)
    for fold in range(FOLDS):
        others = own & (texts.folds != fold)
        here = (texts.folds == fold) & ~np.isnan(logits)
        scores[here] = calibrate(logits[others], texts.attacks[others])(logits[here])
    return scores


def _say(text: str) -> None:
    sys.stderr.write(f"injection model: {text}\n")


if __name__ == "__main__":
    main()
