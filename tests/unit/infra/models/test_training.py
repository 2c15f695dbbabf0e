"""What is learnt is what the detector adds up; what is measured was not learnt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.models.injection import card
from infra.models.injection.authored_texts import AUTHORED, EMBEDDED, embedded, read_authored, read_lines
from infra.models.injection.calibration import BASE_RATE, Calibration, calibrate, interval
from infra.models.injection.corpora import Row
from infra.models.injection.examples import Examples, Tools, make_examples, make_tools
from infra.models.injection.learning import Settings, learn
from infra.models.injection.quantizing import arrays_of
from infra.models.injection.sources import DERIVED, FOLDS, NO_FOLD, folds_of, openings, with_origins
from streams.adapters.injection.artifact import Artifact, read_artifact
from streams.adapters.injection.counts import count
from streams.adapters.injection.pooling import ONE
from streams.adapters.injection.scorer import Scorer
from tests.fakes.attacks import attack

LINE = Calibration(np.array([-8.0, 8.0]), np.array([0.0, 1.0]))


def row(text: str, *, is_attack: bool = False, group: str = "a/b", obfuscation: str = "", place: int = 0) -> Row:
    return Row(
        id=str(place),
        text=text,
        attack=is_attack,
        group=group,
        lang="en",
        category="c",
        corpus="f",
        licence="MIT",
        obfuscation=obfuscation,
    )


ROWS = [
    *(row(f"{attack('en')} Case {place}.", is_attack=True, place=place) for place in range(6)),
    *(row(f"The report number {place} is ready, and the tests pass.", place=place) for place in range(6)),
]


@pytest.fixture(scope="module")
def tools() -> Tools:
    return make_tools(ROWS)


@pytest.fixture(scope="module")
def examples(tools: Tools) -> Examples:
    return make_examples(ROWS, tools, seed=1)


def learnt_from(examples: Examples, seed: int = 1) -> np.ndarray:
    attacks = np.array([item.attack for item in ROWS])
    return learn(examples, attacks, np.ones(len(ROWS)), Settings(), seed=seed).weights


def test_the_same_seed_learns_the_same(examples: Examples) -> None:
    assert (learnt_from(examples) == learnt_from(examples)).all()
    assert (learnt_from(examples) != learnt_from(examples, seed=2)).any()


def test_the_detector_adds_up_what_was_learnt(examples: Examples, tools: Tools) -> None:
    attacks = np.array([item.attack for item in ROWS])
    learnt = learn(examples, attacks, np.ones(len(ROWS)), Settings(), seed=1)
    scorer = Scorer(Artifact({}, arrays_of(learnt, tools, LINE), ""))
    sums = np.add.reduceat(learnt.weights[examples.features] * examples.values, examples.starts[:-1])
    for place, item in enumerate(ROWS):
        (view,) = tools.reader.views(item.text)
        whole, _ = scorer.window_logits(count(view.codes, tools.lexicon))
        of_text = sums[examples.texts == place]
        assert whole / ONE == pytest.approx(of_text, abs=0.1)
        assert (of_text > 0).all() == item.attack


def test_what_weighs_nothing_is_not_learnt(examples: Examples) -> None:
    attacks = np.array([item.attack for item in ROWS])
    weights = np.ones(len(ROWS))
    weights[attacks] = 0
    flipped = ~attacks
    one = learn(examples, attacks, weights, Settings(), seed=1).weights
    flipped[~attacks] = False
    assert (one == learn(examples, flipped, weights, Settings(), seed=1).weights).all()


def test_sources_are_held_out_whole(tools: Tools) -> None:
    hidden = attack("en").encode().hex()
    rows = [
        row(attack("en"), is_attack=True, group="Azure/PyRIT (fork romanlutz/PyRIT)"),
        row(hidden, is_attack=True, group=DERIVED, obfuscation="hex"),
        row("6e 6f", is_attack=True, group=DERIVED, obfuscation="hex"),
        row("words", group="x/1"),
        row("words too", group="x/2"),
    ]
    groups = with_origins(rows, tools)
    assert groups[:3] == [rows[0].group, rows[0].group, ""]
    folds = folds_of(groups)
    assert folds[0] == folds[1]
    assert folds[2] == NO_FOLD
    assert set(folds[3:]) <= set(range(FOLDS))


def test_what_begins_alike_has_one_number(tools: Tools) -> None:
    texts = ("Read  THIS now", "read this, now", "read that now")
    rows = [row(text, place=place) for place, text in enumerate(texts)]
    inside = replace(rows[2], id=EMBEDDED + rows[2].id, text="Something else. read that now")
    first, second, third, fourth = openings([*rows, inside], tools)
    assert first == second != third == fourth


@given(st.lists(st.tuples(st.floats(-9, 9), st.booleans()), min_size=2, max_size=200))
def test_a_calibration_rises(items: list[tuple[float, bool]]) -> None:
    logits = np.array([logit for logit, _ in items] + [-10.0, 10.0])
    attacks = np.array([truth for _, truth in items] + [False, True])
    made = calibrate(logits, attacks)
    assert (np.diff(made.scores) >= 0).all()
    assert (np.diff(made.logits) >= 0).all()
    assert made.scores.min() > 0
    assert made.scores.max() < 1


def test_a_calibration_states_the_share_at_the_base_rate() -> None:
    draw = np.random.default_rng(1)
    attacks = draw.random(20_000) < 0.5
    assert calibrate(np.zeros(20_000), attacks)(np.array([0.0]))[0] == pytest.approx(BASE_RATE)


@pytest.mark.parametrize(
    ("found", "of", "low", "high"), [(0, 0, 0, 1), (0, 10, 0, 0.2775), (10, 10, 0.7225, 1), (5, 10, 0.2366, 0.7634)]
)
def test_intervals_are_wilson_s(found: int, of: int, low: float, high: float) -> None:
    assert interval(found, of) == pytest.approx((low, high), abs=1e-4)


def test_texts_that_were_written_are_read_the_same_every_time() -> None:
    rows = read_authored(2, seed=1)
    assert rows == read_authored(2, seed=1)
    assert {item.attack for item in rows} == {True, False}
    others = [item for item in rows if not item.attack]
    inside = embedded(rows, others, seed=1)
    by_id = {item.id: item for item in rows}
    assert inside
    assert all(by_id[item.id.removeprefix(EMBEDDED)].text in item.text for item in inside)


def test_a_line_is_expanded_to_its_readings() -> None:
    (line,) = [text for _, text in read_lines(AUTHORED / "benign_en.txt") if text.startswith("{Run|Please run|")]
    made = [item.text for item in read_authored(10, seed=1) if item.text.split()[0] in {"Run", "Now", "Please"}]
    assert len({text for text in made if "npm install" in text or "pytest -q" in text}) > 1
    assert not any(text.startswith("{") for text in made)
    assert "|" in line


def test_the_page_is_the_one_of_the_packaged_card(tmp_path: Path) -> None:
    """After training anew, docs/reference/injection-model.md is what the script writes."""
    packaged = read_artifact()
    policy = json.loads((card.PLACE.parents[2] / "infra" / "policy" / "demo" / "recall.json").read_text("utf-8"))
    card.write(tmp_path / "page.md", packaged.card, policy["detector_revision"])
    assert (tmp_path / "page.md").read_text("utf-8") == card.PLACE.read_text("utf-8")
