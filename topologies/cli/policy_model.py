"""``pratique policy model``: what a scan policy's ``models`` says of a language model that is here."""

from __future__ import annotations

import click

from topologies.bootstrap.language_models import model_digest
from topologies.cli.output import json_option, speaks
from topologies.cli.policy_answers import answered, say


@click.command()
@click.argument("place", metavar="PACKAGE|FOLDER")
@json_option
@speaks
def model(*, place: str, as_json: bool) -> None:
    """Print the digest of a language model, by which a scan policy pins it. None of its code is run."""
    with answered(as_json):
        folder, digest = model_digest(place)
        where = {"path": str(folder)} if "/" in place else {"package": place}
        say(as_json, {**where, "sha256": digest}, digest)
