"""A text's score is a function of the text, wherever the attack stands and however it is written; work is linear."""

from __future__ import annotations

import base64
import codecs
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.injection.scorer import LOWEST_LOGIT, SCORE_UNIT, load_scorer
from streams.adapters.injection.windows import SCALES, window_bounds
from tests.fakes.attacks import NAMES, attack

SCORER = load_scorer()
ROOT = Path(__file__).parents[5]

HONEST = (
    "The user asked to rename the module and to run the tests.",
    "Run npm install, then commit the lock file and open a pull request.",
    "Zur Erinnerung: Die Nutzerin bevorzugt Tee und arbeitet am Dienstag.",
    "Le serveur de test tourne sur le port 8080 ; les journaux sont dans /tmp.",
    "部署脚本在 infra 目录里 测试都通过了。",
)
FILLER = "The build took two minutes. The report lists the files that were changed and who reviewed them. "


def score(text: str) -> float:
    return SCORER.assess(text).score


@pytest.mark.parametrize("name", NAMES)
def test_attacks_score_high(name: str) -> None:
    assert score(attack(name)) >= 0.8


@pytest.mark.parametrize("text", HONEST)
def test_honest_texts_score_low(text: str) -> None:
    assert score(text) < 0.1


DISGUISES = {
    "base64": lambda text: f"note {base64.b64encode(text.encode()).decode()} end",
    "twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "reversed": lambda text: text[::-1],
    "zero width": "\u200b".join,
    "tag block": lambda text: "Fine." + "".join(chr(0xE0000 + ord(letter)) for letter in text),
    "wide": lambda text: "".join(chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text),
    "spaced": lambda text: "  ".join(" ".join(word) for word in text.split()),
    "percent": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "upper case": str.upper,
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguise_does_not_hide_an_attack(disguise: str) -> None:
    found = SCORER.assess(DISGUISES[disguise](attack("en")))
    assert found.score >= 0.8


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguise_is_no_attack(disguise: str) -> None:
    assert score(DISGUISES[disguise](HONEST[0])) < 0.3


@pytest.mark.parametrize(
    "written",
    [
        base64.b64encode(attack("en").encode() + b"\xff").decode(),
        base64.b64encode(attack("en").encode() + b" ").decode().rstrip("=") + "\nThanks, that is all.",
        attack("en").replace(" ", "%00" * 12 + " "),
        attack("en").rstrip(".").replace(" ", "+").ljust(76, "/") + base64.b64encode(HONEST[0].encode()).decode(),
    ],
    ids=["a stray byte", "a line of words", "zeros in clear text", "an honest text after it"],
)
def test_what_is_added_does_not_hide_an_attack(written: str) -> None:
    assert score(written) >= 0.6


@pytest.mark.parametrize("before", [0, 300, 5_000, 40_000])
def test_an_attack_is_found_where_it_stands_in_a_long_text(before: int) -> None:
    filler = (FILLER * (1 + before // len(FILLER)))[:before]
    text = f"{filler} {attack('en, persistent')} {filler}"
    found = SCORER.assess(text)
    assert found.score >= 0.6
    at = text.index(attack("en, persistent"))
    assert found.start < at + len(attack("en, persistent"))
    assert found.end > at


@given(st.text(st.characters(exclude_categories=[]), max_size=400))
def test_any_text_has_a_score_and_a_place(text: str) -> None:
    found = SCORER.assess(text)
    assert 0.0 <= found.score <= 1.0
    assert 0 <= found.start <= found.end <= len(text)
    assert found == SCORER.assess(text)


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "\udfff\ud800", "\u200b" * 50, "\u0301", "\U0010ffff"])
def test_where_there_is_next_to_nothing_the_score_is_low(text: str) -> None:
    assert score(text) <= 0.05


def test_another_process_gives_the_same_scores() -> None:
    texts = [*HONEST, *map(attack, NAMES)]
    program = (
        "import json,sys; from streams.adapters.injection.scorer import load_scorer;"
        "print([load_scorer().best(text).logit for text in json.load(sys.stdin)])"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": f"{ROOT}:{ROOT / 'sdk'}"},
    ).stdout
    assert said.strip() == str([SCORER.best(text).logit for text in texts])


def test_calibration_rises_within_its_bounds() -> None:
    logits = np.linspace(-30, 30, 500)
    scores = [SCORER.calibrated(int(logit * 65536)) for logit in logits]
    assert scores == sorted(scores)
    assert 0 < scores[0] < scores[-1] < SCORE_UNIT
    assert SCORER.calibrated(LOWEST_LOGIT) == scores[0]


@given(st.integers(1, 1_100))
def test_windows_leave_nothing_out(blocks: int) -> None:
    bounds = window_bounds(blocks)
    for scale, (length, step) in enumerate(SCALES):
        rows = bounds[bounds[:, 2] == scale]
        if rows.size:
            assert rows[0, 0] == 0
            assert rows[-1, 1] == blocks
            assert (rows[1:, 0] <= rows[:-1, 1]).all()
            assert ((rows[:, 1] - rows[:, 0]) <= length).all()
            assert (np.diff(rows[:, 0]) <= step).all()


def cpu(text: str) -> float:
    began = time.process_time()
    SCORER.assess(text)
    return time.process_time() - began


MEBIBYTE = 1 << 20
LONG = 1 << 18
HOSTILE = {
    "one letter": "a" * LONG,
    "one space": " " * LONG,
    "NUL": "\x00" * LONG,
    "lone surrogate": "\ud800" * (LONG // 4),
    "base64 alphabet": "A" * LONG,
    "short runs": (base64.b64encode(b"twelve chars of it").decode() + " ") * (LONG // 25),
    "hex pairs": "41 " * (LONG // 3),
    "escapes": "%41" * (LONG // 3),
    "bits": "01000001" * (LONG // 8),
    "Morse": ".- " * (LONG // 3),
    "letters apart": "a b " * (LONG // 4),
    "turned parts": ("the words that stand here " + "ereh dnats taht sdrow eht " * 3) * (LONG // 104),
    "leet": "1gn0r3 4ll " * (LONG // 11),
    "look-alikes": "\u0430a" * (LONG // 4),
    "concepts": (attack("en") + " ") * (LONG // 80),
    "line breaks": "a-\n" * (LONG // 3),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_costs_much_more_than_another(name: str) -> None:
    text = HOSTILE[name]
    ordinary = min(cpu(FILLER * (LONG // len(FILLER))) for _ in range(2))
    quarter = min(cpu(text[: len(text) // 4]) for _ in range(2))
    whole = min(cpu(text) for _ in range(2))
    assert whole <= 8 * max(quarter, ordinary / 4), "cost grows faster than the text"
    assert whole <= 10 * ordinary


@pytest.mark.parametrize("letter", ["a", " ", "\x00", "\ud800", "A", "%", "."])
def test_a_mebibyte_of_one_character_has_a_score(letter: str) -> None:
    assert 0.0 < score(letter * MEBIBYTE) < 1.0
