from datetime import UTC, datetime, timedelta

import pytest

from workers.liveness import WorkerState, worker_state
from workers.models import Worker

AT = datetime(2026, 8, 30, 12, tzinfo=UTC)
SILENT = AT - timedelta(seconds=90)


@pytest.mark.parametrize(
    ("columns", "busy", "state"),
    [
        ({}, False, WorkerState.IDLE),
        ({"blocked_reason": "no_adapter"}, False, WorkerState.BLOCKED),
        ({"blocked_reason": "no_adapter", "draining": True}, False, WorkerState.DRAINING),
        ({"blocked_reason": "no_adapter", "draining": True}, True, WorkerState.BUSY),
        ({"last_seen_at": SILENT, "draining": True}, True, WorkerState.LOST),
        ({"last_seen_at": SILENT + timedelta(microseconds=1)}, False, WorkerState.IDLE),
        ({"last_seen_at": SILENT, "stopped_at": SILENT}, True, WorkerState.STOPPED),
    ],
)
def test_the_first_state_that_fits_is_the_state(columns, busy, state):
    worker = Worker(**{"worker_id": "lab.20260830T121502Z.9f3c1a", "last_seen_at": AT, **columns})
    assert worker_state(worker, at=AT, busy=busy) is state
