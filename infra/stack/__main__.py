"""``python -m infra.stack up|down|status|install|demo``, as ``make`` calls it. Exit 0 done, 1 not up, 3 could not."""

from __future__ import annotations

import argparse
import json
import signal
import sys

from infra.stack.requirements import ensure_broker_jars, ensure_redis, ensure_softhsm, say
from infra.stack.stack import ALL_APPS, Stack, recorded_facts, stop_recorded
from pratique.errors import PratiqueError


def main() -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.stack", description="The development stack.")
    commands = parser.add_subparsers(dest="command", required=True)
    install = commands.add_parser("install", help="have Java, Maven, the broker's jars and Redis")
    install.add_argument("--for-tests", action="store_true", help="have SoftHSM too, a PKCS #11 token")
    up = commands.add_parser("up", help="start the stack and leave it running")
    up.add_argument("--only-broker", action="store_true", help="the broker and its topics, no policy and no apps")
    commands.add_parser("down", help="stop the stack")
    commands.add_parser("status", help="print where the running stack is")
    demo = commands.add_parser("demo", help="sample conversations in, a table of verdicts out")
    demo.add_argument("--json", action="store_true", help="print JSON instead of a table")
    demo.add_argument("--record", action="store_true", help="write the table into the documentation")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that a start cut short cleans up
    try:
        return _COMMANDS[arguments.command](arguments)
    except PratiqueError as error:
        say(str(error))
        return 3


def _install(arguments: argparse.Namespace) -> int:
    ensure_broker_jars()
    ensure_redis()
    if arguments.for_tests:
        ensure_softhsm()
    return 0


def _up(arguments: argparse.Namespace) -> int:
    facts = recorded_facts()
    if facts is not None:
        say("already up")
    else:
        facts = Stack(apps=() if arguments.only_broker else ALL_APPS, supervised=True).start()
        say("up; `make down` stops it")
    sys.stdout.write(json.dumps(facts, indent=2) + "\n")
    return 0


def _down(_arguments: argparse.Namespace) -> int:
    from infra.stack.demo import end_left_over  # noqa: PLC0415 - as for the demo

    ended = [*stop_recorded(), *end_left_over()]
    say(f"stopped {', '.join(ended)}" if ended else "nothing was running")
    return 0


def _status(_arguments: argparse.Namespace) -> int:
    facts = recorded_facts()
    sys.stdout.write(json.dumps(facts, indent=2) + "\n")
    return 0 if facts is not None else 1


def _demo(arguments: argparse.Namespace) -> int:
    from infra.stack.demo import run_demo  # noqa: PLC0415 - the other commands need neither client nor table

    return run_demo(as_json=arguments.json, record_pages=arguments.record)


_COMMANDS = {"install": _install, "up": _up, "down": _down, "status": _status, "demo": _demo}

if __name__ == "__main__":
    sys.exit(main())
