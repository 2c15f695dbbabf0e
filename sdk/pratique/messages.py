"""Source messages from what agents hold: mappings with ``message_id``, ``role`` and ``content``.

The contract: what the gate would refuse as MESSAGE_INVALID or DUPLICATE_MESSAGE_ID is refused here, before anything is
sent. A tool call without text is given as its canonical JSON (``pratique.contract.canonical.canonical_json``), since
empty content is refused. System turns are no source messages: they come back from policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pratique.contract.records import Provenance, Role, SourceMessage
from pratique.errors import MalformedError

Messages = Sequence[SourceMessage | Mapping[str, object]]


def source_messages(messages: Messages) -> tuple[SourceMessage, ...]:
    """Return messages as records.

    Raises:
        MalformedError: One has no ``message_id``, ``role`` or ``content``, an unknown field or role, or is empty; or
            two have the same id (code DUPLICATE_MESSAGE_ID).
    """
    records = tuple(
        item if isinstance(item, SourceMessage) else _source_message(index, item) for index, item in enumerate(messages)
    )
    if not records:
        raise MalformedError("there are no source messages", code="MESSAGE_INVALID")
    for index, item in enumerate(records):
        if not item.message_id or not item.content:
            raise MalformedError(f"source message {index} has an empty id or content", code="MESSAGE_INVALID")
    if len({item.message_id for item in records}) != len(records):
        raise MalformedError("two source messages have the same id", code="DUPLICATE_MESSAGE_ID")
    return records


def _source_message(index: int, value: Mapping[str, object]) -> SourceMessage:
    fields = dict(value)
    try:
        message_id, role, content = fields.pop("message_id"), fields.pop("role"), fields.pop("content")
        provenance = Provenance(fields.pop("provenance", Provenance.UNTRUSTED.value))
        who = Role(role)
    except (KeyError, ValueError):
        raise MalformedError(
            f"source message {index} needs message_id, role (user, assistant or tool) and content",
            code="MESSAGE_INVALID",
        ) from None
    if fields or not isinstance(message_id, str) or not isinstance(content, str):
        raise MalformedError(f"source message {index} has an unknown field or no texts", code="MESSAGE_INVALID")
    return SourceMessage(message_id, who, content, provenance)
