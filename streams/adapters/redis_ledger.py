"""Changing the quarantine ledger's view in Redis: through its functions, one identity a scope.

The contract: nothing here decides. A transition is applied if it is the next revision and the view stands where the
applier believes it does; else ``ViewConflictError`` says what was refused, and the view is as it was. A Redis that is
away raises ``UnavailableError``.

``ViewMaintenance`` makes and drops namespaces and changes the pointer, under an identity that a rebuild and a
rotation's steps have. Who changes the pointer says what it was when they read it: of two who change it at once, one is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ResponseError

from pratique.errors import RefusedError, UnavailableError
from streams.adapters.redis_connect import REDIS_ERRORS, each_server
from streams.adapters.redis_keys import POINTER, Pointer, count_field, index_key, meta_key, tag
from streams.adapters.redis_view import read_pointer
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.errors import LedgerViewIncompleteError

FUNCTIONS: Final = Path(__file__).with_name("redis_functions.lua")
DROP_KEYS: Final = 1000
CALL_STEPS: Final = 50
"""Transitions of one call: nobody is served before it is done, so that it must not take long."""

_PREFIX: Final = "VIEW_"
_NO_FUNCTION: Final = "Function not found"
_POINTER_FIELDS: Final = ("namespace", "partition_count", "generation", "following")
_TAG: Final = "{pratique:"
_ANY: Final = _TAG + "*}:*"


class ViewConflictError(RefusedError):
    """The view refuses a change.

    Attributes:
        refusal: The function's word: ABSENT, OFFSET, REVISION, REPEATED, REUSED, RETIRED, BROKEN, MALFORMED, EXISTS,
            MOVED or LOWER.
    """

    def __init__(self, refusal: str, message: str = "") -> None:
        super().__init__(message or f"the ledger's view refuses a change: {refusal}")
        self.refusal = refusal


class PointerMovedError(ViewConflictError):
    """Look-ups read something else than they did when the pointer was read; nothing was changed."""

    def __init__(self, found: Pointer | None, expected: Pointer | None) -> None:
        super().__init__(
            "MOVED",
            f"look-ups read something else than when this began: found {_said(found)}, expected {_said(expected)}. "
            "Nothing was changed; see `pratique ledger keys status`, then give the command again",
        )


class Step(NamedTuple):
    """A transition to apply.

    Attributes:
        key: The entry.
        record_json: The record.
        generation: The fingerprint key's generation.
        applied: The audit offset up to which the view has applied everything.
        following: The offset after this transition.
    """

    key: LedgerKey
    record_json: str
    generation: str
    applied: int
    following: int


class RedisLedger:
    """Applies transitions.

    Args:
        tenant: A connection of the identity that changes tenants' entries.
        everyone: A connection of the identity that changes global entries.
        call_steps: Transitions of one call at most.
    """

    def __init__(self, tenant: Redis, everyone: Redis, *, call_steps: int = CALL_STEPS) -> None:
        self._clients = {Scope.TENANT: tenant, Scope.GLOBAL: everyone}
        self._call_steps = call_steps

    def pointer(self) -> Pointer:
        """Return what look-ups read.

        Raises:
            LedgerViewIncompleteError: There is none, or it is malformed.
            UnavailableError: Redis does not answer.
        """
        return read_pointer(_asked(lambda: self._clients[Scope.TENANT].hgetall(POINTER)))

    def applied(self, namespace: str, partition: int) -> int | None:
        """Return the audit offset up to which a partition's view has applied everything; none where it is not there.

        Raises:
            UnavailableError: Redis does not answer.
        """
        stated = _asked(lambda: self._clients[Scope.TENANT].hmget(meta_key(namespace, partition), ["applied"]))
        return None if stated[0] is None else int(stated[0])

    def apply(self, namespace: str, partition: int, steps: Sequence[Step]) -> None:
        """Apply transitions of one partition, in order; of the same scope they travel together.

        Raises:
            ViewConflictError: One is refused; those before it are applied.
            UnavailableError: Redis does not answer; how many were applied is unknown.
        """
        for scope, run in _runs(steps):
            with self._clients[scope].pipeline(transaction=False) as pipeline:
                for together in _calls(run, self._call_steps):
                    _call(pipeline, namespace, partition, together)
                # Offsets are compared, so whatever comes after a refusal is refused as well.
                replies = _asked(lambda pipeline=pipeline: pipeline.execute(raise_on_error=False))  # type: ignore[misc]
            for reply in replies:
                if isinstance(reply, Exception):
                    raise _translated(reply)

    def retire(self, namespace: str, partition: int, generation: str, *, applied: int, following: int) -> None:
        """Count a key generation's entries no more, and take no more of them.

        Raises:
            ViewConflictError: The view does not stand at ``applied``.
            UnavailableError: Redis does not answer.
        """
        client = self._clients[Scope.TENANT]
        key = meta_key(namespace, partition)
        _asked(lambda: client.fcall("pratique_retire", 1, key, str(applied), str(following), generation))

    def advance(self, namespace: str, partition: int, *, applied: int, following: int, end: int) -> None:
        """State that there was nothing to apply up to an offset, and, at the end, that this was all there is.

        Raises:
            ViewConflictError: The view does not stand at ``applied``.
            UnavailableError: Redis does not answer.
        """
        client = self._clients[Scope.TENANT]
        key = meta_key(namespace, partition)
        _asked(lambda: client.fcall("pratique_advance", 1, key, str(applied), str(following), str(end)))

    def eviction_policy(self) -> tuple[str, int]:
        """Return the servers' eviction policy and how many keys they have evicted since they started.

        Where servers differ in their policy, all of them are named.

        Raises:
            UnavailableError: Redis does not answer.
        """
        client = self._clients[Scope.TENANT]
        stated = _asked(lambda: each_server(client, client.info))
        policies = sorted({str(item.get("maxmemory_policy")) for item in stated})
        return ",".join(policies), sum(int(item.get("evicted_keys", 0)) for item in stated)


class ViewMaintenance:
    """Makes and drops namespaces.

    Args:
        client: A connection of the maintenance identity.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    def load_functions(self) -> None:
        """Load the view's functions, in the place of earlier ones.

        Raises:
            UnavailableError: Redis does not answer.
        """
        code = FUNCTIONS.read_text("utf-8")
        _asked(lambda: self._client.function_load(code, replace=True))

    def pointer(self) -> Pointer | None:
        """Return what look-ups read; none where nothing was ever built, or it is malformed.

        Raises:
            UnavailableError: Redis does not answer.
        """
        try:
            return read_pointer(_asked(lambda: self._client.hgetall(POINTER)))
        except LedgerViewIncompleteError:
            return None

    def open(self, namespace: str, partition: int, *, first: int) -> None:
        """Begin a partition's view.

        Raises:
            ViewConflictError: It is there already.
            UnavailableError: Redis does not answer.
        """
        _asked(lambda: self._client.fcall("pratique_open", 1, meta_key(namespace, partition), str(first)))

    def flip(self, pointer: Pointer, *, before: Pointer | None) -> None:
        """Have look-ups read another namespace, or go by another key generation, from now on: in one step.

        Args:
            pointer: What they are to read.
            before: What they read when that was decided; none where that was nothing, or malformed.

        Raises:
            PointerMovedError: They read something else.
            ViewConflictError: LOWER: the namespace has a smaller number than the one that they read.
            RefusedError: The functions in Redis are of a release that had no such change.
            UnavailableError: Redis does not answer.
        """
        expected = self._malformed() if before is None else _fields(before)
        arguments = (*expected, *_fields(pointer))
        try:
            _asked(lambda: self._client.fcall("pratique_point", 1, POINTER, *arguments))
        except ViewConflictError as error:
            if error.refusal != "MOVED":
                raise
            raise PointerMovedError(self.pointer(), before) from error
        except UnavailableError as error:
            if _NO_FUNCTION not in str(error.__cause__):
                raise
            raise RefusedError(
                "the view's functions in Redis are another release's: run `pratique ledger rebuild`, it loads these"
            ) from error

    def _malformed(self) -> tuple[str, ...]:
        """Return the fields of a pointer that is none, as they are."""
        stated = _asked(lambda: self._client.hgetall(POINTER))
        try:
            found = read_pointer(stated)
        except LedgerViewIncompleteError:
            return tuple(stated.get(name, "") for name in _POINTER_FIELDS)
        raise PointerMovedError(found, None)

    def drop(self, *, goes: Callable[[str], bool]) -> int:
        """Drop namespaces; return how many keys they had.

        All keys are passed once, whatever goes: looking for a namespace's own reads all the others' as well.

        Args:
            goes: Whether a namespace of this name is to go.

        Raises:
            UnavailableError: Redis does not answer.
        """
        dropped = 0
        found = self._client.scan_iter(_ANY, DROP_KEYS)
        while together := _asked(lambda: list(islice(found, DROP_KEYS))):
            if keys := [key for key in together if goes(_namespace_of(key))]:
                dropped += _asked(lambda keys=keys: self._client.unlink(*keys))  # type: ignore[misc]
        return dropped


def _fields(pointer: Pointer) -> tuple[str, ...]:
    return pointer.namespace, str(pointer.partition_count), pointer.generation, pointer.following


def _said(pointer: Pointer | None) -> str:
    if pointer is None:
        return "no view"
    following = f" (entries are carried over to {pointer.following})" if pointer.following else ""
    return f"view {pointer.namespace} under key generation {pointer.generation}{following}"


def _namespace_of(key: str) -> str:
    return key.partition("}")[0].removeprefix(_TAG).rpartition(":")[0]


def _calls(steps: Sequence[Step], most: int) -> Iterator[list[Step]]:
    """Yield what one call applies: transitions of which each begins where the one before it ends."""
    call: list[Step] = []
    for step in steps:
        if call and (len(call) == most or step.applied != call[-1].following):
            yield call
            call = []
        call.append(step)
    if call:
        yield call


def _call(pipeline: Pipeline, namespace: str, partition: int, steps: Sequence[Step]) -> None:
    prefix = tag(namespace, partition)
    indexes: dict[tuple[Scope, str, str], int] = {}
    numbers = [
        indexes.setdefault((step.key.scope, step.key.segment, step.generation), len(indexes) + 1) for step in steps
    ]
    keys = [meta_key(namespace, partition)]
    arguments = [str(steps[0].applied), str(len(indexes))]
    for scope, segment, generation in indexes:
        keys.append(index_key(namespace, partition, scope.value, segment, generation))
        arguments += (count_field(scope.value, segment), generation)
    keys += [prefix + step.key.view_key for step in steps]
    arguments += (" ".join([str(step.following) for step in steps]), " ".join(map(str, numbers)))
    arguments += [step.record_json for step in steps]
    pipeline.fcall("pratique_apply", len(keys), *keys, *arguments)


def _runs(steps: Sequence[Step]) -> Iterator[tuple[Scope, list[Step]]]:
    run: list[Step] = []
    for step in steps:
        if run and run[-1].key.scope is not step.key.scope:
            yield run[-1].key.scope, run
            run = []
        run.append(step)
    if run:
        yield run[-1].key.scope, run


def _asked(ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - the client's replies are untyped
    try:
        return ask()
    except REDIS_ERRORS as error:
        raise _translated(error) from error


def _translated(error: Exception) -> Exception:
    text = str(error)
    if isinstance(error, ResponseError) and text.startswith(_PREFIX):
        return ViewConflictError(text.removeprefix(_PREFIX))
    # Redis's messages may quote keys; its class says enough.
    return UnavailableError(f"the ledger's view can't be changed: {type(error).__name__}")
