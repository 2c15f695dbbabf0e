"""Which entries a key generation would leave behind."""

from __future__ import annotations

from streams.domain.quarantine.generation import uncovered
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.transition import Head

OLD, NEW = "2026-1", "2027-1"
MARK, SUCCESSOR = "1" * 64, "2" * 64


def key(tenant_id: str | None, mark: str) -> LedgerKey:
    return LedgerKey.of(Scope.GLOBAL if tenant_id is None else Scope.TENANT, tenant_id, mark)


def head(generation: str, replaces: str | None = None, *, quarantined: bool = True) -> Head:
    return Head(1, bytes(32), None, quarantined, generation, None if replaces is None else bytes.fromhex(replaces))


def test_what_is_carried_over_for_one_is_not_for_another() -> None:
    heads = {key(tenant_id, MARK): head(OLD) for tenant_id in ("tenant-a", "tenant-b", None)}
    heads[key("tenant-a", SUCCESSOR)] = head(NEW, MARK)
    assert uncovered(heads.items(), OLD) == [key(None, MARK), key("tenant-b", MARK)]


def test_an_entry_that_was_taken_out_covers_nothing_and_needs_nothing() -> None:
    heads = {key("tenant-a", MARK): head(OLD), key("tenant-a", SUCCESSOR): head(NEW, MARK, quarantined=False)}
    assert uncovered(heads.items(), OLD) == [key("tenant-a", MARK)]
    assert not uncovered([(key("tenant-a", MARK), head(OLD, quarantined=False))], OLD)
