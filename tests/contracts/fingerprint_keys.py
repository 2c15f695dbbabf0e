"""What every source of the fingerprint key does, wherever its secrets lie."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import pytest

from pratique.errors import ConfigurationError
from streams.application.ports.quarantine import FingerprintKeys

ONE, TWO = b"1" * 32, bytes(range(256))[-64:]


class Place(Protocol):
    """Where a source looks."""

    def source(self) -> FingerprintKeys:
        """Return a source of its own that looks here, as a new process has it."""
        ...

    def put(self, generation: str, secret: bytes) -> None:
        """Have a generation's secret here."""
        ...

    def state(self, generation: str) -> None:
        """Say which generation is current."""
        ...


class FingerprintKeysCases:
    """A subclass's ``place`` is what is tested; it is empty."""

    def test_nothing_is_guessed_where_there_is_nothing(self, place: Place) -> None:
        source = place.source()
        for asked in (source.held, source.all, source.current):
            with pytest.raises(ConfigurationError):
                asked()

    def test_what_is_put_here_is_held_in_order_and_to_the_byte(self, place: Place) -> None:
        place.put("g2", TWO)
        place.put("g1", ONE)
        source = place.source()
        for _ in range(2):
            assert [(key.generation, key.secret) for key in source.held()] == [("g1", ONE), ("g2", TWO)]

    def test_the_only_one_is_current(self, place: Place) -> None:
        place.put("g1", ONE)
        assert place.source().current().secret == ONE
        assert [key.generation for key in place.source().all()] == ["g1"]

    def test_of_several_the_stated_one_is_current_and_first(self, place: Place) -> None:
        place.put("g1", ONE)
        place.put("g2", TWO)
        with pytest.raises(ConfigurationError, match="nothing says which is current"):
            place.source().current()
        place.state("g2")
        assert place.source().current().secret == TWO
        assert [key.generation for key in place.source().all()] == ["g2", "g1"]

    def test_one_that_is_stated_and_not_here_is_current_nowhere(self, place: Place) -> None:
        place.put("g1", ONE)
        place.state("g2")
        with pytest.raises(ConfigurationError):
            place.source().current()
        assert [key.generation for key in place.source().held()] == ["g1"]

    def test_generation_that_comes_later_is_held_by_who_runs_already(self, place: Place) -> None:
        place.put("g1", ONE)
        source = place.source()
        assert len(source.held()) == 1
        place.put("g2", TWO)
        assert [key.secret for key in source.held()] == [ONE, TWO]

    def test_short_secret_is_refused(self, place: Place) -> None:
        place.put("g1", b"s" * 31)
        with pytest.raises(ConfigurationError):
            place.source().held()

    def test_secret_is_in_no_representation(self, place: Place) -> None:
        place.put("g1", ONE)
        assert "111" not in repr(place.source().held())

    def test_several_sources_may_be_asked_at_the_same_time(self, place: Place) -> None:
        place.put("g1", ONE)
        place.put("g2", TWO)
        sources = [place.source() for _ in range(4)]
        with ThreadPoolExecutor(8) as beside:
            held = list(beside.map(lambda number: sources[number % 4].held(), range(16)))
        assert [[key.secret for key in keys] for keys in held] == [[ONE, TWO]] * 16
