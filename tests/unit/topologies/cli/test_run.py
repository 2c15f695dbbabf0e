from __future__ import annotations

import pytest
from click.testing import CliRunner

from topologies import build
from topologies.cli import run


def test_supervisor_and_app_mean_the_same_status() -> None:
    assert run.EXIT_UNMARKED == build.EXIT_UNMARKED


def test_unknown_app_is_wrong_usage_and_names_the_known_ones() -> None:
    result = CliRunner().invoke(run.run, ["intak"])
    assert result.exit_code == 2
    assert "intake" in result.output


@pytest.mark.parametrize("apps", [["all"], ["intake", "scan"]])
@pytest.mark.parametrize(("variable", "value"), [("PRATIQUE_METRICS_PORT", "9100"), ("PRATIQUE_READY_FILE", "ready")])
def test_what_several_processes_would_share_is_refused_before_one_is_started(
    apps: list[str], variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr(run, "_supervise", started.append)
    result = CliRunner().invoke(run.run, apps, env={variable: value})
    assert (result.exit_code, variable in result.output, started) == (2, True, [])


@pytest.mark.parametrize("port", ["0", "-1"])
def test_what_they_do_not_share_is_taken(port: str, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(run, "_supervise", started.append)
    assert CliRunner().invoke(run.run, ["all"], env={"PRATIQUE_METRICS_PORT": port}).exit_code == 0
    assert len(started) == 1
