"""The end of a supervisor, and how a worker of a pool behaves beside it."""

import os
import signal

import psutil

from tests.process.host.conftest import wait_for
from tests.process.pool.test_growing import GIVE, gated


def test_a_first_signal_lets_runs_end_and_a_last_rung_leaves_the_rest_to_the_reaper(plane, pool):
    agent, gate = gated(pool)
    supervisor = pool.supervise("--workers", "2", "--drain-timeout", "20", agent)
    pool.registered(2)
    lease = plane.enqueue()
    pool.holding(lease.run_id)
    supervisor.send_signal(signal.SIGTERM)
    pool.until("event=stopping", "rung=1", lease.run_id)
    wait_for(lambda: len(pool.slots()) == 1, what="the idle worker left at once")
    plane.until(lambda: plane.reports[-1]["stopping"], what="the report of the end")
    gate.touch()
    assert plane.result_of(lease)["reasonCode"] == "ok"
    assert supervisor.wait(20) == 0
    assert pool.slots() == {}
    assert plane.reports[-1]["workers"] == []
    assert not pool.lines("rung=2")


def test_a_run_that_does_not_end_is_given_back_on_the_second_rung(plane, pool):
    agent, _ = gated(pool)
    supervisor = pool.supervise("--workers", "1", "--drain-timeout", "1", agent)
    pool.registered(1)
    lease = plane.enqueue()
    pool.holding(lease.run_id)
    supervisor.send_signal(signal.SIGTERM)
    assert plane.result_of(lease)["reasonCode"] == "drain_timeout"
    assert supervisor.wait(20) == 0
    assert pool.lines("event=stopping", "rung=2", lease.run_id)


def test_a_second_signal_leaves_at_once_and_names_what_is_left(plane, pool):
    """PO-H1: the workers are told, never killed; each goes on to its own end."""
    agent, gate = gated(pool)
    supervisor = pool.supervise("--workers", "1", "--drain-timeout", "60", agent)
    worker = pool.registered(1)[1]
    lease = plane.enqueue()
    pool.holding(lease.run_id)
    supervisor.send_signal(signal.SIGTERM)
    pool.until("event=stopping", "rung=1")
    supervisor.send_signal(signal.SIGTERM)
    assert supervisor.wait(10) == 130
    assert pool.lines("left to the reaper", lease.worker_id, lease.run_id, "back in the queue by")
    assert psutil.pid_exists(worker)
    gate.touch()
    assert plane.result_of(lease)["reasonCode"] == "ok"
    wait_for(lambda: pool.slots() == {}, what="the worker left by itself")


def test_a_second_supervisor_on_the_same_folder_is_refused_and_once_leaves_the_workers(plane, pool):
    """PO-S17: exit 64 and the pid of the first."""
    once = pool.supervise("--workers", "1", "--once", pool.agent(GIVE))
    assert once.wait(20) == 0
    worker = pool.registered(1)
    first = pool.supervise("--workers", "1", pool.agent(GIVE))
    pool.until("action=hold", "reason=steady")
    assert pool.slots() == worker
    second = pool.supervise("--workers", "1", pool.agent(GIVE))
    assert second.wait(20) == 64
    assert pool.log().strip() == (
        f"supervise: supervisor already runs on {pool.folder} (pid {first.pid}). Stop it first, or set FACTORY_HOME."
    )
    plane.until(lambda: plane.reports, what="a report")


def test_a_worker_of_a_pool_holds_no_file_of_the_data_folder_but_its_own(plane, pool):
    """PO-H14: its credential is closed again, and what stays open lies in its home or in the run folder."""
    (pool.folder / "factory.sqlite3").write_bytes(b"")
    agent, _ = gated(pool)
    pool.supervise("--workers", "1", agent)
    worker = pool.registered(1)[1]
    lease = plane.enqueue()
    pool.holding(lease.run_id)
    opened = {file.path for file in psutil.Process(worker).open_files() if file.path.startswith(str(pool.folder))}
    allowed = (str(pool.run), str(pool.home))
    assert [path for path in opened if not path.startswith(allowed)] == []
    assert str(pool.run / "worker-1.log") in opened
    os.kill(worker, signal.SIGUSR1)
    log = pool.run / "worker-1.log"
    wait_for(lambda: "most recent call first" in log.read_text(), what="the stacks of all threads")
    assert log.stat().st_mode & 0o077 == 0
