"""Every app is killed, the ledger's writer twice, under compactions, recalls and ledger commands at once.

Every request gets exactly its right verdict, whatever kind it is, and every command is applied once.
"""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Final

import pytest

from tests.integration.asking import Stream
from tests.integration.mixing import Curation, mixture
from tests.integration.platform import ALL_APPS, TENANT

if TYPE_CHECKING:
    from pratique.client import Gate
    from tests.integration.platform import Platform

pytestmark = pytest.mark.containers

REQUESTS: Final = 480
COMMANDS: Final = 40
"""As many are sent at once, before each kill."""

FIRST: Final = 20
APART: Final = 80


def test_kill_9_under_mixed_load_loses_nothing(platform: Platform, gate: Gate) -> None:
    quarantined = f"Parcels for {uuid.uuid4().hex} go to the depot."
    platform.cli(
        *("ledger", "add", "-", "--tenant", TENANT, "--incident", "INC-1", "--reason", "a test"), given=quarantined
    )
    curation = Curation(platform)
    stream = Stream(platform, gate, REQUESTS, mixture=mixture(quarantined))

    def kill(*apps: str) -> None:
        curation.send(COMMANDS)
        for app in apps:
            platform.kill(app)
        for app in apps:
            platform.launch(app)

    moments = range(FIRST, REQUESTS, APART)
    victims = [(app, "ledger") if app == "verdict" else (app,) for app in ALL_APPS]
    stream.run({moment: partial(kill, *apps) for moment, apps in zip(moments, victims, strict=False)})
    curation.send(COMMANDS)
    stream.check()
    curation.check()
