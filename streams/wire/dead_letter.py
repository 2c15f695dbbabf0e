"""Dead letters: a record that can't be served, kept with its bytes and with what is needed to look at it and replay it.

The contract: value, key and headers are the original's; our own headers, all prefixed ``pratique-dead-letter-``, are
added (an original header of such a name is dropped: it would speak for us). The code is a reason code; nothing of the
content is repeated in a header.
"""

from __future__ import annotations

from typing import Final

from pratique.contract.reasons import ReasonCode
from streams.application.ports.log import Channel, LogRecord, Output

PREFIX: Final = "pratique-dead-letter-"


def dead_letter(record: LogRecord, code: ReasonCode, *, now_ms: int, attempt: int = 1) -> Output:
    """Return the dead letter of a record.

    Args:
        record: What could not be served.
        code: Why.
        now_ms: When it was first seen to be so, milliseconds since the epoch.
        attempt: Which try at serving it this was.
    """
    kept = [(name, value) for name, value in record.headers or () if not name.startswith(PREFIX)]
    stated = [
        ("topic", record.topic),
        ("partition", str(record.partition)),
        ("offset", str(record.offset)),
        ("code", code.value),
        ("attempt", str(attempt)),
        ("first-seen", str(now_ms)),
    ]
    headers = [*kept, *((PREFIX + name, value.encode("utf-8")) for name, value in stated)]
    return Output(Channel.DEAD_LETTER, record.key, record.value, headers)
