"""Outcomes and rows for the evaluation's tests."""

from __future__ import annotations

from pratique.contract.reasons import ReasonCode
from streams.domain.evaluation.rows import Facts, Folder
from streams.domain.evaluation.scoring import Outcome
from streams.domain.scanning.finding import Category, Finding


def facts(
    folder: Folder = Folder.SECRETS,
    *,
    detect: bool = True,
    marked: bool = False,
    groups: tuple[tuple[str, str], ...] = (),
) -> Facts:
    spoken_of = {
        Folder.SECRETS: (Category.SECRET,),
        Folder.PII: (Category.PII,),
        Folder.INJECTION: (Category.INJECTION,),
        Folder.TRANSCRIPTS: (Category.INJECTION,),
    }
    return Facts("row", folder, detect, marked, spoken_of.get(folder, tuple(Category)), groups)


def outcome(
    *found: Category,
    folder: Folder = Folder.SECRETS,
    detect: bool = True,
    marked: bool = False,
    error: ReasonCode | None = None,
    **groups: str,
) -> Outcome:
    row = facts(folder, detect=detect, marked=marked, groups=tuple(groups.items()))
    return Outcome(row, tuple(Finding(item, "d", "t", "text", 0, 1, 0.9) for item in found), error)


def found(count: int, of: int, **varied: object) -> list[Outcome]:
    """So many rows in which a secret was found, of so many."""
    return [outcome(*([Category.SECRET] if place < count else []), **varied) for place in range(of)]  # type: ignore[arg-type]
