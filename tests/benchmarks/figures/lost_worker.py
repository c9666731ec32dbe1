"""A worker that is killed right after it claimed: when its run is in the queue again, whatever time it may take."""

import time
from functools import partial

from tests.benchmarks import place
from tests.benchmarks.load import LoadClient
from tests.benchmarks.system import query, served, until
from tests.benchmarks.table import Row, Size

TITLE = "A killed worker"
TIMEOUTS = (60, 86_400)  # seconds that the runs may take


def measure(size: Size) -> list[Row]:
    """With the liveness and the reaper of an installation, so this takes its time."""
    del size
    home = place.home()
    place.migrate()
    for number, timeout in enumerate(TIMEOUTS):
        place.enqueue(number, timeoutSeconds=timeout, maxEnvironmentRetries=3)
    with served(home) as system:
        for number in range(len(TIMEOUTS)):
            claim = LoadClient(system.url, system.token, "local", number).claim()
            assert claim is not None, "nothing was queued"
        killed = time.monotonic()
        rows = []
        for timeout in TIMEOUTS:
            statement = "SELECT 1 FROM runs_run WHERE timeout_seconds = ? AND state = 'queued'"
            until("queued run", partial(query, home, statement, timeout), every=0.2)
            waited = time.monotonic() - killed
            rows.append(Row(f"killed after its claim: queued again, time-out {timeout:,} s", waited, "s", 100))
        return rows
