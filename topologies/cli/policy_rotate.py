"""``pratique policy rotate``: new keys for a role of the policy repository, and the old ones out of it."""

from __future__ import annotations

from pathlib import Path

import click

from topologies.bootstrap import policy as wiring
from topologies.cli.output import json_option
from topologies.cli.policy_answers import answered, say

_DIRECTORY = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("roles", metavar="ROLE...", nargs=-1, required=True)
@click.option(
    "--directory",
    type=_DIRECTORY,
    default=Path(".pratique/policy"),
    show_default=True,
    help="Where `policy init` put the set; gives every other path its default.",
)
@click.option("--repository", type=_DIRECTORY, help="The repository's directory.")
@click.option("--tuf-keys", type=_DIRECTORY, help="Keys of the repository's roles; the new ones are written here.")
@json_option
def rotate(
    roles: tuple[str, ...],
    directory: Path,
    repository: Path | None,
    tuf_keys: Path | None,
    as_json: bool,  # noqa: FBT001 - a command line's flag
) -> None:
    """Give each ROLE new keys in place of those it has; what the old ones sign counts no more.

    ROLE is root, targets, snapshot, timestamp, safety-invariants, scan-policy, recall-policy, or tenant-TENANT. The
    keys of snapshot and timestamp have to be at hand, and those of root (for the first four) or of targets (for the
    others).
    """
    with answered(as_json):
        done = [
            wiring.rotate_role(repository or directory / "repository", tuf_keys or directory / "tuf-keys", role)
            for role in roles
        ]
        say(
            as_json,
            [
                {
                    "role": rotated.role,
                    "added": list(rotated.added),
                    "revoked": list(rotated.revoked),
                    "version": rotated.version,
                    "root_version": rotated.root_version,
                    "put_aside": [str(path) for path in put_aside],
                }
                for rotated, put_aside in done
            ],
            "\n".join(
                f"Role {rotated.role}: {len(rotated.added)} new keys in place of {len(rotated.revoked)};"
                f" version {rotated.version}, root {rotated.root_version}."
                + "".join(f"\n  old key: {path}" for path in put_aside)
                for rotated, put_aside in done
            )
            + "\nNext: `pratique policy verify`, then destroy the old keys.",
        )
