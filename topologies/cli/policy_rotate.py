"""``pratique policy rotate`` and ``rotate-signer``: new keys in place of old ones.

Of a role of the policy repository, which is signed anew at once; of a tenant that signs commitments, whose keys are
rows of the trust target: that is written into the source, and published as any change of it is.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click

from topologies.bootstrap import policy as wiring
from topologies.cli.output import json_option, speaks
from topologies.cli.policy_answers import answered, say

_LEAST_OVERLAP: Final = 21 * 60
"""Two horizons and two clock skews: what was opened while the old key still signed is decided by then."""

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
@speaks
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


@click.command("rotate-signer")
@click.argument("tenant_id", metavar="TENANT")
@click.option(
    "--directory",
    type=_DIRECTORY,
    default=Path(".pratique/policy"),
    show_default=True,
    help="Where `policy init` put the set; gives every other path its default.",
)
@click.option("--source", type=_DIRECTORY, help="Policy source whose trust.json is changed.")
@click.option("--keys", type=_DIRECTORY, help="Key directory; the new key is written here.")
@click.option(
    "--begins-in",
    type=click.IntRange(min=0),
    default=3600,
    show_default=True,
    help="Seconds until the new key signs: by then, whoever signs holds it.",
)
@click.option(
    "--overlap",
    type=click.IntRange(min=_LEAST_OVERLAP),
    default=86_400,
    show_default=True,
    help="Seconds after that for which the old ones' signatures count: as long as envelopes hold.",
)
@click.option("--revoke", is_flag=True, help="The old key was stolen: it is out, and the new one signs, at once.")
@json_option
@speaks
def rotate_signer(
    tenant_id: str,
    directory: Path,
    source: Path | None,
    keys: Path | None,
    begins_in: int,
    overlap: int,
    revoke: bool,  # noqa: FBT001 - a command line's flag
    as_json: bool,  # noqa: FBT001 - a command line's flag
) -> None:
    """Give TENANT a new key to sign commitments with, in trust.json; the next `policy publish` publishes it."""
    with answered(as_json):
        rotation, path = wiring.rotate_signer(
            source or directory / "source",
            keys or directory / "keys",
            tenant_id,
            begins_in=-wiring.CLOCK_SKEW if revoke else timedelta(seconds=begins_in),
            overlap=None if revoke else timedelta(seconds=overlap),
        )
        say(
            as_json,
            {
                "tenant_id": tenant_id,
                "added": path.stem,
                "key": str(path),
                "begins_at_ms": rotation.begins_ms,
                "replaced": list(rotation.replaced),
                "replaced_end_at_ms": rotation.ends_ms,
                "trust_revision": rotation.revision,
            },
            f"Tenant {tenant_id} signs commitments with {path.stem} from {_moment(rotation.begins_ms)} on;"
            f" {', '.join(rotation.replaced)} {_end(rotation.ends_ms)}.\n"
            f"Hand out {path} to whoever signs for the tenant.\n"
            "Next: `pratique policy publish`"
            + (
                ", then sign anew what the old key signed."
                if revoke
                else ", then destroy the old key when it has ended."
            ),
        )


def _end(ends_ms: int | None) -> str:
    return "is out at once" if ends_ms is None else f"ends at {_moment(ends_ms)}"


def _moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
