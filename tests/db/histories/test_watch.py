"""The histories bite: a gate that lets an open thread pass is found out by the world, and so is an edge never taken."""

from collections import Counter

import pytest
from django.db import transaction

from convergence.decisions import gate
from tests import queue_driver
from tests.db.histories import counts, playing
from tests.db.histories.openings import opening_of
from tests.db.histories.watch import Broken


def seed_of(edge):
    return next(seed for seed in range(counts.HISTORIES) if opening_of(seed).edge == edge)


@pytest.fixture
def counted(monkeypatch):
    """A count of its own, so that what breaks on purpose is no part of the run's."""
    found: Counter[str] = Counter()
    monkeypatch.setattr(counts, "_counts", found)
    return found


@pytest.fixture
def defined(db):
    del db
    queue_driver.load_definitions()


@pytest.mark.usefixtures("defined", "counted")
@pytest.mark.parametrize(
    "case",
    [
        ("open_threads", "convergence:gate_blocked", "still asks"),
        ("head_unreviewed", "convergence:gate_stale", "nobody reviewed that head"),
    ],
)
def test_a_gate_that_lets_something_pass_is_found_out(tmp_path, settings, monkeypatch, case):
    """CV-H11, CV-H12."""
    row, edge, told = case
    monkeypatch.setattr(gate, "GATE_ROWS", [each for each in gate.GATE_ROWS if each.name != row])
    with playing.undone():
        with pytest.raises(Broken, match=told):
            playing.history_play(seed_of(edge), tmp_path, settings)
        transaction.set_rollback(True)


def test_a_whole_run_names_what_it_never_met(counted):
    counted.update(dict.fromkeys(counts.names(), 1))
    counted["fault:race"] = 0
    counted[counts.PLAYED] = counts.HISTORIES - 1
    assert counts.never() == []
    counted[counts.PLAYED] += 1
    assert counts.never() == ["fault:race"]
