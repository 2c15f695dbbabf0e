"""Evidence is believed from its role, in its place, as it was stated; everything else is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract import avro
from pratique.contract.avro import HEADER_BYTES
from pratique.contract.canonical import bytes_sha256
from pratique.contract.partitioning import partition_of
from pratique.contract.reasons import Reason, ReasonCode
from pratique.contract.records import Evidence, EvidenceKind, StatedReason
from pratique.contract.signing import MacSigner
from pratique.contract.topics import EVIDENCE, WORK
from pratique.contract.trust import MacRole, TrustedMacKey
from pratique.errors import MalformedError, SignatureInvalidError, SignerNotAuthorisedError, TooLargeError
from streams.application.ports.log import Channel
from streams.domain.verdicts.verdict import decide
from streams.wire.evidence import (
    MAX_STATEMENT_BYTES,
    ROLE_OF_KIND,
    EvidenceReader,
    EvidenceWriter,
    may_matter_later,
)
from tests.fakes.evidence import (
    MAC,
    NOW_MS,
    RECEIPT_KINDS,
    SECRETS,
    TRUST,
    decided,
    join_key,
    mac,
    opened,
    receipt,
    stated,
    trust_target,
)
from tests.fakes.steps import Record

PARTITIONS = 8
KEY = join_key()
READER = EvidenceReader(SECRETS, lambda: TRUST, PARTITIONS)


def proposal() -> Evidence:
    return decided(decide(stated(opened(KEY, required=())), {}, expired=False), KEY)


OF_KIND: Mapping[EvidenceKind, Evidence] = {
    EvidenceKind.OPENED: opened(KEY),
    EvidenceKind.CONSISTENCY: receipt(EvidenceKind.CONSISTENCY, KEY),
    EvidenceKind.SCAN: receipt(EvidenceKind.SCAN, KEY),
    EvidenceKind.DECIDED: proposal(),
}
KINDS = pytest.mark.parametrize("kind", EvidenceKind)


def record(evidence: Evidence, signer: MacSigner | None = None) -> Record:
    """The evidence as its role, or somebody, wrote it."""
    output = EvidenceWriter(lambda: signer or MAC[ROLE_OF_KIND[evidence.kind]]).write(evidence)
    assert output.channel is Channel.EVIDENCE
    assert output.key is not None
    place = partition_of(output.key, PARTITIONS)
    return Record(EVIDENCE, output.value, output.headers, output.key, place, 7, NOW_MS)


@KINDS
def test_what_a_role_states_is_read_with_its_place_and_digest(kind: EvidenceKind) -> None:
    written = record(OF_KIND[kind])
    found = READER.read(written)
    assert found.evidence == OF_KIND[kind]
    assert (found.offset, found.at_ms, found.value_sha256) == (7, NOW_MS, bytes_sha256(written.value or b""))


@KINDS
@pytest.mark.parametrize("role", MacRole)
def test_only_the_kinds_own_role_is_believed(kind: EvidenceKind, role: MacRole) -> None:
    written = record(OF_KIND[kind], MAC[role])
    if role is ROLE_OF_KIND[kind]:
        READER.read(written)
    else:
        with pytest.raises(SignerNotAuthorisedError):
            READER.read(written)


@KINDS
def test_key_that_the_trust_target_does_not_name_is_not_believed(kind: EvidenceKind) -> None:
    stranger = mac("stranger")
    reader = EvidenceReader({**SECRETS, "stranger": stranger.secret}, lambda: TRUST, PARTITIONS)
    with pytest.raises(SignerNotAuthorisedError):
        reader.read(record(OF_KIND[kind], stranger))


def test_key_whose_secret_is_not_held_is_not_believed() -> None:
    newer = mac("scan-2")
    target = trust_target(macs={"scan-2": TrustedMacKey("scan-2", MacRole.SCAN, 0, 2**52)})
    written = record(OF_KIND[EvidenceKind.SCAN], newer)
    with pytest.raises(SignerNotAuthorisedError, match="secret"):
        EvidenceReader(SECRETS, lambda: target, PARTITIONS).read(written)
    EvidenceReader({**SECRETS, "scan-2": newer.secret}, lambda: target, PARTITIONS).read(written)


def test_key_that_names_another_keys_id_is_not_believed() -> None:
    forged = MacSigner(MAC[MacRole.SCAN].key_id, mac("stranger").secret)
    with pytest.raises(SignatureInvalidError):
        READER.read(record(OF_KIND[EvidenceKind.SCAN], forged))


def test_key_is_judged_at_the_time_of_appending() -> None:
    reader = EvidenceReader(SECRETS, lambda: trust_target(expires_ms=NOW_MS), PARTITIONS)
    written = record(OF_KIND[EvidenceKind.OPENED])
    with pytest.raises(SignerNotAuthorisedError, match="expired"):
        reader.read(written)
    reader.read(replace(written, timestamp=NOW_MS - 1))


@KINDS
def test_record_in_another_partition_is_not_believed(kind: EvidenceKind) -> None:
    written = record(OF_KIND[kind])
    for partition in range(PARTITIONS):
        moved = replace(written, partition=partition)
        if partition != written.partition:
            with pytest.raises(SignerNotAuthorisedError, match="partition"):
                READER.read(moved)


def test_record_key_says_nothing() -> None:
    READER.read(replace(record(OF_KIND[EvidenceKind.SCAN]), key=b"other"))
    READER.read(replace(record(OF_KIND[EvidenceKind.SCAN]), key=None))


@KINDS
@given(data=st.data())
def test_altered_byte_is_not_believed(kind: EvidenceKind, data: st.DataObject) -> None:
    written = record(OF_KIND[kind])
    value = bytearray(written.value or b"")
    place = data.draw(st.integers(0, len(value) - 1))
    value[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises((SignatureInvalidError, SignerNotAuthorisedError, MalformedError)):
        READER.read(replace(written, value=bytes(value)))


@KINDS
@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 40])
def test_cut_off_value_is_malformed(kind: EvidenceKind, size: int) -> None:
    written = record(OF_KIND[kind])
    with pytest.raises(MalformedError):
        READER.read(replace(written, value=(written.value or b"")[:size]))


def test_tombstone_and_other_records_are_malformed() -> None:
    written = record(OF_KIND[EvidenceKind.SCAN])
    verdict = OF_KIND[EvidenceKind.DECIDED].decided
    assert verdict is not None
    for value in (None, b"", b"null", verdict.verdict, (written.value or b"") + b"\x00"):
        with pytest.raises(MalformedError):
            READER.read(replace(written, value=value))


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("pratique-key-id", b"scan-1"),),
        (("pratique-signature", b"x"),),
        (("pratique-key-id", b""), ("pratique-signature", b"x")),
        (("pratique-key-id", b"\xff"), ("pratique-signature", b"x")),
        (("pratique-key-id", b"scan-1"), ("pratique-signature", b"")),
        (("pratique-key-id", None), ("pratique-signature", None)),
    ],
)
def test_without_one_key_id_and_one_mac_it_is_not_believed(headers: tuple[tuple[str, bytes], ...]) -> None:
    with pytest.raises(SignatureInvalidError):
        READER.read(replace(record(OF_KIND[EvidenceKind.SCAN]), headers=headers))


@pytest.mark.parametrize("name", ["pratique-key-id", "pratique-signature"])
def test_header_twice_is_not_believed_even_if_equal(name: str) -> None:
    written = record(OF_KIND[EvidenceKind.SCAN])
    twice = next(header for header in written.headers if header[0] == name)
    with pytest.raises(SignatureInvalidError):
        READER.read(replace(written, headers=(*written.headers, twice)))


def test_mac_made_for_another_topic_is_not_believed() -> None:
    written = record(OF_KIND[EvidenceKind.SCAN])
    elsewhere = MAC[MacRole.SCAN].sign(WORK, written.value or b"")
    with pytest.raises(SignatureInvalidError):
        READER.read(replace(written, headers=tuple(elsewhere.headers)))


def test_a_decision_says_not_when_the_request_was_opened() -> None:
    with pytest.raises(MalformedError):
        READER.read(record(replace(OF_KIND[EvidenceKind.DECIDED], opened_at=NOW_MS)))


@KINDS
@pytest.mark.parametrize("other", [None, *EvidenceKind])
@pytest.mark.parametrize("own", [True, False])
def test_body_is_exactly_the_kinds(kind: EvidenceKind, other: EvidenceKind | None, *, own: bool) -> None:
    base = Evidence(kind, KEY, None, opened_at=OF_KIND[kind].opened_at)
    for source in ([OF_KIND[kind]] if own else []) + ([OF_KIND[other]] if other else []):
        base = replace(
            base,
            opened=source.opened or base.opened,
            receipt=source.receipt or base.receipt,
            decided=source.decided or base.decided,
        )
    wanted = OF_KIND[kind]
    present = [item is not None for item in (base.opened, base.receipt, base.decided)]
    expected = [item is not None for item in (wanted.opened, wanted.receipt, wanted.decided)]
    if present == expected:
        READER.read(record(base))
    else:
        with pytest.raises(MalformedError, match="body"):
            READER.read(record(base))


def reasons(count: int) -> tuple[StatedReason, ...]:
    return tuple(StatedReason.of(Reason.of(ReasonCode.SECRET, f"{number:0>1000}", "scan")) for number in range(count))


@pytest.mark.parametrize("kind", RECEIPT_KINDS)
def test_receipt_that_says_more_than_a_verdict_could_repeat_is_refused(kind: EvidenceKind) -> None:
    READER.read(record(receipt(kind, KEY, reasons=reasons(200))))
    with pytest.raises(TooLargeError):
        READER.read(record(receipt(kind, KEY, reasons=reasons(300))))
    with pytest.raises(TooLargeError):
        READER.read(record(receipt(kind, KEY, versions={"scanner": "x" * MAX_STATEMENT_BYTES})))


def test_large_bodies_and_verdicts_are_no_matter() -> None:
    long = "x" * (2 * MAX_STATEMENT_BYTES)
    for kind in RECEIPT_KINDS:
        READER.read(record(receipt(kind, KEY, body_json=long)))
    large = OF_KIND[EvidenceKind.DECIDED].decided
    assert large is not None
    READER.read(record(replace(OF_KIND[EvidenceKind.DECIDED], decided=replace(large, verdict=long.encode()))))


def test_opened_that_says_more_than_a_verdict_could_repeat_is_refused() -> None:
    with pytest.raises(TooLargeError):
        READER.read(record(opened(KEY, keep_message_ids=("m" * 256,) * 1100)))


@KINDS
def test_kind_is_seen_without_decoding(kind: EvidenceKind) -> None:
    value = record(OF_KIND[kind]).value
    assert may_matter_later(value) == (kind in {EvidenceKind.OPENED, EvidenceKind.DECIDED})


@given(st.binary(max_size=40) | st.none())
def test_no_bytes_break_the_look_at_the_kind(value: bytes | None) -> None:
    assert may_matter_later(value) in {True, False}
    assert not may_matter_later((value or b"")[:HEADER_BYTES])


def test_evidence_is_written_into_its_requests_partition() -> None:
    assert record(opened(KEY)).key == (KEY.source_population_sha256 or "").encode()
    without = replace(KEY, source_population_sha256=None)
    assert record(opened(without)).key == without.request_sha256.encode()


def test_equal_evidence_is_equal_bytes() -> None:
    assert record(opened(KEY)) == record(opened(KEY))
    assert avro.decode(record(opened(KEY)).value, Evidence) == opened(KEY)
