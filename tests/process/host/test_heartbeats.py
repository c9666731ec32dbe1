"""Heartbeats go on whatever else a worker does."""

import sys

GATED = "import pathlib, time\nwhile not pathlib.Path({!r}).exists(): time.sleep(0.02)\n"
GIVE = "print('done')\nresult.write_text(json.dumps({'verdict': 'x'}))\n"


def test_no_step_of_an_attempt_holds_up_a_heartbeat(plane, machine):
    """PO-H7: a fetch, an agent, a verify command and an upload each last until three more heartbeats have come."""
    agent, check = machine.folder / "agent", machine.folder / "check"
    verify = [{"name": "tests", "argv": [sys.executable, "-c", GATED.format(str(check))], "timeoutSeconds": 60}]
    lease = plane.enqueue(spec={"verify": verify, "verifySeconds": 120})
    held = []

    def more(what, phase):
        """Wait, as this step does, for three heartbeats of the phase."""
        plane.until(lambda: lease.phases.count(phase) >= 3, what=f"heartbeats during {what}")
        held.append(what)

    fetched, store = plane.fetched, plane.store

    def slow_fetch(digest):
        if not held:
            more("the fetch", "leased")
        return fetched(digest)

    def slow_store(of, content, kind):
        if "the upload" not in held:
            more("the upload", "publishing")
        return store(of, content, kind)

    plane.fetched, plane.store = slow_fetch, slow_store
    machine.work(machine.agent(GATED.format(str(agent)) + GIVE), "--max-runs", "1")
    more("the agent", "running")
    agent.touch()
    more("the verify command", "verifying")
    check.touch()
    assert plane.result_of(lease)["reasonCode"] == "ok"
    assert held == ["the fetch", "the agent", "the verify command", "the upload"]
