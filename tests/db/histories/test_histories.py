"""Random histories of pull requests from their submission to their end, each from a seed of its own."""

import os
import sys
import time
from collections import Counter
from typing import Any

import pytest
from django.db import connection, transaction

from convergence.flow import CONVERGENCE_MACHINE
from fixtures.simulator.faults import Faults
from merging.flow import MERGE_MACHINE
from tests import queue_driver
from tests.db.histories import quiet
from tests.db.histories.beginning import begin
from tests.db.histories.moves import MOVES
from tests.db.histories.stage import HistoryStage
from tests.db.histories.watch import Broken

STEPS = 60
HISTORIES = "32"  # of each run; HISTORY and HISTORIES of the environment choose others and more


def undone():
    """The transaction of a history, which is one of the test's: calls to the forge may be made within."""
    made: Any = transaction.atomic()
    made._from_testcase = True
    return made


def run_history(seed, folder, settings, edges, struck):
    """Play one history; Broken, with everything that happened, when an invariant does not hold."""
    with pytest.MonkeyPatch.context() as patch, HistoryStage(folder, settings, patch, seed) as stage:
        try:
            begin(stage)
            stage.watch.check()
            for _ in range(STEPS):
                step = stage.chosen.choices(list(MOVES), list(MOVES.values()))[0]
                stage.note(step.__name__)
                step(stage)
                stage.watch.check()
            stage.note("quiet")
            quiet.settle(stage)
        except Exception as error:
            told = "\n".join(stage.told)
            raise Broken(f"history {seed}: {type(error).__name__}: {error}\n\nwhat happened:\n{told}") from error
        finally:
            edges.update(stage.watch.edges)
            for fault in stage.sim.faults.all:
                struck[fault.name] += fault.struck


@pytest.mark.skipif(connection.vendor != "sqlite", reason="what a database decides has tests of its own")
def test_histories(db, tmp_path, settings):
    del db
    first = int(os.environ.get("HISTORY", "0"))
    count = int(os.environ.get("HISTORIES", HISTORIES))
    queue_driver.load_definitions()
    edges: Counter[str] = Counter()
    struck: Counter[str] = Counter()
    broken: list[str] = []
    begun = time.process_time()
    for seed in range(first, first + count):
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            with undone():
                run_history(seed, folder, settings, edges, struck)
                transaction.set_rollback(True)
        except Broken as error:
            broken.append(str(error))
    names = [f"{m.name}:{edge.name}" for m in (CONVERGENCE_MACHINE, MERGE_MACHINE) for edge in m.edges]
    for line in (
        f"{count} histories, {time.process_time() - begun:.0f} s of CPU",
        ", ".join(f"{name} {edges[name]}" for name in names),
        ", ".join(f"{name} {struck[name]}" for name in Faults.NAMES),
        f"never: {[name for name in names if not edges[name]]}",
    ):
        sys.stdout.write(f"{line}\n")
    assert not broken, f"{len(broken)} of {count} histories:\n\n" + "\n\n".join(broken[:3])
