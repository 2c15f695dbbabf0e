"""What headers a message has, a stranger's included."""

from __future__ import annotations

from typing import Any, cast

import pytest
from confluent_kafka import Message

from pratique import kafka
from pratique.errors import KafkaUnavailableError
from pratique.kafka import KafkaTransport, message_headers


class Given:
    """A message whose headers are given, or can't be read."""

    def __init__(self, answer: list[tuple[str, str | bytes | None]] | Exception | None) -> None:
        self._answer = answer
        self.asked = 0

    def headers(self) -> Any:  # noqa: ANN401 - as the library has it
        self.asked += 1
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def headers(given: Given) -> list[tuple[str, bytes]]:
    return message_headers(cast("Message", given))


def test_values_are_bytes_and_names_may_come_twice() -> None:
    given = Given([("a", b"\xff"), ("a", "\u00e9"), ("b", None)])
    assert headers(given) == [("a", b"\xff"), ("a", b"\xc3\xa9"), ("b", b"")]
    assert given.asked == 1


def test_a_message_without_headers_has_none() -> None:
    assert headers(Given(None)) == []


@pytest.mark.parametrize(
    "error", [SystemError("returned a result with an exception set"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")]
)
def test_a_name_that_is_not_utf_8_leaves_none(error: Exception) -> None:
    given = Given(error)
    assert (headers(given), given.asked) == ([], 1)


def test_a_broker_that_is_away_is_named_with_the_setting_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "METADATA_TIMEOUT_S", 0.1)  # nobody answers, however long one waits
    transport = KafkaTransport("127.0.0.1:1")
    with pytest.raises(
        KafkaUnavailableError, match=r"no broker at 127\.0\.0\.1:1 \(PRATIQUE_BOOTSTRAP\) answered for the"
    ):
        transport.subscribe(["compaction.accepted"])
    transport.close()
