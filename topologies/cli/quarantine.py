"""``pratique quarantine``: what verdicts put into the ledger by themselves, and a curator's word on it.

The contract (contract page, Commands): ``--json`` everywhere; exit 0 done, 1 the answer is "no" (refused, or still
withheld when it was asked about again), 2 wrong usage or configuration, 3 could not find out. An entry is named by its
fingerprint, or the beginning of it. No content is printed, ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from pratique.contract.canonical import JsonValue
from pratique.contract.document import HEX64
from pratique.contract.reasons import REASONS, ReasonCode
from pratique.contract.records import Disposition, Verdict
from pratique.errors import ConfigurationError, RefusedError, UnavailableError
from streams.domain.quarantine.record import Action
from streams.domain.quarantine.review import OPEN, ReviewState
from topologies.bootstrap.ledger_client import Audited, Intent, change, companions
from topologies.bootstrap.quarantine import Queued, content_of, queue, rescan
from topologies.cli import arguments
from topologies.cli.arguments import IDENTIFIER, REASON
from topologies.cli.inputs import InputFile
from topologies.cli.output import ONLY_LINKED, Exit, json_option, print_json, print_table, speaks
from topologies.cli.stack_options import stack_option, stack_settings
from topologies.settings import Settings

COLUMNS: Final = ("tenant", "fingerprint", "state", "found", "verdict", "since", "ends", "counted after")
SHORTEST: Final = 8
"""Least of a fingerprint that names an entry, in digits."""


@click.group()
def quarantine() -> None:
    """The review queue: what verdicts quarantined by themselves, or would have, and what curators made of it."""


@quarantine.command("list")
@click.option("--tenant", type=IDENTIFIER, help="Whose entries; everyone's by default.")
@click.option("--all", "everything", is_flag=True, help="Also those that nobody has to look at any more.")
@stack_option
@json_option
@speaks
def list_command(*, tenant: str | None, everything: bool, stack: Path, as_json: bool) -> None:
    """List what waits for a curator (PENDING), and what counts until its time is over (EFFECTIVE)."""
    items = [item for item in queue(stack_settings(stack), tenant) if everything or item.entry.state in OPEN]
    windows = sorted(item.window_ms for item in items if item.window_ms is not None and _is_effective(item))
    if as_json:
        print_json({"entries": [_row(item) for item in items], "windows_ms": [*windows]})
        return
    print_table("automatic entries of the quarantine ledger", COLUMNS, [_shown(item) for item in items])
    pending = sum(item.entry.state == ReviewState.PENDING.value for item in items)
    click.echo(f"{pending} wait for a curator, {len(windows)} count without one", nl=not windows)
    if windows:
        middle, longest = windows[len(windows) // 2] / 1000, windows[-1] / 1000
        click.echo(f"; from verdict to entry: median {middle:.2f} s, longest {longest:.2f} s")


def _named(command: Callable[..., None]) -> Callable[..., None]:
    """Add what every word on an entry needs."""
    options: list[Any] = [
        click.argument("fingerprint"),
        click.option("--tenant", type=IDENTIFIER, required=True, help="The tenant it concerns."),
        click.option("--reason", type=REASON, required=True, help="Why, in words that are kept for good; no content."),
        click.option("--incident", type=IDENTIFIER, help="Id of the incident; the entry's own by default."),
        click.option("--actor", type=IDENTIFIER, help="Who; the signing key's id by default."),
        click.option(
            "--wait",
            "wait_s",
            type=click.FloatRange(min=0, min_open=True),
            default=60.0,
            show_default=True,
            help="Longest wait for its effect, in seconds.",
        ),
        stack_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@quarantine.command("confirm")
@_named
@json_option
@speaks
def confirm(**given: Any) -> None:  # noqa: ANN401 - the options above
    """Quarantine for good what a verdict proposed, or put in for a time."""
    settings = stack_settings(given["stack"])
    item = _found(settings, given)
    audited = _spoken(settings, item, Action.ADD, given)
    _told(item, audited, given, {})


@quarantine.command("release")
@_named
@click.option("--content", type=InputFile(), help="The content, where the request that had it may be gone.")
@json_option
@speaks
def release(**given: Any) -> None:  # noqa: ANN401 - the options above
    """Take out, or do not let in, what a verdict put in or proposed; then ask about it again under current policy."""
    settings = stack_settings(given["stack"])
    item = _found(settings, given)
    content = _content(settings, item, given)
    audited = _spoken(settings, item, Action.REMOVE, given, content)
    if content is None:
        _told(item, audited, given, {"rescan": None})
        click.echo("the content is not kept any more: it is scanned when it is recalled again", err=True)
        click.echo(ONLY_LINKED, err=True)
        return
    verdict = rescan(given["stack"], item, content, wait_s=given["wait_s"])
    _told(item, audited, given, {"rescan": _rescanned(verdict)})
    if verdict is None:
        raise UnavailableError("it is released; no verdict on the rescan came in time")
    if not _is_admitted(verdict):
        click.echo("it is released, and still withheld for what was found in it now", err=True)
        sys.exit(int(Exit.NO))


def _found(settings: Settings, given: dict[str, Any]) -> Queued:
    start = str(given["fingerprint"])
    if HEX64.fullmatch(start.ljust(64, "0")) is None or len(start) < SHORTEST:
        raise ConfigurationError(f"an entry is named by {SHORTEST} to 64 lower-case hexadecimal digits")
    found = [item for item in queue(settings, given["tenant"]) if item.key.fingerprint.startswith(start)]
    if len(found) != 1:
        raise RefusedError(f"{len(found)} automatic entries of the tenant have a fingerprint that begins so")
    return found[0]


def _intent(item: Queued, action: Action, given: dict[str, Any]) -> Intent:
    return Intent(
        action=action,
        key=item.key,
        key_generation=item.entry.key_generation,
        incident_id=given["incident"] or item.entry.incident_id,
        reason=given["reason"],
        actor_id=given["actor"],
        policy_id=item.entry.policy_id,
    )


def _spoken(
    settings: Settings, item: Queued, action: Action, given: dict[str, Any], content: str | None = None
) -> Audited:
    """Return what the ledger said of a curator's word, which is as good for the same content's other entries."""
    intent = _intent(item, action, given)
    audited = _done(change(settings, intent, wait_s=given["wait_s"]), intent, given["wait_s"])
    for other in companions(settings, intent, content):
        _done(change(settings, other, wait_s=given["wait_s"]), other, given["wait_s"])
    return audited


def _done(audited: Audited | None, intent: Intent, wait_s: float) -> Audited:
    """Return what the ledger said, where it did what it was asked for."""
    generation = f"under key generation {intent.key_generation}"
    if audited is None:
        raise UnavailableError(f"the command was sent; within {wait_s:g} s the ledger said nothing of it {generation}")
    if not audited.entry.accepted:
        code = ReasonCode(audited.entry.reason_code or "")
        raise RefusedError(f"refused {generation}: {REASONS[code].meaning} {REASONS[code].remedy}")
    return audited


def _content(settings: Settings, item: Queued, given: dict[str, Any]) -> str | None:
    if given["content"] is None:
        return content_of(settings, item)
    return arguments.content_of(given["content"])


def _told(item: Queued, audited: Audited, given: dict[str, Any], more: dict[str, JsonValue]) -> None:
    state = ReviewState.CONFIRMED if not more else ReviewState.RELEASED
    stated = {
        "tenant": item.key.tenant_id,
        "fingerprint": item.key.fingerprint,
        "state": state.value,
        "signed_by": audited.entry.key_id,
        "at": _moment(audited.at_ms),
        **more,
    }
    if given["as_json"]:
        print_json(stated)
    else:
        print_table(item.key.record_key.decode(), ("what", "value"), [[name, str(stated[name])] for name in stated])


def _rescanned(verdict: Verdict | None) -> JsonValue:
    if verdict is None:
        return None
    return {
        "verdict_id": verdict.verdict_id,
        "outcome": verdict.outcome.value,
        "admitted": _is_admitted(verdict),
        "codes": [*dict.fromkeys(reason.code for reason in verdict.reasons)],
    }


def _is_admitted(verdict: Verdict) -> bool:
    return [entry.disposition for entry in verdict.entries or ()] == [Disposition.ADMITTED]


def _is_effective(item: Queued) -> bool:
    return item.entry.state == ReviewState.EFFECTIVE.value


def _row(item: Queued) -> dict[str, JsonValue]:
    entry = item.entry
    return {
        "tenant": item.key.tenant_id,
        "fingerprint": item.key.fingerprint,
        "state": entry.state,
        "codes": list(entry.codes),
        "origin": entry.origin.value,
        "path": entry.path,
        "verdict_id": entry.verdict_id,
        "request_sha256": entry.request_sha256,
        "policy_id": entry.policy_id,
        "policy_version": entry.policy_version,
        "detector_version": entry.detector_version,
        "key_generation": entry.key_generation,
        "incident": entry.incident_id,
        "decided_at": _moment(entry.decided_at),
        "proposed_at": _moment(entry.proposed_at),
        "changed_at": _moment(item.at_ms),
        "expires_at": _moment(entry.expires_at) if entry.state in OPEN else None,
        "revision": entry.revision,
        "window_ms": item.window_ms,
    }


def _shown(item: Queued) -> list[str]:
    entry = item.entry
    return [
        str(item.key.tenant_id),
        item.key.fingerprint[:16],
        entry.state,
        ", ".join(entry.codes),
        entry.verdict_id[:16],
        _moment(entry.decided_at),
        _moment(entry.expires_at) if entry.state in OPEN else "",
        "" if item.window_ms is None else f"{item.window_ms / 1000:.2f} s",
    ]


def _moment(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="seconds")
