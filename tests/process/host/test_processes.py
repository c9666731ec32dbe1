"""Signals, crashes and outages: no agent outlives its attempt, and no outcome is lost or told twice."""

import json
import os
import shutil
import signal
import sys
from itertools import pairwise

import pytest

from tests.process.host.conftest import ROOT, alive, wait_for
from tests.process.host.control_plane import TOKEN

GIVE = "result.write_text(json.dumps({'verdict': 'x'}))\n"
# An agent with a grandchild in its group and a daemon in a session of its own without any marker; all ignore SIGTERM.
FAMILY = """
nap = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", nap])
daemon = subprocess.Popen([sys.executable, "-c", nap], env={}, start_new_session=True)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
Path(os.environ["AGENT_WORKSPACE"]).parents[2].joinpath("pids.json").write_text(
    json.dumps([os.getpid(), child.pid, daemon.pid]))
"""
HANG = "time.sleep(600)\n"


def family(machine):
    path = machine.home / "pids.json"
    return wait_for(
        lambda: path.exists() and path.read_text() and json.loads(path.read_text()), what="the agent's pids"
    )


def gone(pids, seconds):
    wait_for(lambda: not any(alive(pid) for pid in pids), seconds, f"end of {pids}")


def current(machine):
    return next(iter(machine.home.glob("boots/*/current.json")), None)


def test_after_sigkill_of_a_worker_its_agent_is_dead_and_the_next_boot_says_so(plane, machine):
    """WP-S5, AD-H9, AD-S7"""
    lease = plane.enqueue()
    first = machine.work(machine.agent(FAMILY + HANG))
    pids = family(machine)
    first.kill()
    gone(pids, 2.0)
    claimed = len(plane.claims)
    machine.work(machine.agent(GIVE))
    result = plane.result_of(lease)
    assert (result["terminalState"], result["reasonCode"]) == ("failed", "worker_crashed")
    assert result["workerId"] == lease.worker_id
    assert len(plane.claims) == claimed
    wait_for(lambda: current(machine) is None, what="nothing in hand")


def test_with_the_minder_killed_too_the_next_worker_ends_the_agent_before_it_claims(plane, machine):
    """AD-S7, AD-H9, AD-H10"""
    lease = plane.enqueue()
    first = machine.work(machine.agent(FAMILY.replace("env={}, ", "") + HANG))
    pids = family(machine)
    leader = wait_for(lambda: json.loads(current(machine).read_text())["leader"])["pid"]
    first.send_signal(signal.SIGSTOP)
    os.kill(leader, signal.SIGKILL)
    first.kill()
    first.wait()
    assert all(alive(pid) for pid in pids)
    machine.work(machine.agent(GIVE))
    assert plane.result_of(lease)["reasonCode"] == "worker_crashed"
    gone(pids, 0.5)


def test_a_pid_that_belongs_to_another_program_by_now_is_not_signalled(plane, machine):
    """AD-H10, PO-H2"""
    lease = plane.enqueue()
    first = machine.work(machine.agent(FAMILY + HANG))
    pids = family(machine)
    first.kill()
    gone(pids, 2.0)
    first.wait()
    path = current(machine)
    holding = json.loads(path.read_text())
    holding["leader"]["pid"] = holding["agent"]["pid"] = os.getpid()
    path.write_text(json.dumps(holding))
    machine.work(machine.agent(GIVE))
    assert plane.result_of(lease)["reasonCode"] == "worker_crashed"


def test_a_spooled_outcome_survives_sigkill_and_is_told_by_the_next_boot_before_it_claims(plane, machine):
    """WP-S4, WP-H6"""
    plane.refuse_results = [(503, "unavailable")] * 1000
    lease = plane.enqueue()
    first = machine.work(machine.agent(GIVE))
    wait_for(lambda: list(machine.home.glob("boots/*/outbox/*/*/manifest.json")), what="the spool entry")
    plane.until(lambda: any(path.endswith("/result") for _, path, _ in plane.requests))
    first.kill()
    first.wait()
    plane.refuse_results.clear()
    mark = len(plane.requests)
    machine.work(machine.agent(GIVE))
    result = plane.result_of(lease)
    assert (result["reasonCode"], result["workerId"]) == ("ok", lease.worker_id)
    plane.until(lambda: any(path.endswith("/claim") for _, path, _ in plane.requests[mark:]))
    paths = [path.rpartition("/")[2] for _, path, _ in plane.requests[mark:]]
    assert paths.index("result") < paths.index("claim")
    assert list(machine.home.glob("boots/*/outbox/*/*/manifest.json")) == []


def test_a_cancel_ends_the_whole_family_and_publishes_nothing(plane, machine):
    """RU-S10: also what ignores SIGTERM, within its grace."""
    lease = plane.enqueue()
    usage = "print('::factory:usage:: ' + json.dumps({'inputTokens': 7}), flush=True)\n"
    machine.work(machine.agent("child = subprocess.Popen(['sleep', '600'])\nPath(os.environ['AGENT_WORKSPACE'])"
                               ".parents[2].joinpath('pids.json').write_text(json.dumps([os.getpid(), child.pid]))\n"
                               + usage + HANG))  # fmt: skip
    pids = family(machine)
    plane.until(lambda: lease.rows)
    plane.cancel(lease)
    gone(pids, 2.0)
    stopped = plane.until(lambda: [beat for beat in lease.beats if beat["phase"] == "stopped"])
    assert stopped[-1]["usage"]["inputTokens"] == 7
    assert lease.result is None
    assert not any(path.endswith("/result") for _, path, _ in plane.requests)


def test_an_agent_that_leaves_a_daemon_is_cleared_away_before_its_result_is_told(plane, machine):
    """PO-S7, AD-H8"""
    lease = plane.enqueue()
    at_result = []
    original = plane.publish

    def publish(*arguments):
        at_result.append([alive(pid) for pid in family(machine)])
        return original(*arguments)

    plane.publish = publish
    machine.work(machine.agent(FAMILY + GIVE), "--max-runs", "1")
    assert plane.result_of(lease, 30)["reasonCode"] == "ok"
    assert at_result == [[False, False, False]]


def test_a_fenced_attempt_is_killed_and_its_output_is_in_quarantine_only(plane, machine):
    """After the first refusal nothing of it is sent."""
    lease = plane.enqueue()
    source = GIVE + FAMILY.replace("SIG_IGN", "SIG_DFL") + HANG
    worker = machine.work(machine.agent(source), "--max-runs", "1")
    pids = family(machine)
    plane.fence(lease)
    gone(pids, 5.0)
    assert worker.wait(10) == 0
    assert lease.result is None
    assert lease.uploads == {}
    kept = list((machine.home / "quarantine").iterdir())
    assert len(kept) == 1
    assert (kept[0] / "result.json").read_text() == '{"verdict": "x"}'
    listing = machine.work("--list-quarantine")
    assert listing.wait(10) == 0
    assert f"{lease.run_id}-a1" in machine.log()
    assert machine.work("--purge-quarantine").wait(10) == 0
    assert list((machine.home / "quarantine").iterdir()) == []


@pytest.mark.parametrize(("status", "code", "then"), [(422, "contract_violation", "contract_violation"),
                                                      (409, "idempotency_conflict", "adapter_error")])  # fmt: skip
def test_a_refused_submission_is_quarantined_and_the_failure_is_told_under_a_new_key(
    plane, machine, status, code, then
):
    plane.refuse_results = [(status, code)]
    lease = plane.enqueue()
    machine.work(machine.agent(GIVE), "--max-runs", "1")
    result = plane.result_of(lease)
    assert (result["terminalState"], result["reasonCode"]) == ("failed", then)
    [kept] = (machine.home / "quarantine").iterdir()
    assert json.loads((kept / "manifest.json").read_text())["key"] != lease.result_key
    assert json.loads((kept / "answer.json").read_text())["code"] == code


def test_sigterm_ends_an_idle_worker_at_once(plane, machine):
    worker = machine.work(machine.agent(GIVE))
    plane.until(lambda: any(path.endswith("/claim") for _, path, _ in plane.requests))
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(2) == 0
    assert [reason for _, reason in plane.byes] == ["stopped"]
    assert list((machine.home / "boots").iterdir()) == []


def test_a_worker_that_is_told_to_leave_finishes_its_run_first(plane, machine):
    lease = plane.enqueue()
    go = machine.folder / "go"
    worker = machine.work(machine.agent(f"while not Path({str(go)!r}).exists(): time.sleep(0.02)\n" + GIVE))
    plane.until(lambda: "running" in lease.phases)
    plane.asks_to_leave = True
    go.touch()
    assert plane.result_of(lease)["reasonCode"] == "ok"
    assert worker.wait(5) == 0
    assert [reason for _, reason in plane.byes] == ["drained"]


def test_sigterm_lets_a_busy_worker_finish_within_its_drain_timeout(plane, machine):
    """PO-S8: the run that ends in time."""
    lease = plane.enqueue()
    go = machine.folder / "go"
    worker = machine.work(machine.agent(f"while not Path({str(go)!r}).exists(): time.sleep(0.02)\n" + GIVE))
    plane.until(lambda: "running" in lease.phases)
    worker.send_signal(signal.SIGTERM)
    plane.until(lambda: any(beat.get("draining") for beat in lease.beats))
    go.touch()
    assert plane.result_of(lease)["reasonCode"] == "ok"
    assert worker.wait(5) == 0


def test_a_run_that_outlives_the_drain_timeout_is_given_back(plane, machine):
    """PO-S8: the run that does not."""
    lease = plane.enqueue()
    worker = machine.work(machine.agent(FAMILY.replace("SIG_IGN", "SIG_DFL") + HANG), "--drain-timeout", "0.5")
    pids = family(machine)
    worker.send_signal(signal.SIGTERM)
    assert plane.result_of(lease)["reasonCode"] == "drain_timeout"
    assert worker.wait(5) == 0
    assert not any(alive(pid) for pid in pids)


def test_a_second_signal_leaves_no_agent_and_no_grace(plane, machine):
    """PO-S8: exit 130 within 3 s."""
    lease = plane.enqueue()
    worker = machine.work(machine.agent(FAMILY + HANG))
    pids = family(machine)
    worker.send_signal(signal.SIGTERM)
    plane.until(lambda: any(beat.get("draining") for beat in lease.beats))
    worker.send_signal(signal.SIGINT)
    assert worker.wait(3) == 130
    assert not any(alive(pid) for pid in pids)
    assert plane.result_of(lease)["reasonCode"] == "drain_timeout"


def test_a_run_that_is_leased_while_the_worker_leaves_is_handed_back(plane, machine):
    """PO-S9"""
    worker = machine.work(machine.agent(GIVE))
    plane.until(lambda: any(path.endswith("/claim") for _, path, _ in plane.requests))
    lease = plane.plan()
    with plane.lock:
        plane.surprise = lease
    worker.send_signal(signal.SIGTERM)
    assert plane.result_of(lease, 2)["reasonCode"] == "drain_timeout"
    assert worker.wait(3) == 0
    assert lease.phases == []


def test_a_drain_file_is_honoured_only_after_the_attempt_in_hand(plane, machine):
    """PO-H6"""
    lease = plane.enqueue()
    flag, go = machine.folder / "drain", machine.folder / "go"
    source = f"while not Path({str(go)!r}).exists(): time.sleep(0.02)\n" + GIVE
    worker = machine.work(machine.agent(source), "--drain-file", str(flag), "--drain-timeout", "0")
    plane.until(lambda: "running" in lease.phases)
    flag.write_text("{}")
    plane.until(lambda: any(beat.get("draining") for beat in lease.beats))
    second = plane.enqueue()
    go.touch()
    assert plane.result_of(lease)["reasonCode"] == "ok"
    assert worker.wait(5) == 0
    assert plane.byes[-1][1] == "drained"
    assert second.worker_id == ""


def test_a_worker_whose_code_changed_finishes_its_run_and_asks_to_be_restarted(plane, machine):
    """Exit 75 at the safe point, never before the attempt in hand is told."""
    copy = machine.folder / "package"
    for name in ("workers/host", "runs/contract"):
        shutil.copytree(ROOT / name, copy / name)
    for name in ("workers", "runs"):
        (copy / name / "__init__.py").touch()
    machine.environment["PYTHONPATH"] = str(copy)
    lease, go = plane.enqueue(), machine.folder / "go"
    worker = machine.work(machine.agent(f"while not Path({str(go)!r}).exists(): time.sleep(0.02)\n" + GIVE))
    plane.until(lambda: "running" in lease.phases)
    (copy / "workers" / "host" / "fresh.py").write_text("NEW = True\n")
    go.touch()
    assert plane.result_of(lease)["reasonCode"] == "ok"
    assert worker.wait(20) == 75
    assert plane.byes[-1][1] == "reload"


def test_a_revoked_token_ends_the_agent_and_a_new_file_lets_the_worker_go_on(plane, machine):
    """WP-S9"""
    plane.due_seconds = 2.0
    lease = plane.enqueue()
    worker = machine.work(machine.agent(FAMILY.replace("SIG_IGN", "SIG_DFL") + HANG))
    pids = family(machine)
    plane.until(lambda: "running" in lease.phases)
    with plane.lock:
        plane.tokens = {TOKEN.replace("a1B2", "z9Y8")}
    gone(pids, 20)
    wait_for(lambda: list(machine.home.glob("boots/*/outbox/*/*/manifest.json")), what="the outcome in the spool")
    wait_for(lambda: "credentials rotate lab --output FILE" in machine.log(), what="the way to a new token")
    machine.write_credential(TOKEN.replace("a1B2", "z9Y8"))
    assert plane.result_of(lease)["reasonCode"] == "adapter_error"
    again = plane.enqueue(adapter="fake", spec={"input": {"fake": {"artifact": {"verdict": "on"}}}})
    assert plane.result_of(again)["reasonCode"] == "ok"
    assert worker.poll() is None
    assert TOKEN not in machine.log()


def test_a_flood_of_output_delays_no_heartbeat_and_outgrows_no_log(plane, machine):
    """AD-H11"""
    plane.heartbeat_ms = 1000
    options = {"outcome": "flood", "bytes": 200 * 1024**2, "artifact": {"verdict": "x"}}
    lease = plane.enqueue(adapter="fake", spec={"input": {"fake": options}})
    beats = []
    original = plane.heartbeat

    def heartbeat(of, body):
        beats.append(plane.now())
        return original(of, body)

    plane.heartbeat = heartbeat
    machine.work("--adapter", "fake", "--max-runs", "1")
    assert plane.result_of(lease, 60)["reasonCode"] == "ok"
    late = max((after - before).total_seconds() for before, after in pairwise(beats))
    assert late < 3.0
    transcript = plane.objects[lease.uploads["transcript"]]
    assert 48 * 1024**2 < len(transcript) <= 49 * 1024**2 + 1024
    assert b"bytes beyond the limit" in transcript
    assert transcript.rstrip().endswith(b"flood")


def test_the_command_of_the_site_becomes_the_same_worker(plane, machine):
    lease = plane.enqueue()
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from factory_site.shell.cli import run; run(sys.argv[1:])"
    argv = [sys.executable, "-c", start, "work", machine.agent(GIVE), "--max-runs", "1", "--label", "a=b"]
    worker = machine.start(argv, {"PATH": os.environ["PATH"], "FACTORY_HOME": str(machine.folder)})
    assert plane.result_of(lease)["reasonCode"] == "ok"
    assert worker.wait(10) == 0
    assert plane.hellos[0]["labels"]["a"] == "b"


def test_the_command_of_the_site_names_a_wrong_flag_in_one_line(machine):
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from factory_site.shell.cli import run; run(sys.argv[1:])"
    argv = [sys.executable, "-c", start, "work", "--isolation", "bwrap"]
    worker = machine.start(argv, {"PATH": os.environ["PATH"], "FACTORY_HOME": str(machine.folder)})
    assert worker.wait(20) == 64
    assert "--isolation none" in machine.log()
    assert len(machine.log().splitlines()) == 1
