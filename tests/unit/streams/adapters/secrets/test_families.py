"""Each rule with its own hits and near misses, and what holds for all of them."""

from __future__ import annotations

import base64
from functools import cache

import pytest
import re2

from streams.adapters.secrets.families import Families, Family, Rule, family_files, fold, load_families

LANGUAGES = {"en", "de", "fr", "es", "pt", "it", "nl", "pl", "tr", "ru", "uk", "zh", "ja", "ko", "ar", "hi"}


@cache
def families() -> tuple[Family, ...]:
    return load_families()


@cache
def together() -> Families:
    return Families(families())


def rules() -> list[tuple[Rule, dict[str, list[str]]]]:
    return [(Rule.of(body["family"], rule), rule) for body in family_files() for rule in body["rules"]]


RULES = rules()
by_rule = pytest.mark.parametrize(("rule", "body"), RULES, ids=[rule.name for rule, _ in RULES])


@by_rule
def test_a_rule_finds_its_hits_and_leaves_its_near_misses(rule: Rule, body: dict[str, list[str]]) -> None:
    assert body["hits"]
    assert body["near_misses"]
    for text in map(base64.b64decode, body["hits"]):
        assert list(rule.matches(text)), text
    for text in map(base64.b64decode, body["near_misses"]):
        assert not list(rule.matches(text)), text


@by_rule
def test_a_family_finds_what_its_rule_finds(rule: Rule, body: dict[str, list[str]]) -> None:
    family = next(item for item in families() if rule.name.startswith(f"{item.name}."))
    for text in map(base64.b64decode, body["hits"]):
        assert set(rule.matches(text)) <= set(family.matches(text))


@by_rule
def test_whatever_a_pattern_matches_holds_what_its_rule_needs(rule: Rule, body: dict[str, list[str]]) -> None:
    compiled = re2.compile(rule.pattern.encode())
    for text in map(base64.b64decode, body["hits"]):
        found = compiled.search(text)
        assert found is not None
        matched = fold(found.group()) if rule.folded else found.group()
        assert not rule.needs or any(literal in matched for literal in rule.needs)
    assert rule.needs or not rule.apart


@by_rule
def test_all_families_find_what_each_of_them_finds(rule: Rule, body: dict[str, list[str]]) -> None:  # noqa: ARG001
    for text in map(base64.b64decode, [*body["hits"], *body["near_misses"]]):
        each = {match for family in families() for match in family.matches(text)}
        assert set(together().matches(text)) == each


def test_names_are_unique_and_every_language_speaks_of_passwords_and_codes() -> None:
    names = [rule.name for rule, _ in RULES]
    assert len(names) == len(set(names))
    spoken = {f"spoken-credentials.{kind}-{language}" for kind in ("password", "code") for language in LANGUAGES}
    assert spoken <= set(names)


def test_no_example_stands_in_a_file_in_clear() -> None:
    for body in family_files():
        for rule in body["rules"]:
            for example in [*rule["hits"], *rule["near_misses"]]:
                assert base64.b64encode(base64.b64decode(example)).decode() == example
