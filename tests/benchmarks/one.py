"""`python -m tests.benchmarks.one NAME [--quick]`: measure one figure and print its rows as a line of JSON."""

import dataclasses
import importlib
import json
import sys

from tests.benchmarks.table import Size


def main(name: str, *flags: str) -> None:
    """Every figure has a process of its own: settings, tables and memory of one say nothing about another."""
    figure = importlib.import_module(f"tests.benchmarks.figures.{name}")
    rows = figure.measure(Size(quick="--quick" in flags))
    sys.stdout.write("\n" + json.dumps([dataclasses.asdict(row) for row in rows]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
