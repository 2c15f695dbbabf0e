"""The costliest text for its size: a search with hypothesis, by CPU time.

The contract: texts are made of a few fragments, each repeated, until they have the wanted size: what makes matching,
joining or decoding expensive is a pattern that goes on. Fragments are drawn from a list of suspects and from any
letters. The search maximises CPU time a byte; the costliest it saw are measured once more, each as the median of five
after a first run, and at a larger size too, where anything that grows faster than its text shows. Time decides which
texts are tried, so two searches may differ: what was found once belongs into a test that counts work.
"""

from __future__ import annotations

import heapq
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice, repeat
from typing import Final

from hypothesis import HealthCheck, Phase, given, settings, target
from hypothesis import strategies as st

ROUNDS: Final = 5
KEPT: Final = 6
"""How many of the costliest are measured again."""
MOST_REPEATED: Final = 5_000

Recipe = tuple[tuple[str, int], ...]
"""Fragments, each with how often it stands in a row."""
Run = Callable[[], object]
Prepare = Callable[[str], Run]
"""Text -> what is measured on it; what is prepared is not measured."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The costliest text that was found.

    Attributes:
        recipe: What it is made of.
        ns_per_byte: CPU time of it.
        ns_per_byte_large: The same at the larger size.
        typical_ns_per_byte: CPU time of the typical text.
    """

    recipe: Recipe
    ns_per_byte: float
    ns_per_byte_large: float
    typical_ns_per_byte: float

    @property
    def ratio(self) -> float:
        """Of the typical cost a byte, at either size."""
        return max(self.ns_per_byte, self.ns_per_byte_large) / self.typical_ns_per_byte


def cpu_seconds(run: Run, *, rounds: int = ROUNDS, least: float = 0.0) -> float:
    """Return the CPU time of a run: the median of some, each of as many calls as ``least`` seconds take."""
    run()
    calls = 1
    taken: list[float] = []
    while len(taken) < rounds:
        began = time.process_time()
        for _ in repeat(None, calls):
            run()
        seconds = time.process_time() - began
        if seconds < least and not taken:
            calls = max(calls + 1, int(calls * least / max(seconds, least / 1000)) + 1)
            continue
        taken.append(seconds / calls)
    return statistics.median(taken)


def text_of(recipe: Recipe, characters: int) -> str:
    """Return a text of a size, made of a recipe again and again."""
    pieces = chain.from_iterable([fragment] * count for fragment, count in recipe)
    unit = "".join(pieces)
    return "".join(islice(cycle(unit), characters)) if len(unit) < characters else unit[:characters]


def search(
    prepare: Prepare,
    typical: str,
    suspects: Sequence[str],
    *,
    examples: int = 400,
    characters: int = 8_000,
    larger: int = 4,
    usual: float | None = None,
) -> Worst:
    """Look for the costliest text.

    Args:
        prepare: Makes what is measured of a text.
        typical: An ordinary text.
        suspects: Fragments to try beside any letters.
        examples: How many texts are tried.
        characters: How long they are.
        larger: How many times that the larger size is.
        usual: What a byte usually costs, in nanoseconds; measured over the ordinary text where it is not given.
    """
    if usual is None:
        usual = _ns_per_byte(prepare, typical)
    seen: list[tuple[float, Recipe]] = []
    fragments = st.sampled_from(list(suspects)) | st.text(min_size=1, max_size=6)
    counts = st.sampled_from([1, 1, 1, 2, 3, 7, 64, 500, MOST_REPEATED])
    recipes = st.lists(st.tuples(fragments, counts), min_size=1, max_size=5).map(tuple)

    @settings(
        max_examples=examples,
        phases=(Phase.generate, Phase.target),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(recipes)
    def look(recipe: Recipe) -> None:
        text = text_of(recipe, characters)
        if not _is_sendable(text):
            return
        cost = _once(prepare(text)) * 1e9 / len(text.encode())
        target(cost)
        heapq.heappush(seen, (cost, recipe))
        if len(seen) > KEPT * 4:
            heapq.heappop(seen)

    look()
    again = {recipe for _, recipe in heapq.nlargest(KEPT * 4, seen)}
    measured = [
        Worst(
            recipe,
            _ns_per_byte(prepare, text_of(recipe, characters)),
            _ns_per_byte(prepare, text_of(recipe, characters * larger)),
            usual,
        )
        for recipe in islice(sorted(again, key={recipe: -cost for cost, recipe in seen}.__getitem__), KEPT)
    ]
    return max(measured, key=lambda item: item.ratio)


def _once(run: Run) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def _ns_per_byte(prepare: Prepare, text: str) -> float:
    return cpu_seconds(prepare(text), least=0.005) * 1e9 / len(text.encode())


def _is_sendable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" or letter == "\x00" for letter in text) and bool(text.strip())
