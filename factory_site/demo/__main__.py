"""`manage.py demo`: parse the flags and play the scenario; touches no data folder but its own."""

from __future__ import annotations

import argparse
import sys

from factory_site.demo.scenarios import DEFAULT, scenario_file, scenario_names
from factory_site.demo.stage import play
from runs.contract.errors import FactoryError


def parser() -> argparse.ArgumentParser:
    """The flags of the demo."""
    flags = argparse.ArgumentParser(prog="manage.py demo", description="The whole system offline, on throw-away data.")
    flags.add_argument("--once", action="store_true", help="answer by itself, run to the end, print a summary, exit")
    flags.add_argument(
        "--scenario",
        default=DEFAULT,
        metavar="NAME",
        help=f"{', '.join(scenario_names())}, or a file of your own (default {DEFAULT})",
    )
    flags.add_argument("--port", type=int, default=0, help="port of the console (default: 8090, else any free one)")
    flags.add_argument("--timeout", type=int, default=300, help="seconds after which --once gives up (default 300)")
    return flags


def main(argv: list[str]) -> int:
    """Play the demo; the exit code of `--once` says whether every pull request ended as the scenario says."""
    options = parser().parse_args(argv)
    try:
        return play(
            once=options.once, scenario=scenario_file(options.scenario), port=options.port, seconds=options.timeout
        )
    except KeyboardInterrupt:  # before the children are started; afterwards the signal ends them in order
        sys.stderr.write("demo: stopped before it began\n")
        return 130
    except FactoryError as error:
        sys.stderr.write(f"demo: {error.message}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
