"""The time of a step that comes due under a pause."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.queue.limits.rearming import due_again

LIMIT = timedelta(hours=2)


def at(hour):
    return datetime(2026, 8, 30, tzinfo=UTC) + timedelta(hours=hour)


@pytest.mark.parametrize(
    ("pauses", "due"),
    [
        ([], 2),
        ([(1, None)], 12),
        ([(1, 5)], 7),
        ([(0, 1)], 2),
        ([(3, 4)], 2),
        ([(3, None)], 2),
        ([(2, 3)], 5),
        ([(1, 5), (6, 8)], 10),
        ([(6, 8), (1, 5)], 10),
        ([(1, 5), (7, None)], 12),
        ([(1, 5), (5, None)], 12),
        ([(1, 5), (8, None)], 7),
    ],
)
def test_what_comes_due_in_a_pause_is_due_a_whole_limit_after_its_end(pauses, due):
    """CV-S42 beside: an open pause sets it anew at every look, here at ten o'clock."""
    spans = [(at(since), None if until is None else at(until)) for since, until in pauses]
    assert due_again(at(2), LIMIT, spans, at(10)) == at(due)
