"""``pratique policy explain`` and ``prompt``: why a summary is judged as it is, and what to ask a model for.

The contract: ``explain`` shows the summary's own text, since the file is the operator's and showing it is its purpose;
it writes it to standard output and nowhere else. It exits 0 for PASS, 1 for anything else. It does not scan
(``pratique scan`` does) and verifies no signature of the request or its commitments.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from pratique.candidate import draft_candidate
from pratique.contract import avro
from pratique.contract.canonical import JsonValue
from pratique.contract.reasons import Outcome
from pratique.contract.records import CompactionRequested
from pratique.errors import MalformedError
from streams.application.explaining import (
    ExplainedClause,
    ExplainedConstraint,
    ExplainedMatch,
    Explanation,
    explain_compaction,
)
from streams.application.prompting import summarizer_prompt
from streams.domain.compaction.candidate import ClaimStatus
from streams.domain.policy.documents import manifest_body, snapshot_body
from streams.domain.policy.model import CommitmentSnapshot
from streams.wire.candidate import read_under
from topologies.bootstrap.authoring import PolicyInHand
from topologies.cli.output import Exit, json_option, print_json, shown, speaks
from topologies.cli.policy_answers import answered
from topologies.cli.policy_options import (
    FILE,
    policy_in_hand,
    read_bytes,
    read_value,
    repository_of,
    repository_options,
    source_option,
)
from topologies.cli.policy_rendering import INDENT, marked_text
from topologies.cli.policy_requests import read_request

_COLOURS: Final = {
    ClaimStatus.PRESERVED: "green",
    ClaimStatus.CONFLICT: "red",
    ClaimStatus.UNSUPPORTED: "yellow",
}


@click.command()
@click.argument("request_file", type=FILE, metavar="REQUEST.json")
@click.option("--summary", "summary_file", type=FILE, help="A text to explain in place of the request's candidate.")
@click.option("--narrative", "narrative_file", type=FILE, help="A narrative beside the --summary.")
@source_option
@repository_options
@click.option(
    "--color",
    "when",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether to colour the text.",
)
@json_option
@speaks
def explain(  # noqa: PLR0913 - a command line's options
    *,
    request_file: Path,
    summary_file: Path | None,
    narrative_file: Path | None,
    source: Path | None,
    directory: Path,
    repository: str | None,
    root: Path | None,
    policy_id: str,
    when: str,
    as_json: bool,
) -> None:
    """Show what the grammar makes of a request's summary, clause by clause, and what to change.

    REQUEST.json is a compaction in the form of `pratique submit`; - is standard input. Nothing is sent anywhere.
    """
    with answered(as_json):
        policy = policy_in_hand(source, repository_of(directory, repository, root, policy_id))
        request, snapshot = read_request(read_value(request_file, "request"), policy)
        if narrative_file is not None and summary_file is None:
            raise click.UsageError("a --narrative goes with a --summary")
        if summary_file is not None:
            texts = _text(summary_file, "summary"), _text(narrative_file, "narrative")
            request = _with_texts(request, texts, policy, snapshot)
        candidate = read_under(request.candidate_json, policy.policy_set.compaction)
        explanation = explain_compaction(
            request,
            candidate,
            policy.policy_set,
            snapshot,
            policy.grammar,
            request_bytes=len(avro.encode(request)),
        )
    if as_json:
        print_json({**explanation.body(), "policy": policy_body(policy), "not_checked": ["signatures", "scan"]})
    else:
        colour = {"auto": None, "always": True, "never": False}[when]
        for line in _lines(explanation, policy):
            click.echo(line, color=colour)
    sys.exit(int(Exit.DONE if explanation.outcome is Outcome.PASS else Exit.NO))


@click.command()
@click.option("--tenant", "tenant_id", help="Tenant whose standing commitments hold; the request's, with --request.")
@click.option("--request", "request_file", type=FILE, help="A request, to name the ids and digests of its messages.")
@click.option("--schema", "only_schema", is_flag=True, help="Print the candidate's JSON Schema in place of the prompt.")
@click.option("--summary-schema", is_flag=True, help="Print the JSON Schema of the summary alone.")
@source_option
@repository_options
@json_option
@speaks
def prompt(  # noqa: PLR0913 - a command line's options
    *,
    tenant_id: str | None,
    request_file: Path | None,
    only_schema: bool,
    summary_schema: bool,
    source: Path | None,
    directory: Path,
    repository: str | None,
    root: Path | None,
    policy_id: str,
    as_json: bool,
) -> None:
    """Print the summarizer's prompt, or a JSON Schema of its output."""
    with answered(as_json):
        policy = policy_in_hand(source, repository_of(directory, repository, root, policy_id))
        if request_file is not None:
            request, snapshot = read_request(read_value(request_file, "request"), policy)
            made = summarizer_prompt(policy.policy_set, snapshot, request.source_messages)
        elif tenant_id is not None:
            made = summarizer_prompt(policy.policy_set, policy.standing(tenant_id))
        else:
            raise click.UsageError("name a --tenant or a --request: commitments are a tenant's or a task's")
    for constraint_id in made.unstatable:
        click.echo(f"pratique policy: no clause states {constraint_id}; no summary can pass", err=True)
    if as_json:
        print_json(
            {
                "prompt": made.text,
                "schema": made.schema,
                "summary_schema": made.summary_schema,
                "unstatable": list(made.unstatable),
                "policy": policy_body(policy),
            }
        )
    elif only_schema or summary_schema:
        print_json(made.schema if only_schema else made.summary_schema)
    else:
        click.echo(made.text, nl=False)
    sys.exit(int(Exit.NO if made.unstatable else Exit.DONE))


def _text(path: Path | None, name: str) -> str | None:
    if path is None:
        return None
    try:
        return read_bytes(path).decode("utf-8").rstrip("\n")
    except UnicodeDecodeError:
        raise MalformedError(f"{name} is not UTF-8") from None


def _with_texts(
    request: CompactionRequested,
    texts: tuple[str | None, str | None],
    policy: PolicyInHand,
    snapshot: CommitmentSnapshot,
) -> CompactionRequested:
    """Return the request with a candidate around a summary and a narrative, as the SDK drafts one."""
    summary, narrative = texts
    drafted = draft_candidate(
        summary or "",
        request.source_messages,
        manifest_body(policy.policy_set.invariants),
        snapshot_body(snapshot),
        narrative_text=narrative,
    )
    return replace(request, candidate_json=drafted)


def _lines(explanation: Explanation, policy: PolicyInHand) -> Iterator[str]:
    passed = explanation.outcome is Outcome.PASS
    yield click.style(explanation.outcome.value, fg="green" if passed else "red", bold=True) + (
        f" under policy {policy.policy_set.policy_id} ({'published' if policy.signed else 'unsigned'}),"
        f" grammar {policy.grammar.grammar_id} {policy.grammar.grammar_version}; signatures and scan not looked at"
    )
    summary = explanation.summary
    if summary is not None:
        yield from ("", click.style("Summary", bold=True))
        for item in explanation.clauses:
            yield from _clause_lines(item, summary)
    if summary is not None and explanation.matches:
        yield from ("", click.style("Conflicts and markers", bold=True))
        for match in explanation.matches:
            yield from _match_lines(match, summary, explanation)
    if explanation.narrative is not None:
        yield from ("", click.style("Narrative", bold=True))
        yield from _narrative_lines(explanation, explanation.narrative)
    if explanation.constraints:
        yield from ("", click.style("Constraints", bold=True))
        for constraint in explanation.constraints:
            yield from _constraint_lines(constraint)
    if explanation.reasons:
        yield from ("", click.style("Reasons", bold=True))
        for reason in explanation.reasons:
            yield f"{INDENT}{reason.code.value} {reason.path}: {reason.meaning.meaning} {reason.meaning.remedy}"


def _clause_lines(item: ExplainedClause, summary: str) -> Iterator[str]:
    reading = item.reading
    if reading.fault is not None:
        label = f"{reading.fault.value}: {shown(item.change or '')}"
        yield from marked_text(summary, (reading.start, reading.end), reading.place, label, "red")
    elif reading.clause is not None:
        stated = f", preserves {', '.join(item.preserves)}" if item.preserves else ""
        label = f"{reading.clause.rule.rule_id}{stated}"
        colour = "green" if item.preserves else "cyan"
        yield from marked_text(summary, (reading.start, reading.end), reading.place, label, colour)


def _match_lines(match: ExplainedMatch, summary: str, explanation: Explanation) -> Iterator[str]:
    against = f" conflicts with {', '.join(match.conflicts_with)}" if match.conflicts_with else ""
    label = f"{match.rule_id}{against}: {match.change}"
    if match.place is None:
        yield INDENT + click.style(label, fg="red")
        return
    start, end = match.place
    around = [item.reading for item in explanation.clauses if item.reading.start < end and item.reading.end > start]
    yield from marked_text(summary, (around[0].start, around[-1].end), match.place, label, "red")


def _narrative_lines(explanation: Explanation, narrative: str) -> Iterator[str]:
    """Yield what stands against a narrative, each under the lines of text it is in."""
    found = explanation.narrative_findings
    if not found:
        yield f"{INDENT}conflicts with nothing, and claims no person's word untraced"
    for item in found:
        if item.place is None:
            yield INDENT + click.style(f"{item.label}: {item.change}", fg="red")
            continue
        start = narrative.rfind("\n", 0, item.place[0]) + 1
        end = narrative.find("\n", item.place[1])
        span = (start, len(narrative) if end < 0 else end)
        yield from marked_text(narrative, span, item.place, f"{item.label}: {item.change}", "red")


def _constraint_lines(item: ExplainedConstraint) -> Iterator[str]:
    constraint = item.constraint
    status = click.style(item.status.value.ljust(len(ClaimStatus.UNSUPPORTED.value)), fg=_COLOURS[item.status])
    change = f": {item.change}" if item.change else ""
    text = shown(constraint.canonical_text)
    yield f"{INDENT}{status} {constraint.constraint_id} \u201c{text}\u201d by {item.rule_id}{change}"
    if item.status is ClaimStatus.UNSUPPORTED:
        yield from (f"{INDENT * 3}{shown(sentence)}" for sentence in item.sentences)


def policy_body(policy: PolicyInHand) -> dict[str, JsonValue]:
    """Return which policy an answer is about, as JSON."""
    return {
        "name": policy.name,
        "signed": policy.signed,
        "policy_id": policy.policy_set.policy_id,
        "policy_sha256": policy.policy_set.compaction.policy_sha256,
        "policy_set_sha256": policy.policy_set.policy_set_sha256,
        "grammar_id": policy.grammar.grammar_id,
        "grammar_version": policy.grammar.grammar_version,
        "grammar_sha256": policy.grammar.grammar_sha256,
    }
