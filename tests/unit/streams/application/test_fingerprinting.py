"""Which generation is current is the view's to say, whatever is at hand."""

from __future__ import annotations

import pytest

from streams.application.fingerprinting import KeysByView, fingerprints
from streams.application.ports.quarantine import FingerprintKey
from streams.domain.recall.fingerprint import fingerprint
from streams.errors import ConfigurationError
from tests.fakes.recall import KEY, FakeKeys, FakeView

OTHER = FingerprintKey("generation-2", b"o" * 32)


class TwoKeys(FakeKeys):
    """Two generations, of which nothing says which is current."""

    def current(self) -> FingerprintKey:
        raise ConfigurationError("nothing says which is current")

    def held(self) -> tuple[FingerprintKey, ...]:
        return (KEY, OTHER)


@pytest.mark.parametrize(("current", "first"), [(KEY.generation, KEY), (OTHER.generation, OTHER)])
def test_current_generation_is_the_views(current: str, first: FingerprintKey) -> None:
    view = FakeView(current=current)
    keys = KeysByView(TwoKeys(), view)
    assert keys.current() == first
    assert set(keys.all()) == set(keys.held()) == {KEY, OTHER}


def test_current_generation_that_is_not_here_is_no_other() -> None:
    with pytest.raises(ConfigurationError, match="generation-3"):
        KeysByView(TwoKeys(), FakeView(current="generation-3")).current()


def test_text_has_a_fingerprint_under_each() -> None:
    assert fingerprints("Text", (KEY, OTHER)) == {
        KEY.generation: fingerprint("text", KEY.secret),
        OTHER.generation: fingerprint("text", OTHER.secret),
    }
