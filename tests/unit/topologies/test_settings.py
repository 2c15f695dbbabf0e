"""The environment is read once, typed, and refused by the variable's name."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pratique.errors import ConfigurationError
from topologies.bootstrap.ledger import limits_of
from topologies.settings import Settings


def test_nothing_set_is_the_defaults() -> None:
    assert Settings.read({}) == Settings()
    assert Settings.read({"HOME": "/root", "KAFKA": "x"}) == Settings()


def test_every_setting_can_be_set() -> None:
    values = {
        "bootstrap": "b:1",
        "partitions": "3",
        "quota_per_second": "0.5",
        "metrics_port": "-1",
        "log_level": "DEBUG",
    }
    found = Settings.read({f"PRATIQUE_{name.upper()}": value for name, value in values.items()})
    assert (found.bootstrap, found.partitions, found.quota_per_second) == ("b:1", 3, 0.5)
    assert (found.metrics_port, found.log_level) == (-1, "DEBUG")


def test_further_kafka_properties_go_to_every_connection() -> None:
    found = Settings.read(
        {
            "PRATIQUE_BOOTSTRAP": "b:1",
            "PRATIQUE_KAFKA_SECURITY_PROTOCOL": "SSL",
            "PRATIQUE_KAFKA_SSL_CA_LOCATION": "/ca",
        }
    )
    assert found.connection == {"bootstrap.servers": "b:1", "security.protocol": "SSL", "ssl.ca.location": "/ca"}


NUMBERS = [item.name for item in fields(Settings) if type(item.default) in {int, float}]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["", "x", "1e", "nan", "inf", "-inf", "-2", "0x10", "1,5", "--1"])
def test_what_is_no_sensible_number_is_refused_by_name(name: str, value: str) -> None:
    variable = f"PRATIQUE_{name.upper()}"
    with pytest.raises(ConfigurationError, match=variable):
        Settings.read({variable: value})


@pytest.mark.parametrize(
    "name", [name for name in NUMBERS if name not in {"skew_ms", "quota_per_second", "metrics_port"}]
)
def test_none_of_something_is_refused_where_that_makes_no_sense(name: str) -> None:
    with pytest.raises(ConfigurationError):
        Settings.read({f"PRATIQUE_{name.upper()}": "0"})


@pytest.mark.parametrize(("name", "value"), [("skew_ms", "0"), ("quota_per_second", "0"), ("metrics_port", "0")])
def test_none_of_something_is_taken_where_it_does(name: str, value: str) -> None:
    assert getattr(Settings.read({f"PRATIQUE_{name.upper()}": value}), name) == 0


@pytest.mark.parametrize("value", ["", "info", "VERBOSE", "10"])
def test_unknown_log_level_is_refused(value: str) -> None:
    with pytest.raises(ConfigurationError, match="PRATIQUE_LOG_LEVEL"):
        Settings.read({"PRATIQUE_LOG_LEVEL": value})


@given(
    name=st.sampled_from([item.name for item in fields(Settings) if item.name != "kafka"]), value=st.text(max_size=9)
)
def test_any_value_is_taken_or_refused_by_name(name: str, value: str) -> None:
    variable = f"PRATIQUE_{name.upper()}"
    try:
        Settings.read({variable: value})
    except ConfigurationError as error:
        assert variable in str(error)  # noqa: PT017 - either is fine, and nothing else is


def test_setting_that_is_needed_and_missing_is_named() -> None:
    with pytest.raises(ConfigurationError, match="PRATIQUE_POLICY_ROOT"):
        Settings().path("policy_root")
    assert Settings(policy_root="/x").path("policy_root") == Path("/x")
    assert Settings(keys="/k").required("keys") == "/k"


@pytest.mark.parametrize("value", ["", "yes", "ACCEPT"])
def test_what_may_be_accepted_of_a_loss_is_said_in_one_word(value: str) -> None:
    assert Settings.read({}).ledger_lost_reviews == "refuse"
    assert not limits_of(Settings.read({})).accepts_lost_reviews
    assert limits_of(Settings.read({"PRATIQUE_LEDGER_LOST_REVIEWS": "accept"})).accepts_lost_reviews
    with pytest.raises(ConfigurationError, match="PRATIQUE_LEDGER_LOST_REVIEWS is none of refuse, accept"):
        Settings.read({"PRATIQUE_LEDGER_LOST_REVIEWS": value})


@pytest.mark.parametrize(("name", "kind"), [("partitions", "no whole number"), ("quota_per_second", "no number")])
def test_what_was_expected_is_said_in_words(name: str, kind: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^PRATIQUE_{name.upper()} is {kind}$"):
        Settings.read({f"PRATIQUE_{name.upper()}": "x"})
