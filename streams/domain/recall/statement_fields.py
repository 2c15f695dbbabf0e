"""Reading the parts that both statements about a recall have.

The contract: every refusal is the field's, as ``pratique.contract.document`` words it.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, TypeVar

from pratique.contract.document import Fields
from streams.domain.recall.population import MemoryKey

KEY: Final = ("tenant_id", "recall_request_id", "entry_id", "memory_version")
"""The fields of an entry's identity."""

MAX_NAME_CHARACTERS: Final = 256

EnumT = TypeVar("EnumT", bound=Enum)


def key_in(fields: Fields) -> MemoryKey:
    """Return an entry's identity.

    Raises:
        PratiqueError: A part of it is absent or too long.
    """
    return MemoryKey(*(fields.text(name, max_characters=MAX_NAME_CHARACTERS) for name in KEY))


def names_in(fields: Fields, name: str, maximum: int) -> tuple[str, ...]:
    """Return a list of distinct names, which may be empty.

    Raises:
        PratiqueError: It is none, or has more than ``maximum``.
    """
    if not fields.sequence(name, minimum=0, maximum=maximum):
        return ()
    return fields.texts(name, maximum=maximum)


def member_in(fields: Fields, name: str, members: type[EnumT]) -> EnumT:
    """Return a member of an enumeration by its value.

    Raises:
        PratiqueError: It is none.
    """
    for member in members:
        if member.value == fields.raw(name):
            return member
    raise fields.refusal(name, "is none of its names")
