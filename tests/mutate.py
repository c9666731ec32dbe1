"""Show that the flow tests bite: remove each edge, invert each guard of every machine, and see a test fail for each.

The converge gate is a table too: its rows are removed, inverted and exchanged. `python -m tests.mutate [TABLE …]`
prints one line for each mutant that no test noticed and exits 1 if there is any.
Each mutant lives in a process of its own, forked from one that has imported the product, so nothing leaks.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runs.machine import Edge, Machine, guard_name, negated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from convergence.decisions import gate

ROOT = Path(__file__).resolve().parent.parent
# No plugin is needed for tests of pure tables, and starting them all costs more than the tests themselves.
PLAIN = ["-p", "no:cacheprovider", "-c", os.devnull]
PLAIN += ["--rootdir", str(ROOT), "--confcutdir", str(ROOT / "tests" / "unit")]
TESTS = {
    "run": ["tests/unit/kernel/test_tables.py"],
    "task": ["tests/unit/kernel/test_tables.py"],
    "convergence": ["tests/unit/convergence/test_flow_vectors.py"],
    "gate": ["tests/unit/convergence/test_gate.py"],
    "merge": ["tests/unit/merging/test_flow_vectors.py"],
}


@dataclass(frozen=True)
class Mutant:
    """One changed table: whose it is, what was done to it, and how that is done."""

    table: str
    name: str
    apply: Callable[[], None]


def machine_mutants(machine: Machine) -> Iterator[Mutant]:
    """Every table that differs from the machine's by one removed edge or one inverted guard."""

    def mutant(name: str, edges: tuple[Edge, ...]) -> Mutant:
        return Mutant(machine.name, f"{machine.name}: {name}", lambda: setattr(machine, "edges", edges))

    for place, edge in enumerate(machine.edges):
        rest = (machine.edges[:place], machine.edges[place + 1 :])
        yield mutant(f"without {edge.name}", (*rest[0], *rest[1]))
        for number, guard in enumerate(edge.guards):
            guards = (*edge.guards[:number], negated(guard), *edge.guards[number + 1 :])
            yield mutant(
                f"{edge.name} with not {guard_name(guard)}", (*rest[0], replace(edge, guards=guards), *rest[1])
            )


def gate_mutants() -> Iterator[Mutant]:
    """Every gate that differs by one removed row, two neighbours that changed places, or one inverted row."""
    from convergence.decisions import gate

    rows = gate.GATE_ROWS

    def mutant(name: str, changed: tuple[gate.GateRow, ...]) -> Mutant:
        return Mutant("gate", f"gate: {name}", lambda: setattr(gate, "GATE_ROWS", changed))

    for place, row in enumerate(rows):
        yield mutant(f"without {row.name}", (*rows[:place], *rows[place + 1 :]))
        inverted = replace(row, found=_inverted(row))
        yield mutant(f"{row.name} inverted", (*rows[:place], inverted, *rows[place + 1 :]))
        if place:
            before = rows[place - 1]
            changed = (*rows[: place - 1], row, before, *rows[place + 1 :])
            yield mutant(f"{row.name} before {before.name}", changed)


def _inverted(row: gate.GateRow) -> Callable[[gate.GateFacts], gate.Hit]:
    from convergence.decisions.gate import Hit

    return lambda facts: Hit() if row.found(facts).reason else Hit("inverted")


def survives(mutant: Mutant) -> bool:
    """Whether the machine's tests pass although its table was changed."""
    child = os.fork()
    if child == 0:
        mutant.apply()
        os._exit(run_tests(TESTS[mutant.table]))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def run_tests(paths: list[str]) -> int:
    """Run the tests without a word; 0 when all passed."""
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        code = pytest.main(["-x", "-q", *PLAIN, *paths])
        return 0 if code == pytest.ExitCode.OK else 1


def main(wanted: list[str]) -> int:
    """Print the survivors and the count; the exit code says whether there are none."""
    os.chdir(ROOT)
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    import django

    django.setup()
    from factory_site.reference.diagrams import MACHINES

    tables = {machine.name: machine_mutants(machine) for machine in MACHINES} | {"gate": gate_mutants()}
    chosen = {name: made for name, made in tables.items() if not wanted or name in wanted}
    for name in chosen:
        if not survives(Mutant(name, name, lambda: None)):
            sys.exit(f"the tests of {name} fail on the unchanged table: {TESTS[name]}")
    tried = [mutant for made in chosen.values() for mutant in made]
    alive = [mutant.name for mutant in tried if survives(mutant)]
    for name in alive:
        sys.stdout.write(f"no test noticed: {name}\n")
    sys.stdout.write(f"{len(tried) - len(alive)} of {len(tried)} mutants were noticed by a test\n")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
