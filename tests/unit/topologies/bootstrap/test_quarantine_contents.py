"""The texts of a request that an automatic entry can be about: each that is fingerprinted, and no other."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pratique.contract import avro
from pratique.contract.narrative import CANDIDATE_SCHEMA
from pratique.contract.records import Origin
from tests.unit.streams.application.compactions import CASE, request
from tests.unit.streams.domain.compaction.builders import CLEAN
from tests.vectors.contract_samples import RECALL
from topologies.bootstrap.quarantine import contents_of_request

NARRATIVE = {"schema_version": CANDIDATE_SCHEMA, "narrative_text": "It took the whole afternoon."}


@pytest.mark.parametrize(
    ("changes", "expected"), [({}, [CLEAN]), (NARRATIVE, [CLEAN, NARRATIVE["narrative_text"]]), ({"x": 1}, [])]
)
def test_a_candidate_s_free_texts(changes: dict[str, object], expected: list[str]) -> None:
    asked = request(candidate_json=json.dumps({**CASE.candidate(), **changes}))
    assert list(contents_of_request(avro.encode(asked), Origin.COMPACTION)) == expected


def test_a_recall_s_memories() -> None:
    asked = replace(RECALL, entries=tuple(replace(item, content="one") for item in RECALL.entries))
    assert list(contents_of_request(avro.encode(asked), Origin.RECALL)) == ["one"] * len(asked.entries)
    assert list(contents_of_request(b"no request", Origin.RECALL)) == []
