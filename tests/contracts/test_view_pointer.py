"""What look-ups read, on a real Redis: changed by whoever knows what it is, and by nobody else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from pratique.errors import RefusedError
from streams.adapters.redis_keys import POINTER, Pointer
from streams.adapters.redis_ledger import PointerMovedError, ViewConflictError, ViewMaintenance
from tests.contracts.quarantine_redis import ViewServer
from topologies.bootstrap import ledger_generations
from topologies.bootstrap.ledger_generations import begin, new_generation, switch
from topologies.settings import Settings

OLD, NEW = Pointer("1000", 3, "g1"), Pointer("2000", 3, "g1")
"""Before and after a rebuild."""
ROTATING = replace(OLD, following="g2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pointer")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[ViewServer]:
    server = ViewServer(folder)
    yield server
    server.stop()


@pytest.fixture
def maintenance(server: ViewServer) -> ViewMaintenance:
    server.reset()
    server.admin.unlink(POINTER)
    return ViewMaintenance(server.admin)


@pytest.fixture(scope="module")
def settings(server: ViewServer, folder: Path) -> Settings:
    settings = Settings.read({"PRATIQUE_REDIS_URL": server.url, "PRATIQUE_KEYS": str(folder / "keys")})
    for generation in ("g1", "g2"):
        new_generation(settings, generation, None)
    return settings


@pytest.mark.parametrize(
    ("found", "before", "after"),
    [
        (None, None, OLD),
        (OLD, OLD, NEW),
        (OLD, OLD, ROTATING),
        (ROTATING, ROTATING, replace(OLD, generation="g2")),
        (NEW, OLD, NEW),  # sent twice: a connection was closed before it answered
        (replace(OLD, namespace="999"), replace(OLD, namespace="999"), OLD),  # numbers, not texts, are compared
    ],
)
def test_who_knows_what_it_is_changes_it(
    maintenance: ViewMaintenance, found: Pointer | None, before: Pointer | None, after: Pointer
) -> None:
    if found is not None:
        maintenance.flip(found, before=None)
    maintenance.flip(after, before=before)
    assert maintenance.pointer() == after


@pytest.mark.parametrize(
    ("found", "before", "after"),
    [
        (NEW, OLD, ROTATING),
        (ROTATING, OLD, NEW),
        (replace(OLD, generation="g2"), ROTATING, replace(NEW, following="g2")),
        (replace(OLD, partition_count=4), OLD, NEW),
        (OLD, None, NEW),
        (None, OLD, NEW),
    ],
)
def test_who_knows_another_one_is_refused_and_told(
    maintenance: ViewMaintenance, found: Pointer | None, before: Pointer | None, after: Pointer
) -> None:
    if found is not None:
        maintenance.flip(found, before=None)
    with pytest.raises(PointerMovedError, match="give the command again") as refused:
        maintenance.flip(after, before=before)
    assert maintenance.pointer() == found
    for stated, word in ((found, "found"), (before, "expected")):
        assert f"{word} {'no view' if stated is None else f'view {stated.namespace}'}" in str(refused.value)


def test_look_ups_never_go_back_to_an_earlier_view(maintenance: ViewMaintenance) -> None:
    maintenance.flip(NEW, before=None)
    with pytest.raises(ViewConflictError, match="LOWER"):
        maintenance.flip(OLD, before=NEW)
    assert maintenance.pointer() == NEW


def test_what_is_malformed_is_taken_for_nothing(server: ViewServer, maintenance: ViewMaintenance) -> None:
    server.admin.hset(POINTER, "namespace", OLD.namespace)
    maintenance.flip(NEW, before=None)
    assert maintenance.pointer() == NEW


def test_functions_of_an_earlier_release_are_told(server: ViewServer, maintenance: ViewMaintenance) -> None:
    earlier = "#!lua name=pratique\nredis.register_function('pratique_open', function() return 0 end)"
    server.admin.function_load(earlier, replace=True)
    with pytest.raises(RefusedError, match="pratique ledger rebuild"):
        maintenance.flip(NEW, before=None)


@pytest.mark.parametrize(
    ("found", "step"), [(OLD, lambda settings: begin(settings, "g2")), (ROTATING, switch)], ids=["begin", "switch"]
)
def test_a_step_of_a_rotation_does_not_undo_a_rebuild(
    maintenance: ViewMaintenance,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    found: Pointer,
    step: Callable[[Settings], object],
) -> None:
    """The rebuild ends while the step reads the ledger."""
    rebuilt = replace(found, namespace=NEW.namespace)

    def read_heads(*_: object) -> tuple[dict[str, str], frozenset[str]]:
        if maintenance.pointer() == found:
            maintenance.flip(rebuilt, before=found)
        return {}, frozenset()

    maintenance.flip(found, before=None)
    monkeypatch.setattr(ledger_generations, "ledger_log", nullcontext)
    monkeypatch.setattr(ledger_generations, "read_heads", read_heads)
    with pytest.raises(RefusedError, match=r"found view 2000 .* expected view 1000 "):
        step(settings)
    assert maintenance.pointer() == rebuilt
    step(settings)
    now = maintenance.pointer()
    assert now is not None
    assert (now.namespace, "g2" in (now.generation, now.following)) == (NEW.namespace, True)
