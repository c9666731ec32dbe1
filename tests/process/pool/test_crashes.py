"""Workers and supervisors that die, hang or run on old code."""

import json
import os
import shutil
import signal
import sys
import sysconfig

from tests.process.host.conftest import ROOT, alive, wait_for
from tests.process.host.test_processes import FAMILY, HANG, family, gone
from tests.process.pool.test_growing import GIVE, gated


def test_the_next_supervisor_adopts_the_pool_of_a_killed_one(plane, pool):
    """PO-S5, PO-H8: three workers, two busy: none is spawned, both runs complete; also over a reload."""
    agent, gate = gated(pool)
    first = pool.supervise("--workers", "3", agent)
    workers = pool.registered(3)
    leases = [plane.enqueue() for _ in range(2)]
    plane.until(lambda: len(plane.leases) == 2, what="two runs in hand")
    first.kill()
    first.wait()
    second = pool.supervise("--workers", "3", agent)
    mark = len(plane.reports)
    plane.until(lambda: len(plane.reports) > mark + 1, what="reports of the next supervisor")
    assert len([each for each in plane.reports[-1]["workers"] if each["workerId"]]) == 3
    (pool.folder / "policy.yaml").write_text("workers: {coolDownSeconds: 5}\n")
    second.send_signal(signal.SIGHUP)
    pool.until("event=restart", f"pid={second.pid}")
    mark = len(plane.reports)
    plane.until(lambda: len(plane.reports) > mark + 1, what="reports after the reload")
    assert second.poll() is None
    assert pool.slots() == workers
    assert len(pool.lines("action=spawn")) == 3
    (pool.folder / "policy.yaml").write_text("workers: {coolDownSeconds: -5}\n")
    second.send_signal(signal.SIGHUP)
    pool.until("event=reload_refused", "coolDownSeconds")
    gate.touch()
    assert [plane.result_of(lease)["reasonCode"] for lease in leases] == ["ok", "ok"]
    assert second.poll() is None


def test_after_sigkill_of_a_busy_worker_its_agent_is_dead_and_its_slot_filled_anew(plane, pool):
    """PO-S6, PO-H5: also when the minder was killed first, so that the supervisor alone is left to end the agent."""
    lease = plane.enqueue()
    pool.supervise("--workers", "1", pool.agent(FAMILY.replace("env={}, ", "") + HANG))
    worker = pool.registered(1)[1]
    pids = family(pool)
    current = next(pool.home.glob("boots/*/current.json"))
    leader = wait_for(lambda: json.loads(current.read_text())["leader"])["pid"]
    os.kill(worker, signal.SIGSTOP)
    os.kill(leader, signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)
    gone(pids, 5.0)
    result = plane.result_of(lease)
    assert (result["reasonCode"], result["workerId"]) == ("worker_crashed", lease.worker_id)
    wait_for(lambda: pool.slots().get(1, worker) != worker, what="a new worker in the slot")
    assert pool.lines("event=ending_leftovers", lease.run_id)


def test_a_stopped_worker_is_replaced_once_its_run_was_taken_back(plane, pool):
    """PO-S13: told to end, then killed, and its agent is dead; the times go with the liveness."""
    plane.liveness = 1.5
    lease = plane.enqueue()
    pool.supervise("--workers", "1", pool.agent(FAMILY + HANG))
    worker = pool.registered(1)[1]
    pids = family(pool)
    os.kill(worker, signal.SIGSTOP)
    plane.lost.add(lease.worker_id)
    pool.until("action=replace", "reason=terminate")
    pool.until("action=replace", "reason=kill")
    gone([worker, *pids], 10.0)
    wait_for(lambda: pool.slots().get(1, worker) != worker, what="a new worker in the slot")


def test_workers_that_die_at_their_start_are_spawned_ever_more_rarely_until_that_is_mended(plane, pool):
    """PO-S12, PO-H9: the last line of the crash is reported; mended, the pool is full again."""
    pool.home.mkdir()
    config = pool.home / "host.yaml"
    pool.supervise("--workers", "1", pool.agent(GIVE))
    worker = pool.registered(1)[1]
    config.write_text("colour: blue\n")
    os.kill(worker, signal.SIGKILL)
    pool.until("event=crash", "in_a_row=2")
    crashes = [line for line in pool.lines("event=crash") if "code=64" in line]
    assert [line.split("pause_s=")[1].split()[0] for line in crashes] == ["1", "2"][-len(crashes) :]
    assert pool.lines("action=hold", "reason=crash_backoff")
    said = plane.until(lambda: [each for each in plane.reports if each["crashes"]["inARow"] >= 2])[-1]["crashes"]
    assert "colour is not a key" in said["lastLine"]
    config.unlink()
    pool.registered(1)
    assert len(pool.lines("action=spawn")) <= len(pool.lines("event=crash")) + 2


def test_new_code_is_run_after_the_run_in_hand(plane, pool, tmp_path):
    """PO-S11: the worker finishes, exits 75 and is there again on the new code; the supervisor runs anew itself."""
    copy = tmp_path / "package"
    for name in ("workers", "runs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    agent, gate = gated(pool)
    pool.environment["PYTHONPATH"] = str(copy)
    supervisor = pool.start(
        [sys.executable, "-m", "workers.host.pool", "--interval", "0.2", "--workers", "1", agent],
        {"PATH": os.environ["PATH"], "FACTORY_HOME": str(pool.folder), "PYTHONPATH": str(copy)},
    )
    before = pool.registered(1)[1]
    lease = plane.enqueue()
    plane.until(lambda: plane.leases, what="the run in hand")
    with (copy / "workers/host/loop.py").open("a") as code:
        code.write("# another version\n")
    pool.until("event=restart", f"pid={supervisor.pid}")
    assert alive(before)
    gate.touch()
    assert plane.result_of(lease)["reasonCode"] == "ok"
    plane.until(lambda: "reload" in [reason for _, reason in plane.byes], what="a worker that leaves for new code")
    wait_for(lambda: pool.slots().get(1, before) != before, what="a worker on the new code")
    versions = plane.until(lambda: {hello["workerVersion"] for hello in plane.hellos}, what="hellos")
    plane.until(lambda: len({hello["workerVersion"] for hello in plane.hellos}) == 2, what=f"two versions: {versions}")
    assert plane.result_of(plane.enqueue())["reasonCode"] == "ok"
    assert supervisor.poll() is None


def test_a_program_that_is_gone_is_a_crash_and_its_return_fills_the_pool(plane, pool, tmp_path):
    """PO-S12: the worker command does not exist."""
    program = tmp_path / "python"
    program.symlink_to(sys.executable)
    packages = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    pool.start(
        [str(program), "-m", "workers.host.pool", "--interval", "0.2", "--workers", "1", pool.agent(GIVE)],
        {"PATH": os.environ["PATH"], "FACTORY_HOME": str(pool.folder), "PYTHONPATH": packages},
    )
    worker = pool.registered(1)[1]
    program.unlink()
    os.kill(worker, signal.SIGKILL)
    pool.until("event=crash", "code=127", "No such file")
    plane.until(lambda: plane.reports[-1]["crashes"]["inARow"] >= 2, what="the crash in the report")
    program.symlink_to(sys.executable)
    assert pool.registered(1)[1] != worker
