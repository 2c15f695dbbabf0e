"""Frames arrive whole or not at all, in bounded time."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.frames import MAX_FRAME_BYTES, PeerClosedError, receive_frame, send_frame

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@given(st.lists(st.binary(max_size=1_000), max_size=5))
def test_frames_arrive_in_order_and_whole(payloads: list[bytes]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for payload in payloads:
            send_frame(ours, payload, timeout_s=1)
        assert [receive_frame(theirs, timeout_s=1) for _ in payloads] == payloads


def test_half_a_frame_is_a_timeout(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    theirs.sendall(struct.pack("!I", 10) + b"12345")
    with pytest.raises(TimeoutError):
        receive_frame(ours, timeout_s=0.05)


@pytest.mark.parametrize("sent", [b"", b"\x00", struct.pack("!I", 10) + b"12345"])
def test_a_peer_that_closes_leaves_no_frame(ends: tuple[socket.socket, socket.socket], sent: bytes) -> None:
    ours, theirs = ends
    theirs.sendall(sent)
    theirs.close()
    with pytest.raises(PeerClosedError):
        receive_frame(ours, timeout_s=1)


def test_a_frame_larger_than_any_request_is_refused_before_it_is_read(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    theirs.sendall(struct.pack("!I", MAX_FRAME_BYTES + 1))
    with pytest.raises(PeerClosedError):
        receive_frame(ours, timeout_s=1)


def test_a_peer_that_reads_nothing_is_a_timeout(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, _ = ends
    with pytest.raises(TimeoutError):
        send_frame(ours, b"x" * 10_000_000, timeout_s=0.05)


def test_a_peer_that_is_gone_is_noticed_at_sending(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    theirs.close()
    with pytest.raises(PeerClosedError):
        send_frame(ours, b"x" * 10_000_000, timeout_s=1)
