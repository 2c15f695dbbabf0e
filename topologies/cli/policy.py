"""``pratique policy``: make, publish and verify signed policy, and sign a task's commitments; what helps to write it.

The contract (contract page, Commands): ``--json`` everywhere; exit 0 done, 1 the answer is "no" (a document, signature
or repository is not acceptable), 2 wrong usage or configuration, 3 could not find out. Every error says what to do.
"""

from __future__ import annotations

import importlib
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from streams.errors import ConfigurationError
from topologies.bootstrap import policy as wiring
from topologies.cli.output import json_option, speaks
from topologies.cli.policy_answers import answered, say

DEFAULT_DIRECTORY: Final = Path(".pratique/policy")
DEMO_SOURCE: Final = Path("infra/policy/demo")

_DIRECTORY = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)

_directory = click.option(
    "--directory",
    type=_DIRECTORY,
    default=DEFAULT_DIRECTORY,
    show_default=True,
    help="Where `policy init` put the set; gives every other path its default.",
)
_repository = click.option("--repository", help="The repository: a directory or an http(s) URL.")
_root = click.option("--root", type=_FILE, help="The trusted root metadata.")
_min_deadline = click.option(
    "--min-deadline-ms",
    type=click.IntRange(min=1),
    default=30_000,
    show_default=True,
    help="Shortest accepted deadline: three times the consumer session time-out.",
)


def _scanner_options(command: click.decorators.FC) -> click.decorators.FC:
    version = click.option("--scanner-version", help="Scanner to pin, with its digest; the installed one by default.")
    digest = click.option("--scanner-sha256", help="Digest of that scanner's manifest.")
    return version(digest(command))


ELSEWHERE: Final = {
    "diff": "topologies.cli.policy_diff:diff",
    "explain": "topologies.cli.policy_explain:explain",
    "lint": "topologies.cli.policy_check:lint",
    "model": "topologies.cli.policy_model:model",
    "prompt": "topologies.cli.policy_explain:prompt",
    "rotate": "topologies.cli.policy_rotate:rotate",
    "rotate-signer": "topologies.cli.policy_rotate:rotate_signer",
    "test": "topologies.cli.policy_check:test",
}
"""Commands of other modules, imported on use."""


class _PolicyGroup(click.Group):
    """The commands below, and those of ``ELSEWHERE``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *ELSEWHERE})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        module, _, name = ELSEWHERE[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(cls=_PolicyGroup)
def policy() -> None:
    """Write, check, publish and verify signed policy."""


@policy.command()
@click.argument("directory", type=_DIRECTORY, default=DEFAULT_DIRECTORY)
@click.option("--source", type=_DIRECTORY, default=DEMO_SOURCE, show_default=True, help="Policy source to start from.")
@click.option("--grammar", type=_FILE, help="Grammar in place of the source's, as infra/policy/grammars/de.json.")
@click.option(
    "--tenant",
    "tenants",
    multiple=True,
    default=("tenant-a", "tenant-b"),
    show_default=True,
    help="Tenant; repeatable.",
)
@_scanner_options
@_min_deadline
@json_option
@speaks
def init(
    directory: Path,
    source: Path,
    grammar: Path | None,
    tenants: tuple[str, ...],
    scanner_version: str | None,
    scanner_sha256: str | None,
    min_deadline_ms: int,
    as_json: bool,  # noqa: FBT001 - a command line's flag
) -> None:
    """Make a development set in DIRECTORY: repository, root, keys, sources."""
    with answered(as_json):
        made = wiring.create_development_set(
            directory,
            source,
            tenants=tenants,
            scanner=_scanner(scanner_version, scanner_sha256),
            min_deadline_ms=min_deadline_ms,
            grammar=grammar,
        )
        say(
            as_json,
            {
                "repository": str(made.repository),
                "root": str(made.root),
                "source": str(made.source),
                "keys": str(made.keys),
                "tuf_keys": str(made.tuf_keys),
                "policy_id": made.policy_set.policy_id,
                "policy_sha256": made.policy_set.compaction.policy_sha256,
                "policy_set_sha256": made.policy_set.policy_set_sha256,
                "version": made.published.version,
                "expires_at_ms": made.published.expires_at_ms,
            },
            f"Made a development set in {directory}: policy {made.policy_set.policy_id},"
            f" version {made.published.version}, valid until {_moment(made.published.expires_at_ms)}.\n"
            f"Hand out {made.root} to whoever reads the repository; keep {made.tuf_keys} and {made.keys} private.\n"
            f"Next: edit {made.source}, then `pratique policy publish --directory {directory}`.",
        )


@policy.command()
@_directory
@_repository
@click.option("--tuf-keys", type=_DIRECTORY, help="Keys of the repository's roles.")
@click.option("--source", type=_DIRECTORY, help="Policy source to publish.")
@click.option("--renew-only", is_flag=True, help="Publish nothing new; sign again what is half way to its expiry.")
@click.option("--add-tenant", "new_tenants", multiple=True, help="Give a tenant a delegated role first; repeatable.")
@_scanner_options
@_min_deadline
@json_option
@speaks
def publish(  # noqa: PLR0913, PLR0917 - a command line's options
    directory: Path,
    repository: str | None,
    tuf_keys: Path | None,
    source: Path | None,
    renew_only: bool,  # noqa: FBT001 - a command line's flag
    new_tenants: tuple[str, ...],
    scanner_version: str | None,
    scanner_sha256: str | None,
    min_deadline_ms: int,
    as_json: bool,  # noqa: FBT001 - a command line's flag
) -> None:
    """Publish a policy source, or renew what is there."""
    with answered(as_json):
        publication, published = wiring.publish_policy(
            Path(repository) if repository else directory / "repository",
            tuf_keys or directory / "tuf-keys",
            None if renew_only else source or directory / "source",
            scanner=_scanner(scanner_version, scanner_sha256),
            new_tenants=new_tenants,
            min_deadline_ms=min_deadline_ms,
        )
        digest = publication.policy_set.policy_set_sha256 if publication else None
        say(
            as_json,
            {
                "version": published.version,
                "expires_at_ms": published.expires_at_ms,
                "policy_set_sha256": digest,
                "added": list(published.added),
                "signed": list(published.signed),
            },
            f"Version {published.version}: {len(published.added)} targets new or changed,"
            f" roles signed: {', '.join(published.signed) or 'none'};"
            f" valid until {_moment(published.expires_at_ms)}.\n"
            f"Next: `pratique policy verify`; renew before that moment with `pratique policy publish --renew-only`.",
        )


@policy.command()
@_directory
@_repository
@_root
@_min_deadline
@json_option
@speaks
def verify(
    directory: Path,
    repository: str | None,
    root: Path | None,
    min_deadline_ms: int,
    as_json: bool,  # noqa: FBT001 - a command line's flag
) -> None:
    """Check every set of a repository from its trusted root, with nothing cached."""
    with answered(as_json):
        found = wiring.verify_policy(
            repository or str(directory / "repository"),
            root or directory / "root.json",
            min_deadline_ms=min_deadline_ms,
        )
        soon = wiring.warnings(found.expiries)
        say(
            as_json,
            {
                "verified": True,
                "version": found.version,
                "expires_at_ms": found.expires_at_ms,
                "trust_revision": found.trust_revision,
                "keys": found.keys,
                "sets": list(found.sets),
                "policies": {name: policy_set.policy_set_sha256 for name, policy_set in found.policies.items()},
                "pinned": [
                    {"tenant_id": tenant, "policy_id": name, "policy_set_sha256": digest}
                    for tenant, name, digest in found.pinned
                ],
                "expiries": [{"what": expiry.what, "at_ms": expiry.at_ms} for expiry in found.expiries],
                "warnings": list(soon),
            },
            f"Verified: version {found.version}, {len(found.sets)} sets, policies"
            f" {', '.join(sorted(found.policies)) or 'none'}, {found.keys} keys;"
            f" valid until {_moment(found.expires_at_ms)}." + "".join(f"\nWarning: {line}." for line in soon),
        )


@policy.command("sign-commitments")
@_directory
@_repository
@_root
@click.option("--keys", type=_DIRECTORY, help="Key directory that holds the tenant's commitment signer.")
@click.option("--tenant", "tenant_id", required=True, help="Tenant.")
@click.option("--task", "task_id", required=True, help="The one task they hold for.")
@click.option("--policy-id", default="default", show_default=True, help="Policy they are made under.")
@click.option("--commitments", type=_FILE, required=True, help="Source file: commitment_revision and records.")
@click.option(
    "--valid-for", type=click.IntRange(min=1), default=3600, show_default=True, help="How long they hold, in seconds."
)
@click.option("--output", type=_FILE, help="File for the envelope; standard output by default.")
@json_option
@speaks
def sign_commitments(  # noqa: PLR0913, PLR0917 - a command line's options
    directory: Path,
    repository: str | None,
    root: Path | None,
    keys: Path | None,
    tenant_id: str,
    task_id: str,
    policy_id: str,
    commitments: Path,
    valid_for: int,
    output: Path | None,
    as_json: bool,  # noqa: FBT001 - a command line's flag
) -> None:
    """Sign a task's commitments under the newest policy; the envelope goes into the request."""
    with answered(as_json), tempfile.TemporaryDirectory(prefix="pratique-policy-") as state:
        store = wiring.policy_store(
            repository or str(directory / "repository"),
            root or directory / "root.json",
            Path(state),
            refresh_ms=60_000,
            min_deadline_ms=1,  # it was published; what it may say is not asked again here
        )
        envelope = wiring.sign_task_commitments(
            store,
            wiring.key_source(keys or directory / "keys"),
            commitments,
            tenant_id=tenant_id,
            task_id=task_id,
            policy_id=policy_id,
            valid_for=timedelta(seconds=valid_for),
        )
        if output is None:
            click.echo(envelope.decode("utf-8"))
            return
        try:
            output.write_bytes(envelope)
        except OSError as error:
            raise ConfigurationError(f"{output} can't be written: {error.strerror}") from None
        say(as_json, {"output": str(output)}, f"Wrote the envelope to {output}: put it into `commitments`.")


def _scanner(version: str | None, digest: str | None) -> wiring.ScannerIdentity | None:
    if version is None and digest is None:
        return None
    if version is None or digest is None:
        raise click.UsageError("--scanner-version and --scanner-sha256 go together")
    return wiring.ScannerIdentity(version, digest)


def _moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
