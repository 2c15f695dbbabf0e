"""Where the quarantine ledger's view lies in Redis.

The contract: ``{pratique}:current`` names the namespace that look-ups read. In a namespace, everything of one ledger
partition has one hash tag, so that a function that changes it touches one slot: ``{pratique:<namespace>:<partition>}:``
before the seed's key of an entry, before ``meta``, and before ``quarantined:<scope>:<segment>:<generation>``, the index
of what is quarantined there under a key generation. ``meta`` counts both what each index holds and what all of a
segment's hold together, so that whoever asks under too few generations notices. A rebuild fills a namespace of its own
and then changes the pointer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from streams.domain.quarantine.ledger_key import LedgerKey

POINTER: Final = "{pratique}:current"
INDEXED_CHARACTERS: Final = 28
VIEW_SCHEMA: Final = "pratique.ledger-view.v3"


@dataclass(frozen=True, slots=True)
class Pointer:
    """What look-ups read.

    Attributes:
        namespace: The namespace.
        partition_count: Partitions of the ledger.
        generation: The key generation that is current: what is put in is put in under it, and findings name it.
        following: The generation that entries are being carried over to; empty where none is.
    """

    namespace: str
    partition_count: int
    generation: str
    following: str = ""


def tag(namespace: str, partition: int) -> str:
    """Return the prefix of everything of a partition."""
    return f"{{pratique:{namespace}:{partition}}}:"


def meta_key(namespace: str, partition: int) -> str:
    """Return the key of a partition's facts: offset applied, when that was all there was, counts, what is retired."""
    return tag(namespace, partition) + "meta"


def entry_key(namespace: str, partition: int, key: LedgerKey) -> str:
    """Return the key of an entry's transitions, the newest first."""
    return tag(namespace, partition) + key.view_key


def index_key(namespace: str, partition: int, scope: str, segment: str, generation: str) -> str:
    """Return the key of the set of fingerprints of a generation that are quarantined in a segment."""
    return tag(namespace, partition) + f"{count_field(scope, segment)}:{generation}"


def index_member(fingerprint: str) -> str:
    """Return what an index has of a fingerprint: its last 112 bits, of which no two are the same by chance.

    Were they, look-ups of one of the two would fail as those of a partial view do.
    """
    return fingerprint[-INDEXED_CHARACTERS:]


def count_field(scope: str, segment: str) -> str:
    """Return the field of the partition's facts that counts what is quarantined in a segment under any generation.

    With ``:<generation>`` after it, it is the field that counts what is quarantined under that one.
    """
    return f"quarantined:{scope}:{segment}"
