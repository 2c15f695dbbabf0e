"""A key lies in the partition that every other Kafka client puts it in."""

from __future__ import annotations

import pytest
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.partitioner import murmur2 as aiokafkas
from hypothesis import given
from hypothesis import strategies as st

from pratique.contract.partitioning import murmur2, partition_of

# Kafka's own vectors: org.apache.kafka.common.utils.UtilsTest.testMurmur2 (Apache License 2.0).
JAVA = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", JAVA)
def test_hash_is_javas(key: bytes) -> None:
    found = murmur2(key)
    assert (found - 2**32 if found >= 2**31 else found) == JAVA[key]


@given(st.binary(max_size=80))
def test_hash_is_aiokafkas(key: bytes) -> None:
    assert murmur2(key) == aiokafkas(key) & 0xFFFFFFFF


@given(key=st.binary(min_size=1, max_size=80), count=st.integers(1, 1000))
def test_partition_is_aiokafkas(key: bytes, count: int) -> None:
    partitions = list(range(count))
    assert partition_of(key, count) == DefaultPartitioner()(key, partitions, partitions)


@given(st.binary(max_size=80))
def test_single_partition_takes_all(key: bytes) -> None:
    assert partition_of(key, 1) == 0
