"""Flags, bounds and the files of a run folder."""

import json
import os
import subprocess
import sys

import pytest

from workers.host.options import UsageError
from workers.host.pool.bounds import Bounds, read_policy_bounds
from workers.host.pool.options import parse
from workers.host.pool.run_folder import RunFolder, hold_slot
from workers.host.process.identity import start_token
from workers.host.process.only_one import hold_lock


def test_bounds_come_from_the_flag_else_from_the_file_else_from_the_defaults(tmp_path):
    assert read_policy_bounds(tmp_path, None) == Bounds(1, 3, 60)
    (tmp_path / "policy.yaml").write_text("workers: {max: 5, coolDownSeconds: 7}\nreviewers: []\n")
    assert read_policy_bounds(tmp_path, None) == Bounds(1, 5, 7)
    assert read_policy_bounds(tmp_path, (2, 2)) == Bounds(2, 2, 7)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("workers: {min: 4}", "min 4 is more than max 3"),
        ("workers: {max: 65}", "workers.max"),
        ("workers: {min: many}", "workers.min"),
        ("workers: {coolDownSeconds: -1}", "workers.coolDownSeconds"),
        ("workers: {most: 3}", "min, max, coolDownSeconds"),
        ("workers: [", "policy.yaml"),
    ],
)
def test_a_wrong_key_of_the_file_is_named(tmp_path, text, named):
    (tmp_path / "policy.yaml").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_policy_bounds(tmp_path, None)
    assert named in caught.value.message


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--workers", "3:1"], "min 3 is more than max 1"),
        (["--workers", "0"], "max must be 1 to 64"),
        (["--workers", "1:65"], "max must be 1 to 64"),
        (["--workers", "some"], "--workers"),
        (["--workers", "1:"], "--workers"),
        (["--pool", "Main"], "--pool"),
        (["--interval", "0.01"], "--interval"),
        (["--spawn-grace", "-1"], "--spawn-grace"),
        (["--drain-timeout", "3601"], "--drain-timeout"),
        (["--list-kept"], "--list-kept"),
    ],
)
def test_a_wrong_flag_is_named(flags, named):
    with pytest.raises(UsageError) as caught:
        parse(flags)
    assert named in caught.value.message


def test_the_flags_of_a_worker_are_passed_on_and_those_of_the_pool_are_not():
    options = parse(["--workers", "2", "--pool", "gpu", "--label", "can=build", "--command", "my agent", "--once"])
    assert (options.bounds, options.pool, options.once, options.interval) == ((2, 2), "gpu", True, None)
    assert "--command=my agent" in options.worker_argv
    assert options.worker_argv[options.worker_argv.index("--label") + 1] == "can=build"
    assert not [word for word in options.worker_argv if word.startswith(("--workers", "--pool", "--once"))]


@pytest.fixture
def sleeper():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_slot_is_its_files_and_its_process(tmp_path, sleeper):
    run = RunFolder(tmp_path)
    run.take(2, sleeper.pid)
    [slot] = run.slots()
    assert (slot.number, slot.alive, slot.draining, slot.worker_id) == (2, True, False, None)
    assert run.free_slot(3) == 1
    run.take(1, sleeper.pid)
    assert run.free_slot(2) is None
    run.ask_to_leave(2, "idle_surplus")
    assert json.loads((tmp_path / "worker-2.drain").read_text())["reason"] == "idle_surplus"
    run.id_file(2).write_text("lab.x\n")
    slot = run.slots()[1]
    assert (slot.draining, slot.worker_id) == (True, "lab.x")
    run.free(2)
    assert [path.name for path in tmp_path.glob("worker-2.*")] == []
    assert (tmp_path / "worker-1.pid").stat().st_mode & 0o077 == 0


def test_a_pid_that_another_program_has_by_now_does_not_hold_the_slot(tmp_path, sleeper):
    """PO-S10"""
    run = RunFolder(tmp_path)
    run.take(1, sleeper.pid)
    stale = json.loads(run.pid_file(1).read_text())
    run.pid_file(1).write_text(json.dumps({**stale, "start": "another boot:1"}))
    assert not run.slots()[0].alive
    assert hold_slot(tmp_path, 1)
    assert run.slots()[0].process.pid == os.getpid()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', "null"])
def test_a_broken_pid_file_is_a_dead_slot(tmp_path, content):
    run = RunFolder(tmp_path)
    run.pid_file(1).write_text(content)
    assert [slot.alive for slot in run.slots()] == [False]


def test_a_worker_does_not_take_the_slot_of_a_live_one(tmp_path, sleeper):
    RunFolder(tmp_path).take(1, sleeper.pid)
    assert not hold_slot(tmp_path, 1)
    assert RunFolder(tmp_path).slots()[0].process.pid == sleeper.pid


def test_the_pid_file_of_a_lock_names_its_process(tmp_path):
    descriptor = hold_lock(tmp_path / "run", "supervisor", node="lab", pool="main")
    found = json.loads((tmp_path / "run" / "supervisor.pid").read_text())
    os.close(descriptor)
    assert (found["pid"], found["start"]) == (os.getpid(), start_token(os.getpid()))
    assert (found["command"], found["node"], found["pool"]) == ("supervisor", "lab", "main")
