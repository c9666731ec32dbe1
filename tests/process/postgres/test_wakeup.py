"""Requests that `serve` holds are woken by the database's word."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.process.postgres.conftest import queue_runs
from tests.process.postgres.wire_worker import WireWorker
from tests.process.serving import Served

HELD = 12
SESSIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
OTHERS_LISTEN = f"{SESSIONS} AND query LIKE 'LISTEN %'"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    running = Served(tmp_path_factory.mktemp("wakeup") / "home")
    try:
        running.wait_until_up()
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


@pytest.fixture
def session(served):
    with psycopg.connect(served.environment["DATABASE_URL"], autocommit=True) as own:
        yield own


def test_a_process_that_queues_a_run_wakes_the_listeners_of_all_others(served, session):
    """The word comes from the transaction of another process, and the run of a held claim with it."""
    session.execute("LISTEN factory_wake")
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(WireWorker(served.credential, HELD + 1).claim, 25)
        served.until(lambda: session.execute(OTHERS_LISTEN).fetchone() == (1,), "serve listens")
        queue_runs(served, 1)
        assert [word.channel for word in session.notifies(timeout=25, stop_after=1)] == ["factory_wake"]
        assert waiting.result(60) is not None


def test_held_claims_share_one_listener_and_own_no_session(served, session):
    """WP-H8: twelve claims held by `serve`; one session that listens, and fewer sessions than claims."""
    (resting,) = session.execute(SESSIONS).fetchone()
    workers = [WireWorker(served.credential, number) for number in range(HELD)]
    with ThreadPoolExecutor(HELD) as pool:
        waiting = [pool.submit(worker.claim, 25) for worker in workers]
        served.until(lambda: session.execute(OTHERS_LISTEN).fetchone() == (1,), "one session listens")
        served.until(lambda: session.execute(SESSIONS).fetchone()[0] < resting + 5, "the others were given back")
        queue_runs(served, HELD)
        runs = {each.result(60)["runId"] for each in waiting}
    assert len(runs) == HELD
