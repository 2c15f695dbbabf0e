"""Policy repositories for the adapters' tests: made once, copied for each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.fakes.hostile import Hostile
from tests.fakes.policy import PolicyWorld, make_development_set


@pytest.fixture(scope="session")
def pristine_policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_development_set(tmp_path_factory.mktemp("policy") / "set").directory


@pytest.fixture
def world(pristine_policy: Path, tmp_path: Path) -> PolicyWorld:
    return PolicyWorld(Path(shutil.copytree(pristine_policy, tmp_path / "set")))


@pytest.fixture
def hostile(world: PolicyWorld) -> Hostile:
    return Hostile(world)
