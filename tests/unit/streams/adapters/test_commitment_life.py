"""A task's commitments and their signers, over a real repository: replayed, out of date, rotated, revoked, skewed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pratique.contract import avro
from pratique.contract.canonical import JsonValue
from pratique.contract.reasons import ReasonCode
from pratique.contract.signing import Ed25519Signer
from pratique.contract.trust import KeyRole
from pratique.keyfiles import public_base64
from streams.adapters.key_files import KeyFiles
from streams.adapters.tuf_store import TufPolicyStore
from streams.application.admission import admit_compaction
from streams.application.pinning import Pinning
from streams.application.trusting import LastKnownTrust
from streams.domain.policy.commitments import sign_commitments
from tests.fakes.policy import DAY_MS, MINUTE_MS, NOW_MS, PolicyWorld
from tests.unit.streams.application.compactions import request

TENANT, TASK = "tenant-a", "task-1"
Forge = Callable[["Life"], bytes]


@dataclass
class Life:
    """A tenant's commitments, the intake that reads them, and who may sign them."""

    world: PolicyWorld
    store: TufPolicyStore
    pinning: Pinning

    def signer(self, role: KeyRole = KeyRole.COMMITMENT_SIGNER, tenant_id: str = TENANT) -> Ed25519Signer:
        (signer,) = KeyFiles(self.world.directory / "keys", {}).signers(role, tenant_id)
        return signer

    def signed(
        self,
        signer: Ed25519Signer | None = None,
        *,
        task_id: str = TASK,
        tenant_id: str = TENANT,
        begins_ms: int = 0,
        ends_ms: int = MINUTE_MS,
    ) -> bytes:
        """Return an envelope: the tenant's standing commitments for a task, from and to moments counted from now."""
        return sign_commitments(
            self.world.store().pin(TENANT, "default").standing_for(TENANT),
            signer or self.signer(),
            tenant_id=tenant_id,
            task_id=task_id,
            not_before_ms=self.world.clock() + begins_ms,
            expires_ms=self.world.clock() + ends_ms,
        )

    def code(self, envelope: bytes) -> ReasonCode | None:
        """Return what intake refuses a request with that brings an envelope; null where it opens it."""
        asked, now_ms = request(tenant_id=TENANT, task_id=TASK, commitments=envelope), self.world.clock()
        admission = admit_compaction(
            asked,
            avro.encode(asked),
            pin=lambda: self.pinning.pin(asked, now_ms),
            within_quota=True,
            now_ms=now_ms,
        )
        assert admission.opened.opened is not None
        codes = [reason.code for reason in admission.opened.opened.refusal]
        assert (admission.work is None) is bool(codes)
        return ReasonCode(codes[0]) if codes else None

    def trust(self, change: Callable[[list[dict[str, JsonValue]]], object]) -> None:
        """Publish a trust target whose keys were changed, and let a minute pass."""
        value = json.loads((self.world.source / "trust.json").read_text())
        change(value["keys"])
        self.world.edit("trust.json", revision=value["revision"] + 1, keys=value["keys"])
        self.world.publish()
        self.world.clock.now_ms += MINUTE_MS

    def mine(self, keys: list[dict[str, JsonValue]]) -> dict[str, JsonValue]:
        """Return the trust target's row of the tenant's commitment signer."""
        (row,) = (row for row in keys if row["key_id"] == self.signer().key_id)
        return row


@pytest.fixture
def life(world: PolicyWorld) -> Life:
    store = world.store()
    return Life(world, store, Pinning(store, LastKnownTrust(store)))


CASES: dict[str, tuple[Forge, ReasonCode | None]] = {
    "as it should be": (Life.signed, None),
    "replayed for another task": (lambda life: life.signed(task_id="task-2"), ReasonCode.COMMITMENTS_STALE),
    "for another tenant": (lambda life: life.signed(tenant_id="tenant-b"), ReasonCode.COMMITMENTS_STALE),
    "another tenant's, by its own signer": (
        lambda life: life.signed(life.signer(tenant_id="tenant-b"), tenant_id="tenant-b"),
        ReasonCode.SIGNER_NOT_AUTHORISED,
    ),
    "by another tenant's signer": (
        lambda life: life.signed(life.signer(tenant_id="tenant-b")),
        ReasonCode.SIGNER_NOT_AUTHORISED,
    ),
    "by the tenant's publisher": (
        lambda life: life.signed(life.signer(KeyRole.PUBLISHER)),
        ReasonCode.SIGNER_NOT_AUTHORISED,
    ),
    "by a key that nobody knows": (
        lambda life: life.signed(Ed25519Signer("stranger", Ed25519PrivateKey.generate())),
        ReasonCode.SIGNER_NOT_AUTHORISED,
    ),
    "by a stranger under the signer's id": (
        lambda life: life.signed(Ed25519Signer(life.signer().key_id, Ed25519PrivateKey.generate())),
        ReasonCode.SIGNATURE_INVALID,
    ),
    "expired": (lambda life: life.signed(begins_ms=-MINUTE_MS, ends_ms=0), ReasonCode.COMMITMENTS_STALE),
    "a moment before its end": (lambda life: life.signed(begins_ms=-MINUTE_MS, ends_ms=1), None),
    "by a clock that runs ahead": (lambda life: life.signed(begins_ms=1), ReasonCode.COMMITMENTS_STALE),
}


@pytest.mark.parametrize("name", CASES)
def test_commitments_hold_for_their_task_their_time_and_by_their_signer(life: Life, name: str) -> None:
    forge, code = CASES[name]
    assert life.code(forge(life)) is code


def test_commitments_under_a_policy_that_was_replaced_are_stale(life: Life) -> None:
    envelope = life.signed()
    life.world.edit("compaction.json", summary_min_length=99)
    life.world.publish()
    life.world.clock.now_ms += MINUTE_MS // 2
    assert life.code(envelope) is ReasonCode.COMMITMENTS_STALE
    assert life.code(life.signed()) is None


def test_a_signer_s_key_is_rotated_with_an_overlap(life: Life) -> None:
    key = Ed25519PrivateKey.generate()
    new, old = Ed25519Signer("rotated-1", key), life.signer()

    def add(keys: list[dict[str, JsonValue]]) -> None:
        start = {"not_before_ms": NOW_MS + MINUTE_MS}
        keys.append({**life.mine(keys), "key_id": new.key_id, "public": public_base64(key), **start})

    life.trust(add)
    held = (old.key_id, new.key_id)
    assert life.store.trust().choose_key(held, KeyRole.COMMITMENT_SIGNER, TENANT, NOW_MS) == old.key_id
    assert life.store.trust().choose_key(held, KeyRole.COMMITMENT_SIGNER, TENANT, life.world.clock()) == new.key_id
    assert life.code(life.signed(old)) is None
    assert life.code(life.signed(new)) is None
    life.trust(lambda keys: keys.remove(life.mine(keys)))
    assert life.code(life.signed(old)) is ReasonCode.SIGNER_NOT_AUTHORISED
    assert life.code(life.signed(new)) is None


def test_a_revoked_signer_signs_nothing_not_even_what_it_signed_before(life: Life) -> None:
    before = life.signed(ends_ms=DAY_MS)
    assert life.code(before) is None
    life.trust(lambda keys: keys.remove(life.mine(keys)))
    assert life.code(before) is ReasonCode.SIGNER_NOT_AUTHORISED


def test_a_revocation_that_a_mirror_hides_is_in_force_when_the_metadata_expires(life: Life) -> None:
    yesterday = life.world.copy_repository("yesterday")
    before = life.signed(ends_ms=2 * DAY_MS)
    life.world.edit("trust.json", revision=2)
    life.world.publish()
    life.world.restore_repository(yesterday)
    life.world.clock.now_ms += DAY_MS - 1
    assert life.code(before) is None
    life.world.clock.now_ms += 1
    assert life.code(before) is ReasonCode.POLICY_EXPIRED


def test_a_signer_s_key_that_expired_or_has_not_begun_signs_nothing(life: Life) -> None:
    def period(begins_ms: int, ends_ms: int) -> Callable[[list[dict[str, JsonValue]]], object]:
        return lambda keys: life.mine(keys).update({"not_before_ms": begins_ms, "expires_ms": ends_ms})

    life.trust(period(NOW_MS, NOW_MS + MINUTE_MS))
    assert life.code(life.signed()) is ReasonCode.SIGNER_NOT_AUTHORISED
    life.trust(period(NOW_MS + 3 * MINUTE_MS, NOW_MS + DAY_MS))
    assert life.code(life.signed()) is ReasonCode.SIGNER_NOT_AUTHORISED
    life.world.clock.now_ms = NOW_MS + 3 * MINUTE_MS
    assert life.code(life.signed()) is None
