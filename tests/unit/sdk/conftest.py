"""What the tests of the client share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.sdk.client_world import World


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.gate.close()
    assert all(subscription.closed for subscription in made.transport.subscriptions)
