"""Which regions' numbering plans may have a number: one automaton over the patterns of them all.

The contract: ``regions_of`` leaves out only regions in which ``phonenumbers`` finds the digits not valid; it is what
says so of the rest. Asking it of every region costs as much as some kilobytes of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import phonenumbers
import re2

_MAX_MEMORY_BYTES: Final = 32 << 20
_KINDS: Final = (
    *("fixed_line", "mobile", "toll_free", "premium_rate", "shared_cost"),
    *("personal_number", "voip", "pager", "uan", "voicemail"),
)
"""Kinds of lines that make a number valid, as ``phonenumbers`` tells them apart."""

_SPACE: Final = re.compile(r"\s+")
_ANYTHING: Final = r"\d+"


class Plans:
    """The plans of some regions.

    Args:
        regions: Their codes.
    """

    def __init__(self, regions: Sequence[str]) -> None:
        self._regions = tuple(regions)
        options = re2.Options()
        options.max_mem = _MAX_MEMORY_BYTES
        options.log_errors = False
        options.encoding = re2.Options.Encoding.LATIN1
        self._set = re2.Set.FullMatchSet(options)
        # What always matches tells, by its absence, that the automaton gave up.
        for pattern in (_ANYTHING, *map(_pattern, self._regions)):
            self._set.Add(pattern)
        self._set.Compile()

    def regions_of(self, digits: str) -> Sequence[str]:
        """Return the regions in which a national number may be valid, as it is dialled there."""
        if not digits.isascii():
            return self._regions
        matched = sorted(self._set.Match(digits))
        return [self._regions[number - 1] for number in matched[1:]] if matched[:1] == [0] else self._regions


@lru_cache(maxsize=32)
def plans_of(regions: tuple[str, ...]) -> Plans:
    """Return the plans of some regions; they are read when they are first asked."""
    return Plans(regions)


def _pattern(region: str) -> str:
    """Return what is dialled in a region: a way out, or a number of its country's, by code or prefix or neither."""
    metadata = phonenumbers.PhoneMetadata.metadata_for_region(region)
    if metadata is None or not metadata.country_code or metadata.national_prefix_transform_rule:
        return _ANYTHING
    prefix = metadata.national_prefix_for_parsing
    lines = "|".join(sorted(set(_lines(metadata.country_code))))
    dialled = f"(?:{metadata.country_code})?(?:{prefix or ''})?(?:{lines})"
    away = metadata.international_prefix
    return _SPACE.sub("", f"(?:{away})\\d*|{dialled}" if away else dialled)


def _lines(country: int) -> Iterator[str]:
    for region in phonenumbers.region_codes_for_country_code(country):
        metadata = phonenumbers.PhoneMetadata.metadata_for_region(region)
        for kind in _KINDS:
            line = getattr(metadata, kind, None)
            if line is not None and line.national_number_pattern:
                yield line.national_number_pattern
