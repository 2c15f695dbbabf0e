"""Every scenario means what it says: the consistency check alone gives the reasons that are its to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from infra.stack import samples, scenarios
from infra.stack.scenarios import ACCEPTED, Ending, Scenario
from pratique.client import Gate
from pratique.contract.digests import message_sha256
from pratique.contract.records import Provenance, Role
from pratique.contract.signing import Ed25519Signer
from pratique.keyfiles import load_ed25519
from pratique.repository import RepositoryPolicies
from streams.application.consistency import check_compaction
from streams.domain.compaction.compiler import compile_grammar
from streams.domain.policy.model import PolicySet
from streams.wire.candidate import read_candidate
from tests.fakes.kafka import FakeKafka, FakeTransport
from tests.fakes.policy import NOW_MS, PolicyWorld, make_development_set

if TYPE_CHECKING:
    from streams.domain.compaction.grammar import Grammar

FOUND_BY_THE_SCANNER = {"SECRET", "INJECTION", "INSTRUCTION_LAUNDERED"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> PolicyWorld:
    directory = tmp_path_factory.mktemp("scenarios") / "policy"
    make_development_set(directory)
    return PolicyWorld(directory)


@pytest.fixture(scope="module")
def gate(world: PolicyWorld) -> Gate:
    (key,) = (world.directory / "keys" / "publisher" / scenarios.TENANT).glob("*.pem")
    signer: Ed25519Signer = load_ed25519(key)
    return Gate(
        transport=FakeTransport(FakeKafka()),
        policies=RepositoryPolicies(world.reader(), world.clock),
        signer=signer,
        tenant_id=scenarios.TENANT,
        policy_id=scenarios.DEFAULT_POLICY,
        clock=lambda: NOW_MS,
    )


@pytest.fixture(scope="module")
def pinned(world: PolicyWorld) -> PolicySet:
    return world.store().pin(scenarios.TENANT, scenarios.DEFAULT_POLICY)


@pytest.fixture(scope="module")
def grammar(pinned: PolicySet) -> Grammar:
    return compile_grammar(pinned.grammar)


def codes(scenario: Scenario, gate: Gate, pinned: PolicySet, grammar: Grammar) -> list[str]:
    request = scenario.request(gate)
    candidate = read_candidate(request.candidate_json, max_bytes=pinned.compaction.max_candidate_bytes)
    assert pinned.standing is not None
    result = check_compaction(request, candidate, pinned, pinned.standing, grammar)
    return list(dict.fromkeys(reason.code.value for reason in result.reasons))


@pytest.mark.parametrize("scenario", scenarios.judged_alike(), ids=lambda scenario: scenario.name)
def test_the_consistency_check_gives_exactly_the_reasons_that_are_its_own(
    scenario: Scenario, gate: Gate, pinned: PolicySet, grammar: Grammar
) -> None:
    expected = [code for code in scenario.expected.codes if code not in FOUND_BY_THE_SCANNER]
    assert codes(scenario, gate, pinned, grammar) == expected


@pytest.mark.parametrize("name", samples.names())
def test_every_sample_has_a_faithful_summary(name: str, gate: Gate, pinned: PolicySet, grammar: Grammar) -> None:
    scenario = Scenario(name, name, samples.conversation(name), ACCEPTED)
    assert codes(scenario, gate, pinned, grammar) == []


def test_only_what_a_person_wrote_is_trusted() -> None:
    for name in samples.names():
        for message in samples.conversation(name).messages:
            assert (message.provenance is Provenance.TRUSTED) == (message.role is Role.USER)


def test_a_batch_has_as_many_source_populations_as_requests(gate: Gate, pinned: PolicySet, grammar: Grammar) -> None:
    batch = scenarios.batch(14)
    populations = {tuple(message_sha256(message) for message in item.sample.messages) for item in batch}
    assert len(populations) == 14
    assert codes(batch[-1], gate, pinned, grammar) == []


def test_names_are_distinct_and_every_quarantine_has_a_reason() -> None:
    rows = (
        *scenarios.judged_alike(),
        scenarios.foreign_signer(),
        scenarios.altered_policy(),
        scenarios.unscanned(),
    )
    assert len({row.name for row in rows}) == len(rows)
    assert len({row.title for row in rows}) == len(rows)
    for row in rows:
        assert bool(row.expected.codes) == (row.expected.ending is not Ending.ACCEPTED)


def test_a_secret_is_in_no_message_but_the_one_that_was_added() -> None:
    plain, encoded = scenarios.secrets()
    token = samples.token()
    assert [token in message.content for message in plain.sample.messages].count(True) == 1
    assert not any(token in message.content for message in encoded.sample.messages)
    assert token in plain.sample.summary
    assert token not in encoded.sample.summary


def test_a_clause_that_is_not_there_cannot_be_taken_out() -> None:
    with pytest.raises(ValueError, match="not in list"):
        samples.conversation("read-command").without("Do not expose secrets.")
