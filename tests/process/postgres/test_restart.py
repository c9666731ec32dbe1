"""The database server ends and comes back while workers claim and publish; nothing of the product is started again."""

import threading
from concurrent.futures import ThreadPoolExecutor

import psutil
import psycopg
import pytest

from tests import databases, postgres, rings
from tests.process.postgres.conftest import queue_runs
from tests.process.postgres.wire_worker import PATIENCE, WireWorker
from tests.process.serving import Served

RUNS = 200
WORKERS = 6
STEP = 50  # results between two restarts
BEHIND = """
SELECT name FROM runs_periodictask WHERE interval_seconds <= 10 AND started_at <= pg_postmaster_start_time()
"""


@pytest.fixture
def cluster():
    """A server of this test's own, which it may end without disturbing others."""
    binaries = rings.postgres_binaries()
    if binaries is None:
        pytest.skip("a PostgreSQL that is ended needs its programs here; apt-get install postgresql")
    with postgres.throwaway_cluster(binaries) as running:
        yield running


@pytest.fixture
def served(cluster, tmp_path):
    running = Served(tmp_path / "home", DATABASE_URL=databases.made_on(cluster.url))
    try:
        running.wait_until_up()
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def children(served):
    return {child.pid for child in psutil.Process(served.process.pid).children(recursive=True)}


def test_a_restart_of_the_database_during_200_claims_loses_and_doubles_nothing(cluster, served):
    """RU-S23: a shutdown and a crash, each followed by a start."""
    queue_runs(served, RUNS)
    before = children(served)
    accepted: list[str] = []
    progress = threading.Semaphore(0)
    workers = [WireWorker(served.credential, number) for number in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as pool:
        ends = [pool.submit(worker.drain, accepted, progress) for worker in workers]
        for how in (postgres.FAST, postgres.CRASH):
            for _ in range(STEP):
                assert progress.acquire(timeout=PATIENCE)
            cluster.stop(how)
            cluster.start()
        for end in ends:
            end.result(PATIENCE * 2)
    assert any(worker.faults for worker in workers), "the restarts were felt"
    assert children(served) == before, "no process was started again"

    # A run whose claim was answered with nothing, because another was looking at it, is still in the queue.
    workers[0].drain(accepted, progress)
    assert len(accepted) == len(set(accepted)) == RUNS
    with psycopg.connect(served.environment["DATABASE_URL"]) as session:
        states = session.execute("SELECT state, count(*) FROM runs_run GROUP BY state").fetchall()
        rows = session.execute("SELECT run_id, count(*) FROM runs_result GROUP BY run_id").fetchall()
        attempts = session.execute("SELECT count(*) FROM runs_attempt WHERE finished_at IS NULL").fetchone()
        ended = session.execute("SELECT count(*) FROM runs_journalrow WHERE edge = 'complete'").fetchone()
    assert states == [("completed", RUNS)]
    assert [count for _, count in rows] == [1] * RUNS
    assert (attempts, ended) == ((0,), (RUNS,))


def test_what_is_periodic_goes_on_after_a_restart_of_the_database(cluster, served):
    """Every pass is started by the same tasks process as before, though each of its threads lost its connection."""
    before = children(served)
    cluster.stop(postgres.CRASH)
    cluster.start()

    def behind():
        with psycopg.connect(served.environment["DATABASE_URL"]) as session:
            return session.execute(BEHIND).fetchall()

    served.until(lambda: not behind(), "every frequent pass was started since")
    assert children(served) == before
