"""The record of one transition, ``aidefend.recall_quarantine.v2``, exactly as the seed has it (AID-D-001.005 G002).

The contract: a record's canonical text has sorted keys, the separators ``,`` and ``:`` and **ASCII escaping**; its
``event_id`` is the SHA-256 of the canonical text of all its other fields. ``parse_record`` accepts nothing else: a
record that was altered, reordered or misbound is malformed, which is an error and never "not quarantined".
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeVar

import orjson

from pratique.contract.canonical import JsonValue, parse_json, text_sha256
from pratique.contract.document import HEX64, MAX_INTEGER, SAFE_ID, Fields
from pratique.errors import MalformedError
from streams.domain.quarantine.ledger_key import LedgerKey, Scope

RECORD_SCHEMA_VERSION: Final = "aidefend.recall_quarantine.v2"
MAX_RECORD_BYTES: Final = 4096
"""A record has eleven fields of at most 128 ASCII characters; nothing of it is longer."""

_FIELDS: Final = (
    "schema_version",
    "revision",
    "event_id",
    "action",
    "scope",
    "tenant_id",
    "fingerprint_hmac_sha256",
    "incident_id",
    "actor_id",
    "authentication_event_id",
    "policy_version",
    "detector_version",
)
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)

EnumT = TypeVar("EnumT", bound=Enum)


class Action(Enum):
    """What a transition does."""

    ADD = "add"
    REMOVE = "remove"


_SCOPES: Final = {scope.value: scope for scope in Scope}
_ACTIONS: Final = {action.value: action for action in Action}
_IDENTIFIERS: Final = ("incident_id", "actor_id", "authentication_event_id", "policy_version", "detector_version")
"""The identifiers of a record, in the order of its attributes."""

_CANONICAL: Final = re.compile(
    r'\{"action":"(?P<action>add|remove)"'
    rf',"actor_id":"(?P<actor_id>{SAFE_ID.pattern})"'
    rf',"authentication_event_id":"(?P<authentication_event_id>{SAFE_ID.pattern})"'
    rf',"detector_version":"(?P<detector_version>{SAFE_ID.pattern})"'
    rf'(?P<said>,"event_id":"(?P<event_id>{HEX64.pattern})")'
    rf',"fingerprint_hmac_sha256":"(?P<fingerprint>{HEX64.pattern})"'
    rf',"incident_id":"(?P<incident_id>{SAFE_ID.pattern})"'
    rf',"policy_version":"(?P<policy_version>{SAFE_ID.pattern})"'
    r',"revision":(?P<revision>[1-9][0-9]{0,15})'
    rf',"schema_version":"{re.escape(RECORD_SCHEMA_VERSION)}"'
    rf',"scope":"(?P<scope>tenant|global)","tenant_id":(?:null|"(?P<tenant_id>{SAFE_ID.pattern})")\}}'
)
"""The canonical text of a record: no part of it can be read in two ways, so that matching takes linear time."""


@dataclass(frozen=True, slots=True)
class QuarantineRecord:
    """One transition of one fingerprint in one scope.

    Attributes:
        key: Whom and what it concerns.
        revision: Its number in the fingerprint's history, from 1.
        action: Whether the fingerprint is quarantined from here on.
        incident_id: Why: the incident that led to it.
        actor_id: Who.
        authentication_event_id: How the actor was authenticated.
        policy_version: The recall policy that it was judged under.
        detector_version: The detector that it was judged with.
    """

    key: LedgerKey
    revision: int
    action: Action
    incident_id: str
    actor_id: str
    authentication_event_id: str
    policy_version: str
    detector_version: str

    @property
    def event_id(self) -> str:
        """The digest of everything it says."""
        return hashlib.sha256(_canonical(self._base()).encode("ascii")).hexdigest()

    @property
    def text(self) -> str:
        """Its canonical, ASCII-escaped JSON."""
        return self.text_of(self.event_id)

    def text_of(self, event_id: str) -> str:
        """Return its text, where its event id was computed already."""
        return _canonical({**self._base(), "event_id": event_id})

    def _base(self) -> dict[str, JsonValue]:
        return {
            "schema_version": RECORD_SCHEMA_VERSION,
            "revision": self.revision,
            "action": self.action.value,
            "scope": self.key.scope.value,
            "tenant_id": self.key.tenant_id,
            "fingerprint_hmac_sha256": self.key.fingerprint,
            "incident_id": self.incident_id,
            "actor_id": self.actor_id,
            "authentication_event_id": self.authentication_event_id,
            "policy_version": self.policy_version,
            "detector_version": self.detector_version,
        }


def _canonical(value: dict[str, JsonValue]) -> str:
    """Return canonical, ASCII-escaped JSON of texts and integers; of ASCII, orjson's is the same, and sooner there."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode("utf-8")
    except TypeError:  # an integer or a text that orjson has no form for
        return _ENCODER.encode(value)
    return text if text.isascii() else _ENCODER.encode(value)


def parse_record(text: str) -> QuarantineRecord:
    """Read a record's canonical text.

    Raises:
        MalformedError: It is not exactly the canonical text of a record; the message names the field.
    """
    plain = _plain(text)
    if plain is None:
        return _strict(text)
    key, found = plain
    return QuarantineRecord(key, int(found["revision"]), _ACTIONS[found["action"]], *found.group(*_IDENTIFIERS))


def parse_record_key(text: str) -> LedgerKey:
    """Return whom and what a record concerns; the whole of it is read.

    Raises:
        MalformedError: As of ``parse_record``.
    """
    plain = _plain(text)
    return _strict(text).key if plain is None else plain[0]


def _plain(text: str) -> tuple[LedgerKey, re.Match[str]] | None:
    """Return a canonical text's key and fields; none where anything is unusual, which is ``_strict``'s to name.

    A ledger has millions of records. A text that the expression matches has each field once, in order, without escapes,
    each of its kind; without its event id it is what that is the digest of.
    """
    found = _CANONICAL.fullmatch(text)
    if found is None:
        return None
    base = text[: found.start("said")] + text[found.end("said") :]
    digest = hashlib.sha256(base.encode("ascii")).hexdigest()
    event_id, scope, tenant_id, fingerprint = found.group("event_id", "scope", "tenant_id", "fingerprint")
    if digest != event_id or int(found["revision"]) > MAX_INTEGER:
        return None
    try:
        return LedgerKey.of(_SCOPES[scope], tenant_id, fingerprint), found
    except MalformedError:
        return None


def _strict(text: str) -> QuarantineRecord:
    fields = Fields(
        parse_json(text, max_bytes=MAX_RECORD_BYTES, max_depth=1), "quarantine record", _FIELDS, MalformedError
    )
    fields.literal("schema_version", RECORD_SCHEMA_VERSION)
    record = QuarantineRecord(
        key=LedgerKey.of(
            choice(fields, "scope", Scope),
            nullable_identifier(fields, "tenant_id"),
            fields.sha256("fingerprint_hmac_sha256"),
        ),
        revision=fields.integer("revision", minimum=1),
        action=choice(fields, "action", Action),
        incident_id=fields.identifier("incident_id"),
        actor_id=fields.identifier("actor_id"),
        authentication_event_id=fields.identifier("authentication_event_id"),
        policy_version=fields.identifier("policy_version"),
        detector_version=fields.identifier("detector_version"),
    )
    if record.text != text:
        raise fields.refusal("event_id", "is not that of the rest, or the text is not canonical")
    return record


def as_identifier(version: str) -> str:
    """Return a version as the identifier that a record's must be: itself, or its digest where it is none."""
    return version if SAFE_ID.fullmatch(version) else f"sha256-{text_sha256(version)}"


def choice(fields: Fields, name: str, kind: type[EnumT]) -> EnumT:
    """Return a field that is one of an enumeration's values."""
    value = fields.raw(name)
    for member in kind:
        if member.value == value:
            return member
    raise fields.refusal(name, f"is none of {', '.join(str(member.value) for member in kind)}")


def nullable_identifier(fields: Fields, name: str) -> str | None:
    """Return an identifier, or null where the field is null."""
    return None if fields.raw(name) is None else fields.identifier(name)
