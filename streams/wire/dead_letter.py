"""Dead letters: a record that can't be served, kept with its bytes and with what is needed to look at it and replay it.

The contract: value, key and headers are the original's; our own headers, all prefixed ``pratique-dead-letter-``, are
added (an original header of such a name is dropped: it would speak for us). The code is a reason code; nothing of the
content is repeated in a header.

A dead letter always fits its topic, since what can't be put aside would stop its partition for good. A producer's
compression hides records larger than any topic's bound; of such a record headers, then value, then key are left out,
and a header says which, with the value's size and digest. A NUL in a header's name, where the client library's text
would end, is written as U+2400.
"""

from __future__ import annotations

from typing import Final

from pratique.contract.canonical import bytes_sha256
from pratique.contract.reasons import ReasonCode
from pratique.contract.topics import MAX_ENVELOPE_BYTES, MAX_REQUEST_BYTES
from streams.application.ports.log import Channel, LogRecord, Output

PREFIX: Final = "pratique-dead-letter-"

MAX_KEPT_BYTES: Final = MAX_REQUEST_BYTES + MAX_ENVELOPE_BYTES
"""Most that is kept of a record, in bytes; the topic's bound leaves 32 KiB more, for our headers and the batch."""

_HEADER_BYTES: Final = 10
"""What a header costs beside its name and value: two lengths."""


def dead_letter(record: LogRecord, code: ReasonCode, *, now_ms: int, attempt: int = 1) -> Output:
    """Return the dead letter of a record.

    Args:
        record: What could not be served.
        code: Why.
        now_ms: When it was first seen to be so, milliseconds since the epoch.
        attempt: Which try at serving it this was.
    """
    stated = [
        ("topic", record.topic),
        ("partition", str(record.partition)),
        ("offset", str(record.offset)),
        ("code", code.value),
        ("attempt", str(attempt)),
        ("first-seen", str(now_ms)),
    ]
    key, value = record.key, record.value
    kept = [(name.replace("\0", "\u2400"), item) for name, item in record.headers or () if not name.startswith(PREFIX)]
    omitted = []
    room = MAX_KEPT_BYTES - len(key or b"") - len(value or b"")
    if sum(len(name.encode("utf-8")) + len(item or b"") + _HEADER_BYTES for name, item in kept) > room:
        kept = []
        omitted.append("headers")
    if room < 0 and value is not None:
        stated += [("value-bytes", str(len(value))), ("value-sha256", bytes_sha256(value))]
        room += len(value)
        value = None
        omitted.append("value")
    if room < 0:
        key = None
        omitted.append("key")
    if omitted:
        stated.append(("omitted", " ".join(omitted)))
    headers = [*kept, *((PREFIX + name, text.encode("utf-8")) for name, text in stated)]
    return Output(Channel.DEAD_LETTER, key, value, headers)
