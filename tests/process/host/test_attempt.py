"""What one attempt does, from the claim to the accepted outcome."""

import json
import sys
from datetime import timedelta

import pytest

from tests.process.host.conftest import Machine, wait_for
from tests.process.host.control_plane import TOKEN, ControlPlane

GIVE = "result.write_text(json.dumps({'verdict': 'FLAKE'}))\n"
FENCED = "print('Here:'); print('```json'); print(json.dumps({'verdict': 'ENV'})); print('```')\n"
LINE = "print('::factory:result:: ' + json.dumps({'verdict': 'TICKET'}))\n"
HANG = "time.sleep(600)\n"


def run(plane, machine, source, *flags, **enqueued):
    """The submission of one run whose agent is this source."""
    lease = plane.enqueue(**enqueued)
    worker = machine.work(machine.agent(source), "--max-runs", "1", *flags)
    result = plane.result_of(lease)
    assert worker.wait(10) == 0
    return lease, result


@pytest.mark.parametrize(
    ("source", "verdict"), [(GIVE, "FLAKE"), (LINE, "TICKET"), (FENCED, "ENV"), (LINE + GIVE, "FLAKE")]
)
def test_a_result_is_taken_from_the_first_channel_that_has_one(plane, machine, source, verdict):
    """AD-S4: file, last line and closing block give a completed run."""
    lease, result = run(plane, machine, "assert job['variables'] == {'n': 1}\n" + source, spec={"input": {"n": 1}})
    assert (result["terminalState"], result["reasonCode"]) == ("completed", "ok")
    assert result["result"]["artifact"] == {"verdict": verdict}
    assert plane.byes == [(lease.worker_id, "max_runs")]
    assert next(phase for phase in lease.phases if phase != "leased") == "running"


def test_a_result_line_that_is_not_the_last_one_is_none(plane, machine):
    """AD-S4: text after the result line, strict policy."""
    _, result = run(plane, machine, LINE + "print('and more')\n")
    assert (result["reasonCode"], result["detail"]["check"]) == ("contract_violation", "missing_result")


@pytest.mark.parametrize(
    ("policy", "state", "reason"),
    [("strict", "failed", "contract_violation"), ("lenient", "completed", "result_defaulted")],
)
def test_exit_0_without_a_result_is_judged_by_the_policy(plane, machine, policy, state, reason):
    """RU-S13"""
    _, result = run(plane, machine, "print('done')\n", spec={"resultPolicy": policy})
    assert (result["terminalState"], result["reasonCode"]) == (state, reason)
    if policy == "lenient":
        assert (result["result"]["artifact"], result["result"]["verification"]["status"]) == ({}, "defaulted")


@pytest.mark.parametrize("policy", ["strict", "lenient"])
def test_a_crash_is_one_whatever_was_written_and_whatever_the_policy(plane, machine, policy):
    """AD-H5: exit code 3 and a sound result file."""
    source = GIVE + "print('could not apply', file=sys.stderr)\nsys.exit(3)\n"
    _, result = run(plane, machine, source, spec={"resultPolicy": policy})
    assert (result["terminalState"], result["reasonCode"]) == ("failed", "agent_exit")
    assert result["detail"]["exitCode"] == result["execution"]["exitCode"] == 3
    assert "could not apply" in result["detail"]["tail"]
    assert [ref["kind"] for ref in result["artifactRefs"]] == ["console"]


@pytest.mark.parametrize("outcome", ["wrong_nonce", "old_path", "link", "no_result"])
def test_what_this_attempt_did_not_give_on_its_own_path_is_not_given(plane, machine, outcome):
    """AD-H6"""
    lease = plane.enqueue(adapter="fake", spec={"input": {"fake": {"outcome": outcome, "artifact": {"verdict": "x"}}}})
    machine.work("--adapter", "fake", "--max-runs", "1")
    result = plane.result_of(lease)
    assert (result["reasonCode"], result["detail"]["check"]) == ("contract_violation", "missing_result")


def test_an_answer_from_within_the_worker_starts_nothing_and_announces_nothing(plane, machine):
    """The result alone tells that the run has started: no heartbeat comes before it, and no file is laid out."""
    lease = plane.enqueue(adapter="fake", spec={"input": {"fake": {"artifact": {"verdict": "ok"}}}})
    machine.work("--adapter", "fake", "--max-runs", "1")
    assert plane.result_of(lease)["terminalState"] == "completed"
    assert lease.phases == []


def test_an_artifact_that_does_not_fit_names_the_path(plane, machine):
    source = "result.write_text(json.dumps({'verdict': 7}))\n"
    _, result = run(plane, machine, source)
    assert (result["detail"]["check"], result["detail"]["path"]) == ("output_schema", "$.verdict")


def test_an_agent_gets_what_the_contract_lists_and_nothing_of_the_worker(plane, machine):
    """AD-H12, AD-H13, WP-H10"""
    planted = {
        "GITHUB_TOKEN": "ghp_" + "x" * 36, "DATABASE_URL": "postgres://u:pw@db/x",
        "ANTHROPIC_API_KEY": "sk-ant-0123456789abc",
        "SSH_AUTH_SOCK": "/nowhere", "AWS_SECRET_ACCESS_KEY": "planted-aws-secret", "LD_PRELOAD": "",
        "SOMETHING": "else",
        "COPIED": "ghp_" + "x" * 36, "CLAUDECODE": "1", "TZ": "UTC",
    }  # fmt: skip
    machine.environment |= planted
    (machine.home).mkdir(mode=0o700)
    (machine.home / "host.yaml").write_text("passEnv: [COPIED, SOMETHING, GITHUB_TOKEN, DATABASE_URL]\n")
    source = (
        "argv = Path('/proc/self/cmdline').read_text()\n"
        "Path('env.json').write_text(json.dumps({'env': dict(os.environ), 'argv': argv}))\n"
        "result.write_text(json.dumps({'schemaVersion': 'factory.agent-result/v1', 'terminalState': 'completed',\n"
        "  'artifact': {}, 'artifacts': [{'path': 'env.json', 'kind': 'file'}]}))\n"
    )
    lease, result = run(plane, machine, source)
    assert result["terminalState"] == "completed", result
    seen = json.loads(plane.objects[lease.uploads["file"]])
    names = set(seen["env"])
    contract = {
        "AGENT_RUN_ID", "AGENT_WORKSPACE", "AGENT_INPUT_FILE", "AGENT_PROMPT_FILE", "AGENT_RESULT_FILE", "AGENT_NONCE",
        "TMPDIR", "FACTORY_ATTEMPT", "CI", "NO_COLOR", "GIT_TERMINAL_PROMPT", "GCM_INTERACTIVE", "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_VALUE_0", "PATH", "TERM", "TZ", "SOMETHING",
    }  # fmt: skip
    assert contract <= names
    assert names - contract <= {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "SHELL", "USER"}
    everything = json.dumps(seen) + json.dumps(plane.hellos) + machine.log()
    for secret in (TOKEN, planted["GITHUB_TOKEN"], planted["ANTHROPIC_API_KEY"], lease.token):
        assert secret not in everything
    stored = [path for path in machine.folder.rglob("*") if path.is_file() and path != machine.credential]
    assert [path for path in stored if TOKEN.encode() in path.read_bytes()] == []


def test_a_document_altered_on_its_way_is_refused_before_anything_starts(plane, machine):
    """WP-S17"""
    lease = plane.enqueue()
    digest = lease.claim["documents"][0]["hash"]
    plane.altered[digest] = b'{"type": "object", "x": 1}'
    started = machine.folder / "started"
    machine.work(machine.agent(f"Path({str(started)!r}).touch()\n" + GIVE), "--max-runs", "1")
    result = plane.result_of(lease)
    assert (result["terminalState"], result["reasonCode"]) == ("refused", "agent_definition_mismatch")
    assert "running" not in lease.phases
    assert not started.exists()


@pytest.mark.parametrize("part", ["spec", "definition", "prompt"])
def test_a_claim_whose_parts_do_not_match_their_hashes_is_refused(plane, machine, part):
    lease = plane.plan()
    lease.claim[part] = {**lease.claim[part], "text": "Push to main.", "title": "other"}
    plane.queue.append(lease)
    machine.work(machine.agent(GIVE), "--max-runs", "1")
    assert plane.result_of(lease)["reasonCode"] == "agent_definition_mismatch"


@pytest.mark.parametrize(
    ("definition", "code"),
    [
        ({"sandbox": {"provider": "bwrap"}}, "sandbox_unsupported"),
        ({"harness": {"skills": ["tidy"]}}, "harness_unsupported"),
        ({"mutating": True}, "unsupported_spec"),
    ],
)
def test_the_guard_holds_also_under_an_override(plane, machine, definition, code):
    """AD-H1"""
    lease = plane.enqueue(definition=definition, adapter="fake")
    machine.work("--adapter-override", "fake", "--max-runs", "1")
    result = plane.result_of(lease)
    assert (result["terminalState"], result["reasonCode"]) == ("refused", code)
    assert "running" not in lease.phases


@pytest.mark.parametrize("how", ["../../etc/passwd", "/etc/passwd", "link"])
def test_a_declared_artifact_outside_the_workspace_is_not_stored(plane, machine, how):
    """RU-S14"""
    source = (
        "os.symlink('/etc/passwd', 'link')\n"
        "result.write_text(json.dumps({'schemaVersion': 'factory.agent-result/v1', 'terminalState': 'completed',\n"
        f"  'artifact': {{}}, 'artifacts': [{{'path': {how!r}}}]}}))\n"
    )
    lease, result = run(plane, machine, source)
    assert (result["reasonCode"], result["detail"]["check"]) == ("contract_violation", "artifact_path_escape")
    assert "file" not in lease.uploads


def test_a_valid_result_that_was_there_at_the_deadline_is_a_late_completion(plane, machine):
    """RU-S8"""
    plane.agent_seconds = 1.0
    lease, result = run(plane, machine, GIVE + HANG)
    assert (result["terminalState"], result["execution"]["late"]) == ("completed", True)
    assert any(beat.get("atDeadline") for beat in lease.beats)
    assert any(beat.get("reasonCode") == "late_completion" for beat in lease.beats)


def test_no_result_at_the_deadline_is_a_time_out(plane, machine):
    plane.agent_seconds = 1.0
    _, result = run(plane, machine, HANG)
    assert (result["terminalState"], result["reasonCode"]) == ("timed_out", "timeout")
    assert result["execution"]["timedOut"]


def test_an_extension_before_the_deadline_lets_the_agent_go_on(plane, machine):
    """RU-S6: the worker asks before it kills, and takes the later instant."""
    plane.agent_seconds = 1.5
    go = machine.folder / "go"
    lease = plane.enqueue()
    machine.work(machine.agent(f"while not Path({str(go)!r}).exists(): time.sleep(0.02)\n" + GIVE), "--max-runs", "1")
    plane.until(lambda: lease.deadline is not None)
    with plane.lock:
        first = lease.deadline
        lease.deadline += timedelta(seconds=60)
    plane.until(lambda: plane.now() > first + timedelta(seconds=0.5))
    go.touch()
    assert plane.result_of(lease)["terminalState"] == "completed"


def test_usage_beyond_the_budget_ends_the_agent(plane, machine):
    source = "print('::factory:usage:: ' + json.dumps({'inputTokens': 5, 'costUsd': 2.5}), flush=True)\n" + HANG
    lease = plane.plan()
    original = plane.claim

    def claim(*arguments):
        answer = original(*arguments)
        if answer["claim"]:
            answer["claim"]["budgetLeft"] = {"usd": 1.5, "tokens": None}
        return answer

    plane.claim = claim
    plane.queue.append(lease)
    machine.work(machine.agent(source), "--max-runs", "1")
    result = plane.result_of(lease)
    assert result["reasonCode"] == "budget_exceeded"
    assert result["execution"]["usage"]["costUsd"] == 2.5


@pytest.mark.parametrize(("baseline", "code"), [(True, "baseline_red"), (False, "verification_failed")])
def test_a_red_verify_command_is_the_agents_fault_unless_it_was_red_before(plane, machine, baseline, code):
    verify = [{"name": "tests", "argv": [sys.executable, "-c", "print('2 failed'); exit(1)"], "timeoutSeconds": 10,
               "baseline": baseline}]  # fmt: skip
    lease, result = run(plane, machine, GIVE, spec={"verify": verify, "verifySeconds": 20})
    assert (result["terminalState"], result["reasonCode"]) == ("failed", code)
    assert "2 failed" in result["detail"]["tail"]
    assert b"2 failed" in plane.objects[lease.uploads["verify_log"]]


def test_planted_secrets_are_in_nothing_that_is_stored(plane, machine):
    """AD-H14: raw, cut across writes, in a long line, beside NUL and invalid bytes."""
    secret = "planted-secret-0123456789"
    machine.home.mkdir(mode=0o700)
    (machine.home / "secrets.env").write_text(f"API_TOKEN={secret}\n")
    source = (
        f"s = {secret!r}\nout = sys.stdout.buffer\n"
        "for part in (s[:9], s[9:] + '\\n'):\n    out.write(part.encode()); out.flush()\n"
        "out.write(b'x' * (1024 * 1024 + 70000 - 10) + s.encode() + b'y' * 2000000 + b'\\n')\n"
        "out.write(b'nul \\0 bad \\xff line ' + s.encode() + b'\\n')\n"
        "print('oops', s, file=sys.stderr)\nresult.write_text(json.dumps({'verdict': 'see ' + s}))\n"
    )
    lease, result = run(plane, machine, source)
    assert result["result"]["artifact"] == {"verdict": "see [redacted:host_secret]"}
    everything = json.dumps(result) + json.dumps(lease.rows) + machine.log()
    assert secret not in everything
    console = plane.objects[lease.uploads["console"]]
    assert console.count(b"[redacted:host_secret]") == 4
    assert secret.encode() not in console
    assert b"\0" not in console
    console.decode()


def test_nothing_of_django_is_imported(plane, machine):
    lease = plane.enqueue()
    worker = machine.work(machine.agent(GIVE), "--max-runs", "1", python=("-X", "importtime"))
    plane.result_of(lease)
    assert worker.wait(10) == 0
    imported = [line.rpartition("|")[2].strip() for line in machine.log().splitlines() if "import time:" in line]
    assert "workers.host.loop" in imported
    assert [name for name in imported if name.partition(".")[0] in {"django", "ninja", "huey"}] == []


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_wrong_by_an_hour_changes_nothing(tmp_path, hours):
    """WP-H9, WP-S14"""
    plane = ControlPlane(offset=timedelta(hours=hours))
    plane.agent_seconds = 1.0
    machine = Machine(tmp_path / "data", plane.url)
    try:
        late = plane.enqueue()
        soon = plane.enqueue(spec={"input": {"quick": True}})
        source = "if not job['variables']: time.sleep(600)\n" + GIVE
        machine.work(machine.agent(source), "--max-runs", "2")
        assert plane.result_of(late)["reasonCode"] == "timeout"
        assert plane.result_of(soon)["reasonCode"] == "ok"
        assert "running" in soon.phases
    finally:
        machine.stop()
        plane.close()


def test_plain_http_to_another_machine_is_refused_before_a_byte_is_sent(machine):
    worker = machine.work("--url", "http://192.0.2.1:8090")
    assert worker.wait(10) == 64
    assert "insecure_url" in machine.log()
    assert len(machine.log().splitlines()) == 1


@pytest.mark.parametrize(
    ("flags", "mode", "word"),
    [
        ((), 0o644, "chmod 600"),
        (("--isolation", "bwrap"), 0o600, "--isolation none"),
        (("--adapter", "claude"), 0o600, "this version has command, fake"),
        (("--label", "node=x"), 0o600, "cannot be set"),
        (("--poll-ms", "5"), 0o600, "--poll-ms"),
        (("--nonsense",), 0o600, "--nonsense"),
    ],
)
def test_a_wrong_start_is_one_line_that_says_what_to_do(plane, machine, flags, mode, word):
    machine.write_credential(TOKEN, mode=mode)
    worker = machine.work(*flags)
    assert worker.wait(10) == 64
    lines = machine.log().splitlines()
    assert len(lines) == 1
    assert word in lines[0]
    assert plane.requests == []


def test_input_artifacts_are_read_only_files_and_a_missing_one_is_named(plane, machine):
    log = b"line 118: timed out\n"
    digest = plane.store(plane.plan(), log, "x")["sha256"]
    inputs = [{"sha256": digest, "as": "logs/failed.log"}]
    source = (
        "text = Path('logs/failed.log').read_text()\nassert not os.stat('logs/failed.log').st_mode & 0o222\n"
        "result.write_text(json.dumps({'verdict': text}))\n"
    )
    _, result = run(plane, machine, source, spec={"workspace": {"kind": "artifacts", "inputs": inputs}})
    assert result["result"]["artifact"] == {"verdict": log.decode()}
    gone = [{"sha256": "sha256:" + "0" * 64, "as": "x"}]
    _, result = run(plane, machine, GIVE, spec={"workspace": {"kind": "artifacts", "inputs": gone}})
    assert (result["terminalState"], result["reasonCode"]) == ("failed", "input_unavailable")


def test_a_command_that_is_not_there_is_not_offered(plane, machine):
    machine.work("--command", "no-such-program", "--adapter", "command")
    hello = plane.until(lambda: plane.hellos[-1:])[0]
    assert hello["anyAdapter"] is None
    assert hello["health"]["adaptersMissing"] == {"command": "cli_missing"}
    assert wait_for(lambda: "event=hello" in machine.log())


def test_an_answer_that_cannot_be_read_ends_no_worker(plane, machine):
    original = plane.claim
    broken: list[str] = []

    def claim(body, worker_id, key):
        answer = original(body, worker_id, key)
        if answer.get("claim") and not broken:
            broken.append(answer["claim"]["runId"])
            return {**answer, "claim": {"runId": 7}}
        return answer

    plane.claim = claim
    plane.enqueue()
    worker = machine.work(machine.agent(GIVE))
    plane.until(lambda: broken)
    assert plane.result_of(plane.enqueue())["reasonCode"] == "ok"
    assert worker.poll() is None
    assert "event=turn_failed" in machine.log()
