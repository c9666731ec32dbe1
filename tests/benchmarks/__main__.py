"""`python -m tests.benchmarks [--only NAME …] [--quick] [--write]`: measure, print, and with --write keep the table."""

import argparse
import json
import pkgutil
import subprocess
import sys

from tests.benchmarks import figures
from tests.benchmarks.table import Row, as_text, machine, write_page

LONGEST_SECONDS = 1800  # for one figure


def main() -> int:
    """1 when a bar is missed or a figure could not be measured."""
    names = sorted(module.name for module in pkgutil.iter_modules(figures.__path__))
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="smaller tables and fewer repetitions; ratios are rough")
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/benchmarks.md; with --only those rows of it"
    )
    given = parser.parse_args()
    if given.write and given.quick:
        parser.error("--write keeps figures of full size; leave out --quick")
    say(machine())
    rows: list[Row] = []
    broken = False
    for name in given.only:
        found = measured(name, quick=given.quick)
        broken = broken or not found
        rows += found
        say(as_text(found).rstrip("\n"))
    if given.write and not broken:
        write_page(rows, whole=given.only == names)
    return 1 if broken or not all(row.reached for row in rows) else 0


def measured(name: str, *, quick: bool) -> list[Row]:
    """The rows of one figure, measured in a process of its own; none when it failed, and its output says why."""
    argv = [sys.executable, "-m", "tests.benchmarks.one", name, *(["--quick"] if quick else [])]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, timeout=LONGEST_SECONDS, check=False)
    if done.returncode:
        say(f"{name}: could not be measured (exit {done.returncode})")
        return []
    return [Row(**fields) for fields in json.loads(done.stdout.splitlines()[-1])]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
