"""The console script ``pratique``: ``python -m topologies`` is the same."""

from __future__ import annotations

import click

from topologies.cli.run import run
from topologies.cli.topics import topics


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="pratique-streams")
def main() -> None:
    """Quarantine station for what an LLM agent is about to believe again.

    Exit codes: 0 done; 1 the answer is no; 2 wrong usage; 3 could not find out.
    """


main.add_command(run)
main.add_command(topics)

if __name__ == "__main__":
    main()
