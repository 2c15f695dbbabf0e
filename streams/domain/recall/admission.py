"""Admission: which recalled entries may enter a prompt. The step that decides, apart from the detector that finds.

The contract (contract page, Records):

1. with any entry missing, extra or there twice, or with anything wrong that is not one entry's, none is ADMITTED;
2. an entry with a finding, an error, or anything that a check states of it is WITHHELD: a detector's recommendation
   other than NONE is a finding, and where it begins is policy's ``review_score``;
3. where an entry is WITHHELD, the others are ADMITTED only if policy allows partial admission.

It is taken by the verdict app from what the workers stated, and signed as part of the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pratique.contract.records import Disposition, EntryVerdict


@dataclass(frozen=True, slots=True)
class Assessed:
    """What is known of one given entry.

    Attributes:
        finding_id: Its finding; null where there is none.
        clean: Whether every check looked at it and found nothing.
    """

    entry_id: str
    memory_version: str
    content_sha256: str
    finding_id: str | None
    clean: bool


def admit(entries: Sequence[Assessed], *, whole: bool, partial_admission: bool) -> tuple[EntryVerdict, ...]:
    """Decide about each entry.

    Args:
        entries: The entries that were given, in the request's order.
        whole: Whether exactly the expected entries were given, and nothing is wrong that is not one entry's.
        partial_admission: Whether clean entries are admitted beside others that are not.
    """
    any_admitted = whole and (partial_admission or all(entry.clean for entry in entries))
    return tuple(
        EntryVerdict(
            entry.entry_id,
            entry.memory_version,
            entry.content_sha256,
            Disposition.ADMITTED if any_admitted and entry.clean else Disposition.WITHHELD,
            entry.finding_id,
        )
        for entry in entries
    )
