"""Records and keys are the seed's, byte for byte, and nothing else is read as one."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.document import SAFE_ID
from pratique.contract.partitioning import partition_of
from pratique.errors import MalformedError
from streams.domain.quarantine import record as record_module
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action, QuarantineRecord, as_identifier, parse_record, parse_record_key
from tests.unit.streams.domain.quarantine.builders import FINGERPRINT, record

IDENTIFIER = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
FINGERPRINTS = st.binary(min_size=32, max_size=32).map(bytes.hex)
KEYS = st.builds(LedgerKey.of, st.just(Scope.TENANT), IDENTIFIER, FINGERPRINTS) | st.builds(
    LedgerKey.of, st.just(Scope.GLOBAL), st.none(), FINGERPRINTS
)
RECORDS = st.builds(
    QuarantineRecord,
    KEYS,
    st.integers(1, 2**53 - 1),
    st.sampled_from(Action),
    IDENTIFIER,
    IDENTIFIER,
    IDENTIFIER,
    IDENTIFIER,
    IDENTIFIER,
)


def as_the_seed_does(made: QuarantineRecord) -> str:
    """The seed's ``mutate``, written out again (AID-D-001.005 G002)."""
    base: dict[str, Any] = {
        "schema_version": "aidefend.recall_quarantine.v2",
        "revision": made.revision,
        "action": made.action.value,
        "scope": made.key.scope.value,
        "tenant_id": made.key.tenant_id,
        "fingerprint_hmac_sha256": made.key.fingerprint,
        "incident_id": made.incident_id,
        "actor_id": made.actor_id,
        "authentication_event_id": made.authentication_event_id,
        "policy_version": made.policy_version,
        "detector_version": made.detector_version,
    }
    canonical = json.dumps(base, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    base["event_id"] = hashlib.sha256(canonical).hexdigest()
    return json.dumps(base, sort_keys=True, separators=(",", ":"), allow_nan=False)


@given(RECORDS)
def test_text_is_the_seeds_and_is_read_back(made: QuarantineRecord) -> None:
    assert made.text == as_the_seed_does(made)
    assert parse_record(made.text) == made


@given(RECORDS, st.text(st.characters(), max_size=5), st.integers(2**53, 2**65))
def test_text_is_the_seeds_whatever_it_says(made: QuarantineRecord, said: str, revision: int) -> None:
    odd = replace(made, incident_id=said, revision=revision)
    assert odd.text == as_the_seed_does(odd)


@given(RECORDS, st.sampled_from(["revision", "action", "scope", "tenant_id", "incident_id", "event_id"]))
def test_altered_record_is_malformed(made: QuarantineRecord, name: str) -> None:
    other: dict[str, Any] = {
        "revision": made.revision + 1 if made.revision < 2**53 - 1 else 1,
        "action": "remove" if made.action is Action.ADD else "add",
        "scope": "global" if made.key.scope is Scope.TENANT else "tenant",
        "tenant_id": None if made.key.tenant_id else "tenant-x",
        "incident_id": made.incident_id + "x",
        "event_id": hashlib.sha256(made.text.encode()).hexdigest(),
    }
    altered = json.dumps({**json.loads(made.text), name: other[name]}, sort_keys=True, separators=(",", ":"))
    with pytest.raises(MalformedError):
        parse_record(altered)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace('"action":', '"action": '),
        lambda text: text.replace('"revision":1', '"revision":1.0'),
        lambda text: text.replace('"revision":1', '"revision":true'),
        lambda text: text.replace('"revision":1', '"revision":0'),
        lambda text: text.replace('"revision":1', '"revision":1,"revision":1'),
        lambda text: text.replace("INC-7", "INC 7"),
        lambda text: text.replace("INC-7", "\\u0049NC-7"),
        lambda text: text.replace("v2", "v1"),
        lambda text: text.replace('"add"', '"ADD"'),
        lambda text: text.replace('{"action"', '{"a":1,"action"'),
        lambda text: text[:-1],
        lambda text: text + " ",
        lambda _: "[]",
        lambda _: "",
    ],
)
def test_anything_else_is_malformed(spoil: Any) -> None:  # noqa: ANN401 - a function of a text
    text = record().text
    assert parse_record(text) == record()
    spoilt = spoil(text)
    assert spoilt != text
    with pytest.raises(MalformedError):
        parse_record(spoilt)


@given(
    RECORDS,
    st.sampled_from(["text", "digest"]),
    st.integers(0, 600),
    st.integers(0, 3),
    st.sampled_from(['"', "\\", ",", "0", "1", "A", "null", "\u00e9", " ", "\n", "", "global", '"x":1,']),
)
def test_what_is_read_at_once_is_read_strictly_as_well(
    made: QuarantineRecord, stays: str, at: int, gone: int, put: str
) -> None:
    text = made.text
    spoilt = text[: at % len(text)] + put + text[at % len(text) + gone :]
    if stays == "digest":  # its event id is that of what is left
        base = re.sub(r',"event_id":"[^"]*"', "", spoilt, count=1)
        event_id = hashlib.sha256(base.encode()).hexdigest()
        spoilt = re.sub(r'"event_id":"[^"]*"', f'"event_id":"{event_id}"', spoilt, count=1)
    at_once = read(spoilt)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record_module, "_plain", lambda _: None)
        assert read(spoilt) == at_once
        assert read(text) == (made, made.key)


def read(text: str) -> tuple[QuarantineRecord, LedgerKey] | None:
    """Return a text's record and key; none where either is refused."""
    try:
        record_of, key_of = parse_record(text), parse_record_key(text)
    except MalformedError:
        for parse in (parse_record, parse_record_key):
            with pytest.raises(MalformedError):
                parse(text)
        return None
    return record_of, key_of


@given(KEYS, st.integers(1, 64))
def test_key_is_read_back_and_all_of_a_place_share_a_partition(key: LedgerKey, count: int) -> None:
    assert LedgerKey.parse(key.record_key) == key
    assert key.record_key == f"{key.scope.value}/{key.segment}/{key.fingerprint}".encode()
    assert key.view_key == f"aidefend:recall_quarantine:v1:{key.scope.value}:{key.segment}:{key.fingerprint}"
    sibling = LedgerKey(key.scope, key.segment, "0" * 64)
    assert key.partition(count) == sibling.partition(count) == partition_of(key.place.encode(), count)


def test_tenant_named_global_is_not_the_global_scope() -> None:
    tenant = LedgerKey.of(Scope.TENANT, "global", FINGERPRINT)
    everyone = LedgerKey.of(Scope.GLOBAL, None, FINGERPRINT)
    assert tenant.record_key != everyone.record_key
    assert tenant.view_key != everyone.view_key


@pytest.mark.parametrize(
    ("scope", "tenant_id", "fingerprint"),
    [
        (Scope.TENANT, None, FINGERPRINT),
        (Scope.GLOBAL, "tenant-a", FINGERPRINT),
        (Scope.GLOBAL, "global", FINGERPRINT),
        (Scope.TENANT, "a/b", FINGERPRINT),
        (Scope.TENANT, "a:b", FINGERPRINT),
        (Scope.TENANT, "", FINGERPRINT),
        (Scope.TENANT, "tenant-a", FINGERPRINT.upper()),
        (Scope.TENANT, "tenant-a", FINGERPRINT[:-1]),
    ],
)
def test_key_that_binds_nothing_is_refused(scope: Scope, tenant_id: str | None, fingerprint: str) -> None:
    with pytest.raises(MalformedError):
        LedgerKey.of(scope, tenant_id, fingerprint)


@pytest.mark.parametrize(
    "key",
    [
        None,
        b"",
        b"tenant/tenant-a",
        b"tenant/tenant-a/" + b"F" * 64,
        b"global/tenant-a/" + b"f" * 64,
        b"world/tenant-a/" + b"f" * 64,
        b"tenant/tenant-a/x/" + b"f" * 64,
        b"tenant/t\xff/" + b"f" * 64,
        b"tenant/" + b"a" * 129 + b"/" + b"f" * 64,
    ],
)
def test_what_is_no_key_is_refused(key: bytes | None) -> None:
    with pytest.raises(MalformedError):
        LedgerKey.parse(key)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=200))
def test_whatever_a_version_is_called_it_has_one_identifier(version: str) -> None:
    named = as_identifier(version)
    assert SAFE_ID.fullmatch(named)
    assert as_identifier(named) == named
