"""Which partition a key belongs to: murmur2, as Kafka's own clients compute it (librdkafka: ``murmur2_random``).

The contract: every record of the published language with a key lies in this partition. A reader that finds it in
another one knows that it was put there by someone else.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_SEED: Final = 0x9747B28C
_MULTIPLIER: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF
_SHIFT: Final = 24
_WORD: Final = 4


def murmur2(key: bytes) -> int:
    """Return the 32-bit MurmurHash2 of a key, as an unsigned number (org.apache.kafka.common.utils.Utils)."""
    length = len(key)
    state = _SEED ^ length
    whole = length - length % _WORD
    for start in range(0, whole, _WORD):
        word = int.from_bytes(key[start : start + _WORD], "little")
        word = (word * _MULTIPLIER) & _MASK
        word ^= word >> _SHIFT
        state = ((state * _MULTIPLIER) & _MASK) ^ ((word * _MULTIPLIER) & _MASK)
    if whole < length:
        state = ((state ^ int.from_bytes(key[whole:], "little")) * _MULTIPLIER) & _MASK
    state ^= state >> 13
    state = (state * _MULTIPLIER) & _MASK
    return state ^ (state >> 15)


@lru_cache(maxsize=16384)  # a request's records share one key; the hash in Python costs more than the rest of a check
def partition_of(key: bytes, partition_count: int) -> int:
    """Return the partition of a key among ``partition_count``."""
    return (murmur2(key) & 0x7FFFFFFF) % partition_count
