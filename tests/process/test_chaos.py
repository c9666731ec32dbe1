"""Two minutes of the storm over the run engine; `python -m tests.chaos` runs it for longer."""

import os

import pytest

from tests.chaos.storm import storm
from tests.process.faults.aftermath import needs_datefudge

MINUTES = 2.0
SEED = 7

pytestmark = [
    needs_datefudge,
    pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted, which takes root"),
]


def test_after_a_storm_every_run_has_ended_once_and_nothing_is_left_over():
    """RU-H1, RU-H3, PO-H5: whatever is killed, stopped, cut off or filled up; each fault strikes."""
    assert storm(MINUTES, SEED) == []
