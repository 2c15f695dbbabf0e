"""Length-prefixed frames over a local socket, with a deadline on every read and write.

The contract: a frame arrives whole or an exception says why not; a peer that stops in the middle of one costs no more
than the time-out. What frames carry is JSON, never pickles: a compromised worker can lie, but not run code here.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Final

MAX_FRAME_BYTES: Final = 64 * 1024 * 1024
"""Largest frame accepted: a request is at most 4 MiB, a chunk of them far less than this."""

_LENGTH: Final = struct.Struct("!I")
_READ_BYTES: Final = 1 << 18


class PeerClosedError(Exception):
    """The other end is gone, or spoke no frame."""


def send_frame(channel: socket.socket, payload: bytes, *, timeout_s: float) -> None:
    """Send one frame.

    Raises:
        TimeoutError: The peer did not take it all in time.
        PeerClosedError: The peer is gone.
    """
    channel.settimeout(timeout_s)
    try:
        channel.sendall(_LENGTH.pack(len(payload)) + payload)
    except TimeoutError:
        raise
    except OSError as error:
        raise PeerClosedError("worker does not read") from error


def receive_frame(channel: socket.socket, *, timeout_s: float | None) -> bytes:
    """Receive one frame; without a time-out, wait for it as long as the peer lives.

    Raises:
        TimeoutError: It was not complete in time.
        PeerClosedError: The peer closed, or announced more than ``MAX_FRAME_BYTES``.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size, deadline))
    if length > MAX_FRAME_BYTES:
        raise PeerClosedError("frame is larger than any request")
    return _exactly(channel, length, deadline)


def _exactly(channel: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if deadline is None:
            channel.settimeout(None)
        else:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError
            channel.settimeout(remaining)
        try:
            part = channel.recv(min(size - len(parts), _READ_BYTES))
        except TimeoutError:
            raise
        except OSError as error:
            raise PeerClosedError("peer is gone") from error
        if not part:
            raise PeerClosedError("peer closed")
        parts += part
    return bytes(parts)
