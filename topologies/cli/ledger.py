"""``pratique ledger``: what is quarantined, putting it there and taking it out, with who, why and when.

The contract (contract page, Commands): ``--json`` everywhere; exit 0 done, 1 the answer is "no" (refused, or not
quarantined), 2 wrong usage or configuration, 3 could not find out. Content is read from a file or standard input,
fingerprinted here, and sent nowhere. Settings come from the environment, and from ``stack.json`` where that says none.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import Progress

from pratique.contract.canonical import JsonValue
from pratique.contract.reasons import REASONS, ReasonCode
from pratique.errors import ConfigurationError, UnavailableError
from streams.domain.quarantine.ledger_key import LedgerKey, Scope
from streams.domain.quarantine.record import Action
from topologies.bootstrap.ledger_client import (
    Audited,
    Intent,
    change,
    companions,
    fingerprint_of,
    generation_of,
    head,
    history,
    located,
)
from topologies.bootstrap.ledger_view import compare, rebuild
from topologies.cli.arguments import FINGERPRINT, IDENTIFIER, REASON, content_of
from topologies.cli.inputs import InputFile
from topologies.cli.ledger_keys import keys
from topologies.cli.output import ONLY_LINKED, Exit, json_option, print_json, print_table, speaks
from topologies.cli.stack_options import stack_option, stack_settings
from topologies.settings import Settings

_OF_REVIEWS: Final = frozenset(
    code.value
    for code in (
        ReasonCode.LEDGER_REVIEW_PENDING,
        ReasonCode.LEDGER_REVIEW_EXPIRED,
        ReasonCode.LEDGER_REVIEW_RELEASED,
    )
)
"""Codes that say what became of an automatic entry, and refuse nobody."""

COLUMNS: Final = ("revision", "what", "when", "incident", "who", "why", "policy", "detector", "signed by")


@click.group()
def ledger() -> None:
    """The quarantine ledger: fingerprints of content that no agent is to recall."""


ledger.add_command(keys)


def _about(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say which entry is meant."""
    options: list[Any] = [
        click.argument("content", type=InputFile(), required=False),
        click.option(
            "--fingerprint", type=FINGERPRINT, help="The fingerprint itself, where the content is not at hand."
        ),
        click.option("--tenant", type=IDENTIFIER, help="The tenant it concerns."),
        click.option("--global", "everyone", is_flag=True, help="It concerns every tenant."),
        stack_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _intended(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say why, and who."""
    options: list[Any] = [
        click.option("--incident", type=IDENTIFIER, required=True, help="Id of the incident it belongs to."),
        click.option("--reason", type=REASON, required=True, help="Why, in words that are kept for good; no content."),
        click.option("--actor", type=IDENTIFIER, help="Who; the signing key's id by default."),
        click.option(
            "--authentication-event",
            type=IDENTIFIER,
            help="Id of the sign-in it was decided under; a new one by default.",
        ),
        click.option(
            "--policy-id", type=IDENTIFIER, default="default", show_default=True, help="Policy it is recorded under."
        ),
        click.option(
            "--wait",
            "wait_s",
            type=click.FloatRange(min=0, min_open=True),
            default=60.0,
            show_default=True,
            help="Longest wait for its effect, in seconds.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@ledger.command("add")
@_about
@_intended
@json_option
@speaks
def add(**given: Any) -> None:  # noqa: ANN401 - the options above
    """Quarantine CONTENT, a file or - for standard input: no agent of the tenant recalls it from then on."""
    _change(Action.ADD, given)


@ledger.command("remove")
@_about
@_intended
@json_option
@speaks
def remove(**given: Any) -> None:  # noqa: ANN401 - the options above
    """Take CONTENT out of quarantine."""
    _change(Action.REMOVE, given)


@ledger.command("show")
@_about
@json_option
@speaks
def show(*, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - the options above
    """Show the history of CONTENT: who did what, when, why, and what was refused. Exit 1 if it is not quarantined."""
    settings = stack_settings(given["stack"])
    given["text"] = None if given["content"] is None else content_of(given["content"])
    key, _ = _key(settings, given, is_new=False)
    newest = head(settings, key)
    rows = [_row(item) for item in history(settings, key)]
    is_quarantined = newest is not None and newest.action is Action.ADD
    if as_json:
        print_json({"key": key.record_key.decode(), "quarantined": is_quarantined, "history": rows})
    else:
        state = "quarantined" if is_quarantined else "not quarantined"
        print_table(
            f"{key.record_key.decode()}: {state}", COLUMNS, [[str(row[name]) for name in COLUMNS] for row in rows]
        )
    if not is_quarantined:
        sys.exit(int(Exit.NO))


@ledger.command("rebuild")
@click.option(
    "--grace", type=click.FloatRange(min=0), default=5.0, show_default=True, help="Seconds that the old view stays."
)
@stack_option
@json_option
@speaks
def rebuild_command(*, grace: float, stack: Path, as_json: bool) -> None:
    """Build the view in Redis anew from the audit; look-ups are served throughout."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("partitions")
        rebuilt = rebuild(
            stack_settings(stack), lambda done, count: bar.update(task, completed=done, total=count), grace_s=grace
        )
    if as_json:
        print_json({"namespace": rebuilt.namespace, "generation": rebuilt.generation, "dropped": rebuilt.dropped})
    else:
        click.echo(
            f"look-ups read {rebuilt.namespace}, key generation {rebuilt.generation}; {rebuilt.dropped} keys dropped"
        )


@ledger.command("verify")
@stack_option
@json_option
@speaks
def verify_command(*, stack: Path, as_json: bool) -> None:
    """Compare ledger topic, audit and view, and print every difference; exit 1 if there is one."""
    compared = compare(stack_settings(stack))
    rows = [[item.where, item.what, item.detail] for item in compared.differences]
    if as_json:
        named = [dict(zip(("where", "what", "detail"), row, strict=True)) for row in rows]
        print_json({"entries": compared.entries, "differences": named})
    elif rows:
        print_table(f"{len(rows)} differences", ("where", "what", "detail"), rows)
    else:
        click.echo(f"{compared.entries} entries: topic, audit and view agree")
    if rows:
        sys.exit(int(Exit.NO))


def _change(action: Action, given: dict[str, Any]) -> None:
    settings = stack_settings(given["stack"])
    given["text"] = None if given["content"] is None else content_of(given["content"])
    key, generation = _key(settings, given, is_new=action is Action.ADD)
    content = given["text"]
    intent = Intent(
        action=action,
        key=key,
        key_generation=generation,
        incident_id=given["incident"],
        reason=given["reason"],
        actor_id=given["actor"],
        authentication_event_id=given["authentication_event"],
        policy_id=given["policy_id"],
    )
    result = change(settings, intent, wait_s=given["wait_s"])
    if result is None:
        raise UnavailableError(f"the command was sent; within {given['wait_s']:g} s the ledger said nothing of it")
    row = _row(result)
    others, worst = list[Audited](), Exit.DONE
    if result.entry.accepted:
        others, worst = _companions(settings, intent, content, given["wait_s"])
    also = [_row(item) for item in others]
    if given["as_json"]:
        print_json({**row, "other_generations": [*also]})
    else:
        print_table(key.record_key.decode(), ("what", "value"), [[name, str(row[name])] for name in COLUMNS])
        for other in also:
            click.echo(f"under key generation {other['key_generation']}: {other['what']}")
    if result.entry.accepted and action is Action.REMOVE and content is None:
        click.echo(f"pratique: {ONLY_LINKED}", err=True)
    if not result.entry.accepted:
        code = ReasonCode(result.entry.reason_code or "")
        click.echo(f"pratique: refused: {REASONS[code].meaning} {REASONS[code].remedy}", err=True)
        sys.exit(int(Exit.NO))
    if worst is not Exit.DONE:
        sys.exit(int(worst))


def _companions(settings: Settings, intent: Intent, content: str | None, wait_s: float) -> tuple[list[Audited], Exit]:
    """Do the same under other key generations, and say whether the command is done.

    What was not put in there is for ``keys fill`` to do. What was not taken out there is withheld still.
    """
    done, worst = list[Audited](), Exit.DONE
    for other in companions(settings, intent, content):
        result = change(settings, other, wait_s=wait_s)
        if result is None or not result.entry.accepted:
            click.echo(
                f"pratique: not done under key generation {other.key_generation}: see `pratique ledger keys status`",
                err=True,
            )
            if intent.action is Action.REMOVE:
                worst = max(worst, Exit.UNKNOWN if result is None else Exit.NO)
        if result is not None:
            done.append(result)
    return done, worst


def _row(audited: Audited) -> dict[str, JsonValue]:
    entry = audited.entry
    command = json.loads(entry.command_json) if entry.command_json is not None else {}
    stated = json.loads(entry.record_json) if entry.record_json is not None else command
    is_automatic = "verdict_id" in command
    what = "automatic add" if is_automatic else str(stated.get("action", "?"))
    if entry.reason_code in _OF_REVIEWS:
        what = f"{what}: {entry.reason_code}"
    elif not entry.accepted:
        what = f"{what} refused: {entry.reason_code}"
    elif entry.reason_code is not None:
        what = f"{what} again"
    return {
        "revision": stated.get("revision"),
        "what": what,
        "when": datetime.fromtimestamp(audited.at_ms / 1000, UTC).isoformat(timespec="milliseconds"),
        "incident": stated.get("incident_id"),
        "who": stated.get("actor_id"),
        "why": ", ".join(command["codes"]) if is_automatic else command.get("reason"),
        "policy": stated.get("policy_version"),
        "detector": stated.get("detector_version"),
        "signed by": entry.key_id,
        "accepted": entry.accepted,
        "reason_code": entry.reason_code,
        "event_id": stated.get("event_id"),
        "authentication_event": stated.get("authentication_event_id"),
        "key_generation": command.get("key_generation"),
    }


def _key(settings: Settings, given: dict[str, Any], *, is_new: bool) -> tuple[LedgerKey, str]:
    if (given["tenant"] is None) != bool(given["everyone"]):
        raise ConfigurationError("say whom it concerns: --tenant ID, or --global")
    if (given["content"] is None) != (given["fingerprint"] is not None):
        raise ConfigurationError("say what is meant: CONTENT, a file or -, or --fingerprint")
    scope = Scope.GLOBAL if given["everyone"] else Scope.TENANT
    if given["fingerprint"] is not None:
        key = LedgerKey.of(scope, given["tenant"], given["fingerprint"])
        return key, generation_of(settings, key)
    if not is_new:
        return located(settings, scope, given["tenant"], given["text"])
    found, generation = fingerprint_of(settings, given["text"])
    return LedgerKey.of(scope, given["tenant"], found), generation
