"""Grammars with parts against their languages, written out derivation by derivation (hypothesis)."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from streams.domain.compaction.compiler import compile_grammar, read_clauses
from streams.domain.compaction.slots import Sources
from streams.errors import PolicyError
from tests.unit.streams.domain.compaction.builders import SMALL_GRAMMAR

SLOTS: Final[Mapping[str, tuple[dict[str, Any], tuple[str, ...]]]] = {
    "letters": ({"type": "enumeration", "values": ["ka", "ko"]}, ("ka", "ko")),
    "digits": ({"type": "number", "max_digits": 1}, ("1", "2")),
    "name": ({"type": "identifier", "max_length": 2}, ("ka", "ko", "ku")),
    "said": ({"type": "phrase", "values": ["ka", "ka ko"]}, ("ka", "ka ko")),
}
"""Slots, and what they admit of the texts that are tried."""
WORDS: Final = ("ka", "ko", "ku")
TOKENS: Final = ("ka", "ko", "ku", "1", "2")
MAX_DERIVATIONS: Final = 3000
NO_SOURCES: Final = Sources(frozenset(), {})

TWO_WAYS: Final = ("could be read in two ways", "match one and the same text", "is the same clause as")

Derivation = tuple[str, tuple[int, ...], tuple[str, ...]]
"""A rule, its choices, its values."""


class Author:
    """Writes a clause of drawn parts."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.slots: dict[str, Any] = {}
        self.parts: dict[str, Any] = {}

    def text(self, depth: int) -> str:
        """Return a text in which something is always there."""
        items = [self.item(depth) for _ in range(self.data.draw(st.integers(0, 2)))]
        items.insert(self.data.draw(st.integers(0, len(items))), self.leaf())
        return " ".join(items)

    def leaf(self) -> str:
        drawn = self.data.draw(st.sampled_from([*WORDS, *SLOTS]))
        if drawn in WORDS:
            return drawn
        name = f"s{len(self.slots)}"
        self.slots[name] = SLOTS[drawn][0]
        return f"{{{name}}}"

    def item(self, depth: int) -> str:
        kind = self.data.draw(
            st.sampled_from(["leaf", "optional", "alternatives", "repetition"] if depth else ["leaf"])
        )
        if kind == "leaf":
            return self.leaf()
        name = f"p{len(self.parts)}"
        part: dict[str, Any] = {"type": kind}
        self.parts[name] = part
        if kind == "alternatives":
            texts = [self.text(depth - 1) for _ in range(self.data.draw(st.integers(1, 2)))]
            assume(len(set(texts)) == len(texts))
            part["texts"] = texts
        else:
            part["text"] = self.text(depth - 1)
        if kind == "repetition":
            part["maximum"] = self.data.draw(st.integers(1, 2))
            part["minimum"] = self.data.draw(st.integers(0, part["maximum"]))
        return f"{{{name}}}"


def clause(data: st.DataObject, rule_id: str) -> dict[str, Any]:
    author = Author(data)
    template = f"{author.text(2)}."
    assume(len(author.slots) <= 8)
    made: dict[str, Any] = {"rule_id": rule_id, "template": template, "slots": author.slots, "preserves": []}
    return made | ({"parts": author.parts} if author.parts else {})


def derivation_count(rule: Mapping[str, Any], text: str) -> int:
    """Count the ways in which a text can be derived, without writing one out: nested repetitions reach milliards."""
    return math.prod(_count(rule, word) for word in text.split())


def _count(rule: Mapping[str, Any], word: str) -> int:
    name = word.strip("{}")
    if name in rule["slots"] or name not in rule.get("parts", {}):
        return len(list(_of(rule, word)))
    part = rule["parts"][name]
    if part["type"] == "alternatives":
        return sum(derivation_count(rule, text) for text in part["texts"])
    each = derivation_count(rule, part["text"])
    return sum(each**count for count in _counts(part))


def _counts(part: Mapping[str, Any]) -> range:
    low, high = (0, 1) if part["type"] == "optional" else (part["minimum"], part["maximum"])
    return range(low, high + 1)


def derived(rule: Mapping[str, Any], text: str) -> Iterator[tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]]:
    """Yield the words, choices and values of everything that a text can be."""
    yield from _joined([_of(rule, word) for word in text.split()])


def _joined(items: Sequence[Any]) -> Iterator[Any]:
    for chosen in itertools.product(*(tuple(item) for item in items)):
        yield tuple(tuple(itertools.chain.from_iterable(each)) for each in zip(*chosen, strict=True)) or ((), (), ())


def _of(rule: Mapping[str, Any], word: str) -> Iterator[Any]:
    name = word.strip("{}")
    if name in rule["slots"]:
        admitted = next(texts for slot, texts in SLOTS.values() if slot == rule["slots"][name])
        yield from ((tuple(text.split()), (), (text,)) for text in admitted)
    elif name not in rule.get("parts", {}):
        yield (word,), (), ()
    else:
        yield from _part(rule, rule["parts"][name])


def _part(rule: Mapping[str, Any], part: Mapping[str, Any]) -> Iterator[Any]:
    if part["type"] == "alternatives":
        for index, text in enumerate(part["texts"]):
            yield from ((words, (index, *choices), values) for words, choices, values in derived(rule, text))
        return
    for count in _counts(part):
        for words, choices, values in _joined([list(derived(rule, part["text"]))] * count) if count else [((), (), ())]:
            yield words, (count, *choices), values


def language(rules: Sequence[Mapping[str, Any]]) -> dict[tuple[str, ...], list[Derivation]]:
    """Return each text with all the ways in which it can be read."""
    templates = [(rule, rule["template"].removesuffix(".")) for rule in rules]
    count = sum(derivation_count(rule, template) for rule, template in templates)
    assume(count <= MAX_DERIVATIONS)
    found: dict[tuple[str, ...], list[Derivation]] = defaultdict(list)
    for rule, template in templates:
        for words, choices, values in derived(rule, template):
            found[words].append((rule["rule_id"], choices, values))
    assert sum(map(len, found.values())) == count
    return found


def document(rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    made = deepcopy(dict(SMALL_GRAMMAR))
    made["clauses"] = [item for item in made["clauses"] if item["preserves"]] + list(rules)
    return made


@settings(max_examples=150)
@given(st.data())
def test_a_grammar_is_refused_exactly_if_a_text_can_be_read_in_two_ways_and_else_reads_each_as_it_is(
    data: st.DataObject,
) -> None:
    rules = [clause(data, f"r{index}") for index in range(data.draw(st.integers(1, 2)))]
    texts = language(rules)
    twice = any(len(ways) > 1 for ways in texts.values())
    content = json.dumps(document(rules)).encode()
    if twice:
        with pytest.raises(PolicyError) as refused:
            compile_grammar(content)
        assert any(said in str(refused.value) for said in TWO_WAYS)
        return
    parser = compile_grammar(content).parser
    for words in itertools.islice(texts, 60):
        ((rule_id, choices, values),) = texts[words]
        (parsed,) = parser.parse(f"{' '.join(words)}.", NO_SOURCES).clauses
        assert parsed.rule.rule_id == rule_id
        assert parsed.values == values
        assert parsed.derivation is None or parsed.derivation.choices == choices
    for length in range(1, 4):
        for other in itertools.product(TOKENS, repeat=length):
            if other not in texts:
                assert not parser.parse(f"{' '.join(other)}.", NO_SOURCES).complete


@settings(max_examples=60)
@given(st.data())
def test_what_a_clause_is_shown_by_is_the_clause(data: st.DataObject) -> None:
    rules = [clause(data, "r0")]
    content = json.dumps(document(rules)).encode()
    assume(all(len(ways) == 1 for ways in language(rules).values()))
    grammar = compile_grammar(content)
    authored = read_clauses(content)[-1]
    for text in authored.renderings():
        parse = grammar.parser.parse(text, NO_SOURCES)
        assert parse.complete
        assert parse.clauses[0].rule.rule_id == "r0"
    if authored.combination_count() < MAX_DERIVATIONS:
        combinations = Counter(authored.combinations())
        assert sum(combinations.values()) == authored.combination_count()
        assert set(authored.renderings()) <= set(combinations)
