"""``python -m infra.stack up|down|status|install``, as ``make`` calls it. Exit 0 done, 1 not up, 3 could not."""

from __future__ import annotations

import argparse
import json
import signal
import sys

from infra.stack.requirements import ensure_broker_jars, say
from infra.stack.stack import ALL_APPS, Stack, recorded_facts, stop_recorded
from pratique.errors import PratiqueError


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.stack", description="The development stack.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("install", help="have Java, Maven and the broker's jars")
    up = commands.add_parser("up", help="start the stack and leave it running")
    up.add_argument("--only-broker", action="store_true", help="the broker and its topics, no policy and no apps")
    commands.add_parser("down", help="stop the stack")
    commands.add_parser("status", help="print where the running stack is")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that a start cut short cleans up
    try:
        return _COMMANDS[arguments.command](arguments)
    except PratiqueError as error:
        say(str(error))
        return 3


def _install(_arguments: argparse.Namespace) -> int:
    ensure_broker_jars()
    return 0


def _up(arguments: argparse.Namespace) -> int:
    facts = recorded_facts()
    if facts is not None:
        say("already up")
    else:
        facts = Stack(apps=() if arguments.only_broker else ALL_APPS).start()
        say("up; `make down` stops it")
    sys.stdout.write(json.dumps(facts, indent=2) + "\n")
    return 0


def _down(_arguments: argparse.Namespace) -> int:
    ended = stop_recorded()
    say(f"stopped {', '.join(ended)}" if ended else "nothing was running")
    return 0


def _status(_arguments: argparse.Namespace) -> int:
    facts = recorded_facts()
    sys.stdout.write(json.dumps(facts, indent=2) + "\n")
    return 0 if facts is not None else 1


_COMMANDS = {"install": _install, "up": _up, "down": _down, "status": _status}

if __name__ == "__main__":
    sys.exit(main())
