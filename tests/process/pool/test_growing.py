"""A pool that grows and shrinks with its work and its bounds."""

import signal

import psutil

from tests.process.host.conftest import wait_for

GIVE = "result.write_text(json.dumps({'verdict': 'x'}))\n"
WAIT = "import pathlib\nwhile not pathlib.Path('GATE').exists(): time.sleep(0.05)\n" + GIVE


def gated(pool):
    """An agent that ends when the gate is open, and the gate."""
    gate = pool.folder / "gate"
    return pool.agent(WAIT.replace("GATE", str(gate))), gate


def test_a_burst_grows_the_pool_by_one_registered_worker_at_a_time_and_an_idle_end_shrinks_it(plane, pool):
    """PO-S2, PO-S3, PO-H3: 1 → 2 → 3, then at_max; without work one leaves after the other until min."""
    (pool.folder / "policy.yaml").write_text("workers: {min: 1, max: 3, coolDownSeconds: 1}\n")
    agent, gate = gated(pool)
    supervisor = pool.supervise(agent)
    pool.registered(1)
    leases = [plane.enqueue() for _ in range(5)]
    pool.registered(3)
    pool.until("action=hold", "reason=at_max")
    spawned = pool.lines("action=spawn")
    assert ["reason=below_min" in line for line in spawned] == [True, False, False]
    # Each was spawned when the one before had registered and taken a run.
    assert [line.split("busy=")[1][0] for line in spawned] == ["0", "1", "2"]
    gate.touch()
    for lease in leases:
        assert plane.result_of(lease)["reasonCode"] == "ok"
    pool.until("action=drain", "reason=idle_surplus", count=2)
    wait_for(lambda: list(pool.slots()) == [1], 20, "one worker, in the lowest slot")
    assert pool.lines("reason=cooling_down")
    assert supervisor.poll() is None
    assert {reason for _, reason in plane.byes} == {"drained"}


def test_bounds_that_the_operator_lowers_end_no_run(plane, pool):
    """PO-S16, PO-H1: two of four busy workers get flags, finish their runs and leave; nobody is signalled."""
    agent, gate = gated(pool)
    pool.supervise("--workers", "4", agent)
    pool.registered(4)
    leases = [plane.enqueue() for _ in range(4)]
    plane.until(lambda: len(plane.leases) == 4, what="four runs in hand")
    plane.bounds = (1, 2)
    pool.until("action=drain", "reason=above_max", count=2)
    assert len(pool.slots()) == 4
    assert sorted(path.name for path in pool.run.glob("*.drain")) == ["worker-3.drain", "worker-4.drain"]
    gate.touch()
    assert [plane.result_of(lease)["reasonCode"] for lease in leases] == ["ok"] * 4
    wait_for(lambda: sorted(pool.slots()) == [1, 2], 20, f"the two lowest slots: {pool.said()}")


def test_new_work_keeps_a_worker_that_was_asked_to_leave(plane, pool):
    """PO-S4: its flag is removed and no process is spawned."""
    agent, gate = gated(pool)
    pool.supervise("--workers", "2", agent)
    before = pool.registered(2)
    leases = [plane.enqueue() for _ in range(2)]
    plane.until(lambda: len(plane.leases) == 2, what="two runs in hand")
    plane.bounds = (0, 1)
    pool.until("action=drain", "reason=above_max")
    plane.bounds = (0, 2)
    plane.claimable = 1
    pool.until("action=undrain", "reason=work_waiting")
    wait_for(lambda: not list(pool.run.glob("*.drain")), what="no flag")
    plane.claimable = 0
    gate.touch()
    for lease in leases:
        plane.result_of(lease)
    assert pool.slots() == before
    assert len(pool.lines("action=spawn")) == 2


def test_a_silent_control_plane_ends_nobody_and_the_floor_is_held(plane, pool):
    """PO-S14, PO-H4: a worker that dies meanwhile is replaced, nothing else is decided."""
    pool.supervise("--workers", "2:3", pool.agent(GIVE))
    before = pool.registered(2)
    plane.silent = True
    pool.until("action=hold", "reason=control_plane_unreachable")
    psutil.Process(before[1]).send_signal(signal.SIGKILL)
    pool.until("action=spawn", "slot=1", "claimable=unknown")
    after = pool.registered(2)
    assert after[2] == before[2]
    steady = len(pool.lines("reason=steady"))
    plane.silent = False
    pool.until("action=hold", "reason=steady", count=steady + 1)
    assert pool.slots() == after


def test_a_queue_of_another_label_moves_nobody(plane, pool):
    """PO-S15: what this pool cannot lease is not counted, so it stays at min and is steady."""
    plane.enqueue()
    plane.claimable = 0
    with plane.lock:
        plane.queue.clear()
    pool.supervise(pool.agent(GIVE))
    pool.registered(1)
    pool.until("action=hold", "reason=steady")
    assert len(pool.lines("action=spawn")) == 1
