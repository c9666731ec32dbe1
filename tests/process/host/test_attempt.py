"""What one attempt does, from the claim to the accepted outcome."""

GIVE = "result.write_text(json.dumps({'verdict': 'FLAKE'}))\n"


def test_a_command_reads_its_job_and_its_file_becomes_the_result(plane, machine):
    """AD-S4: the agent's file is the artifact of a completed run."""
    lease = plane.enqueue(spec={"input": {"n": 1}})
    worker = machine.work(machine.agent("assert job['variables'] == {'n': 1}\n" + GIVE), "--max-runs", "1")
    result = plane.result_of(lease)
    assert (result["terminalState"], result["reasonCode"]) == ("completed", "ok")
    assert result["result"]["artifact"] == {"verdict": "FLAKE"}
    assert worker.wait(10) == 0
    assert plane.byes == [(lease.worker_id, "max_runs")]
