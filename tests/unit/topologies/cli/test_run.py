from __future__ import annotations

from click.testing import CliRunner

from topologies import build
from topologies.cli import run


def test_supervisor_and_app_mean_the_same_status() -> None:
    assert run.EXIT_UNMARKED == build.EXIT_UNMARKED


def test_unknown_app_is_wrong_usage_and_names_the_known_ones() -> None:
    result = CliRunner().invoke(run.run, ["intak"])
    assert result.exit_code == 2
    assert "intake" in result.output
