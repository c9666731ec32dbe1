"""Playing histories, each from a seed of its own, in a transaction that leaves nothing behind."""

import os
from collections import Counter
from typing import Any

import pytest
from django.db import connection, transaction

from tests import queue_driver
from tests.db.histories import counts, kind, quiet
from tests.db.histories.beginning import begin
from tests.db.histories.openings import opening_of
from tests.db.histories.stage import HistoryStage
from tests.db.histories.watch import Broken

STEPS = 22
STEPS_AFTER_OPENING = 10
BATCH = 25
ON_POSTGRES = 50  # of the same histories; what a database decides has tests of its own


def batches(part):
    """The first seeds of every second batch, from the first or from the second one on."""
    most = counts.HISTORIES if connection.vendor == "sqlite" else ON_POSTGRES
    return range(part * BATCH, most, 2 * BATCH)


def batch_play(first, folder, settings):
    """Play a batch of histories; Broken with the first of those in which an invariant does not hold.

    ``HISTORY`` and ``HISTORIES`` of the environment name others: the first seed, and how many.
    """
    queue_driver.load_definitions()
    begun = int(os.environ.get("HISTORY", first))
    seeds = range(begun, begun + int(os.environ.get("HISTORIES", BATCH)))
    broken = []
    for seed in seeds:
        home = folder / str(seed)
        home.mkdir()
        try:
            with undone():
                history_play(seed, home, settings)
                transaction.set_rollback(True)
        except Broken as error:
            broken.append(str(error))
    if broken:
        raise Broken(f"{len(broken)} of {len(seeds)} histories:\n\n" + "\n\n".join(broken[:3]))


def undone():
    """The transaction of a history, which is one of the test's: calls to the forge may be made within."""
    made: Any = transaction.atomic()
    made._from_testcase = True
    return made


def history_play(seed, folder, settings):
    """Play one history; Broken, with everything that happened, when an invariant does not hold."""
    opening = opening_of(seed)
    with pytest.MonkeyPatch.context() as patch, HistoryStage(folder, settings, patch, seed) as stage:
        try:
            begin(stage, opening)
            stage.watch.check()
            stage.note(f"opening {opening.edge}")
            opening.play(stage)
            for _ in range(STEPS_AFTER_OPENING if opening.edge else STEPS):
                stage.anything()
            stage.note("quiet")
            quiet.settle(stage)
            if stage.merging and stage.chance(0.35):
                stage.note("kind")
                kind.help_along(stage)
        except Exception as error:
            told = "\n".join(stage.told)
            raise Broken(f"history {seed}: {type(error).__name__}: {error}\n\nwhat happened:\n{told}") from error
        finally:
            counts.note(Counter(stage.watch.edges) + stage.merges.counted() + counts.struck_by(stage.sim.faults))
            counts.note({counts.PLAYED: 1})
