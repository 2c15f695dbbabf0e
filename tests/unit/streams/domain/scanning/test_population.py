"""Every string of the four roots is one field; nothing else is."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.errors import MalformedError
from streams.domain.scanning.population import Field, population_of, scan_population
from tests.unit.streams.domain.scanning.builders import CONTEXT, context

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)
TEXTS = st.lists(TEXT, min_size=1, max_size=5).map(tuple)


def test_the_paths_are_the_seed_s() -> None:
    assert [field.path for field in scan_population(CONTEXT).fields] == [
        "summary_text",
        "retained_safety_invariant_ids[0]",
        "retained_policy_commitment_ids[0]",
        "retained_policy_commitment_ids[1]",
        "source_message_sha256s[0]",
        "source_message_sha256s[1]",
    ]


def test_the_digest_is_over_the_four_roots_without_escapes() -> None:
    roots = {
        "summary_text": "Grüße 🙂",
        "retained_safety_invariant_ids": ["SAFETY-1"],
        "retained_policy_commitment_ids": ["COMMIT-1", "COMMIT-2"],
        "source_message_sha256s": ["d" * 64, "e" * 64],
    }
    text = json.dumps(roots, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert scan_population(context(summary_text="Grüße 🙂")).sha256 == sha256(text.encode()).hexdigest()


def test_claims_are_no_part_of_it() -> None:
    assert scan_population(context(preserved_constraint_claims=())) == scan_population(CONTEXT)


@given(TEXT, TEXTS, TEXTS, TEXTS)
def test_the_fields_give_the_population_back(
    summary: str, invariants: tuple[str, ...], commitments: tuple[str, ...], digests: tuple[str, ...]
) -> None:
    population = scan_population(
        context(
            summary_text=summary,
            retained_safety_invariant_ids=invariants,
            retained_policy_commitment_ids=commitments,
            source_message_sha256s=digests,
        )
    )
    assert population_of(population.fields) == population.population
    assert population.field_count == len(population.fields) == 1 + len(invariants) + len(commitments) + len(digests)


@pytest.mark.parametrize(
    "empty", [{"summary_text": ""}, {"retained_safety_invariant_ids": ("A", "")}, {"source_message_sha256s": ("",)}]
)
def test_an_empty_field_is_nothing_scanned(empty: dict[str, object]) -> None:
    with pytest.raises(MalformedError):
        scan_population(context(**empty))


@pytest.mark.parametrize(
    "paths",
    [
        [],
        ["retained_safety_invariant_ids[0]"],
        ["summary_text", "summary_text"],
        ["summary_text", "retained_safety_invariant_ids[1]"],
        ["summary_text", "retained_safety_invariant_ids[0]", "retained_safety_invariant_ids[0]"],
        ["summary_text", "source_message_sha256s[0]", "retained_safety_invariant_ids[0]"],
        ["summary_text", "preserved_constraint_claims[0]"],
        ["summary_text", "retained_safety_invariant_ids[0"],
    ],
)
def test_fields_of_no_population_are_refused(paths: list[str]) -> None:
    with pytest.raises(MalformedError):
        population_of([Field(path, "x") for path in paths])
