"""What the embedded broker is started with."""

from __future__ import annotations

import base64

from hypothesis import example, given
from hypothesis import strategies as st

from infra.stack.broker import cluster_id_of


@given(st.binary(min_size=16, max_size=16))
@example(b"\xf8" * 16)  # would begin with a hyphen
def test_cluster_id_is_one_to_kafka_and_no_option_to_its_tools(randomness: bytes) -> None:
    made = cluster_id_of(randomness)
    assert made[0] not in "-_"
    assert len(made) == 22
    assert base64.urlsafe_b64decode(made + "==")[1:] == randomness[1:]
