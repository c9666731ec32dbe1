"""Work on a branch: checked out without a credential, pushed only while the lease holds, and never lost."""

import json
import os
import subprocess
import sys
from contextlib import closing
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.process.host.conftest import ROOT, wait_for

REPOSITORY = "acme/shop"
COMMIT = (
    "Path('fix.txt').write_text('fixed\\n')\n"
    "subprocess.run(['git', 'add', '-A'], check=True)\n"
    "subprocess.run(['git', 'commit', '-qm', 'Fix'], check=True)\n"
)
PUSH = "push = subprocess.run(['git', 'push', '-q', 'origin', 'HEAD'], capture_output=True, text=True)\n"
GIVE = "result.write_text(json.dumps({'verdict': 'x'}))\n"
SAY = "result.write_text(json.dumps({'verdict': str(push.returncode) + push.stderr}))\n"


class Forge:
    """The simulated GitHub in a process of its own."""

    def __init__(self, folder):
        argv = [sys.executable, "-m", "fixtures.simulator", "--dir", str(folder)]
        self.process = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert self.process.stdout is not None
        self._output = self.process.stdout
        said = json.loads(self._output.readline())
        self.url, self.token, self._control = said["serverUrl"], said["token"], said["controlToken"]

    def ask(self, path, body=None):
        content = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}/_sim/{path}", data=content)
        request.add_header("Authorization", f"Bearer {self._control}")
        with urlopen(request) as answer:
            return json.load(answer)

    def verb(self, verb, /, **arguments):
        return self.ask(f"verbs/{verb}", arguments)["result"]

    def head(self, branch, repository=REPOSITORY):
        return self.ask("state")["repositories"][repository]["branches"].get(branch)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self._output.close()


@pytest.fixture
def forge(tmp_path, machine):
    with closing(Forge(tmp_path / "forge")) as made:
        yield fill(made, machine)


def fill(made, machine):
    """A private repository with a branch, at an address that the worker learns."""
    made.verb("add_repository", name=REPOSITORY, files={"README.md": "shop\n", "result.json": "{}\n"}, private=True)
    made.verb("push", repo=REPOSITORY, branch="feat", files={"total.py": "1\n"}, message="Total")
    machine.environment |= {"GITHUB_SERVER_URL": made.url, "GITHUB_TOKEN": made.token}
    return made


def spec(**workspace):
    kind = {"kind": "worktree", "repository": REPOSITORY, "branch": "feat", "baseRef": "main", **workspace}
    return {"repository": REPOSITORY, "workspace": kind, "mutating": True}


def run(plane, machine, source, given, *flags, **enqueued):
    lease = plane.enqueue(spec=given, **enqueued)
    worker = machine.work(machine.agent(source), "--max-runs", "1", *flags)
    result = plane.result_of(lease, 30)
    assert worker.wait(10) == 0
    return lease, result


def test_a_mutating_agent_commits_and_pushes_and_its_evidence_is_read_afterwards(plane, machine, forge):
    """AD-S21, AD-H7, AD-H13: the push works, and the token is in no environment, argv, file or transcript."""
    before = forge.head("feat")
    source = (
        "assert subprocess.run(['git', 'rev-parse', 'HEAD'], capture_output=True, text=True).stdout.strip() == "
        "os.environ['AGENT_REPO_REF']\n"
        "assert os.environ['AGENT_REPO_BASE'] == 'origin/main' and os.environ['AGENT_REPO_BRANCH'] == 'feat'\n"
        "subprocess.run(['git', 'merge-base', 'HEAD', 'origin/main'], check=True)\n" + COMMIT + PUSH
        + "print(dict(os.environ), push.stderr)\n"
        "config = Path('.git/config').read_text()\nprint(config)\n" + SAY
    )  # fmt: skip
    lease, result = run(plane, machine, source, spec(expects="pushed"))
    assert result["reasonCode"] == "ok", (result, plane.objects.get(lease.uploads.get("console")))
    head = forge.head("feat")
    assert head != before
    assert result["result"]["evidence"]["workspace"] == {
        "branch": "feat", "baseSha": before, "headSha": head, "remoteSha": head, "pushed": True, "clean": True,
        "commits": 1,
    }  # fmt: skip
    everything = json.dumps(result) + json.dumps(lease.rows) + machine.log()
    stored = b"".join(plane.objects.values())
    assert forge.token not in everything
    assert forge.token.encode() not in stored
    assert list((machine.home / "workspaces").iterdir()) == []
    assert list((machine.home / "salvage").iterdir()) == []


def test_an_agent_finds_no_token_and_what_it_gets_from_git_and_echoes_is_marked(plane, machine, forge):
    """GH-S24, GH-H7: nothing that is stored, sent or left behind holds it."""
    source = (
        "own = [subprocess.run(['git', *asked], capture_output=True, text=True).stdout\n"
        "       for asked in (['config', '--list', '--show-origin'], ['remote', '-v'])]\n"
        "own += [str(Path('/proc/self', name).read_bytes()) for name in ('environ', 'cmdline')]\n"
        "assert own[1] and 'ghp_' not in str(own), own\n"
        "url = 'url=' + own[1].split()[1] + '\\n\\n'\n"
        "leaked = subprocess.run(['git', 'credential', 'fill'], input=url, capture_output=True, text=True).stdout\n"
        "assert 'password=ghp_' in leaked\n"
        "print('leaked', leaked.split('password=')[1])\n" + GIVE
    )
    lease, result = run(plane, machine, source, spec())
    assert result["reasonCode"] == "ok", (result, plane.objects.get(lease.uploads.get("console")))
    assert b"leaked [redacted:" in plane.objects[lease.uploads["console"]]
    assert forge.token.encode() not in b"".join(plane.objects.values())
    assert forge.token not in json.dumps(result) + json.dumps(lease.rows) + machine.log()
    for path in machine.home.rglob("*"):
        assert not path.is_file() or forge.token.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("how", ["cancelled", "fenced", "unreachable"])
def test_a_push_without_a_lease_is_refused_and_the_branch_does_not_move(plane, machine, forge, how):
    """GH-S23, GH-H15, AD-S21"""
    before = forge.head("feat")
    go, said = machine.folder / "go", machine.folder / "said"
    # It lives on after SIGTERM, as long as its grace lasts, and pushes.
    source = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + COMMIT
        + f"Path({str(said) + '.ready'!r}).touch()\n"
        + f"while not Path({str(go)!r}).exists(): time.sleep(0.02)\n" + PUSH
        + f"Path({str(said) + '.new'!r}).write_text(push.stderr)\nos.rename({str(said) + '.new'!r}, {str(said)!r})\n"
        "time.sleep(600)\n"
    )  # fmt: skip
    lease = plane.enqueue(spec=spec())
    worker = machine.work(machine.agent(source), "--max-runs", "1")
    wait_for((machine.folder / "said.ready").exists, 30)
    if how == "cancelled":
        plane.cancel(lease)
    elif how == "fenced":
        plane.fence(lease)
    else:
        plane.close()
    go.touch()
    wait_for(said.exists, 30)
    assert "push refused: this attempt no longer holds its lease" in said.read_text()
    assert forge.head("feat") == before
    if how != "unreachable":
        assert worker.wait(30) == 0


def test_a_repository_that_is_renamed_while_the_agent_works_is_pushed_to_under_its_new_name(plane, machine, forge):
    """GH-H12: git follows the forge's redirect, and the helper answers for where the forge says that it went."""
    before = forge.head("feat")
    go = machine.folder / "go"
    source = (
        COMMIT + f"Path({str(go) + '.ready'!r}).touch()\n"
        f"while not Path({str(go)!r}).exists(): time.sleep(0.02)\n"
        "other = 'protocol=http\\nhost=' + HOST + '\\npath=acme/other.git\\n\\n'\n"
        "asked = subprocess.run(['git', 'credential', 'fill'], input=other, capture_output=True, text=True)\n"
        "assert 'password=' not in asked.stdout, 'a repository that is not of the run'\n" + PUSH + SAY
    ).replace("HOST", repr(urlsplit(forge.url).netloc))
    lease = plane.enqueue(spec=spec())
    worker = machine.work(machine.agent(source), "--max-runs", "1")
    wait_for((machine.folder / "go.ready").exists, 30)
    forge.verb("rename", repo=REPOSITORY, name="globex/store")
    go.touch()
    result = plane.result_of(lease, 30)
    assert worker.wait(10) == 0
    assert result["result"]["artifact"]["verdict"].startswith("0"), result
    assert forge.head("feat", "globex/store") != before


def test_an_agent_that_is_not_mutating_gets_no_credential(plane, machine, forge):
    """GH-H15"""
    before = forge.head("feat")
    _, result = run(plane, machine, COMMIT + PUSH + SAY, {**spec(), "mutating": False})
    assert result["reasonCode"] == "ok"
    assert not result["result"]["artifact"]["verdict"].startswith("0")
    assert forge.head("feat") == before
    assert result["result"]["evidence"]["workspace"]["pushed"] is False


@pytest.mark.usefixtures("forge")
def test_a_commit_that_was_not_pushed_is_no_push_whatever_the_policy(plane, machine):
    """RU-S26"""
    lease, result = run(plane, machine, COMMIT + GIVE, {**spec(expects="pushed"), "resultPolicy": "lenient"})
    assert (result["reasonCode"], result["detail"]["check"]) == ("contract_violation", "git_change")
    assert {"bundle", "patch"} <= set(lease.uploads)


def test_unpushed_work_of_a_failed_run_is_bundled_and_stored_before_the_workspace_goes(plane, machine, forge, tmp_path):
    """AD-H20, RU-H17"""
    source = COMMIT + "Path('draft.txt').write_text('half\\n')\nPath('total.py').write_text('2\\n')\nsys.exit(3)\n"
    lease, result = run(plane, machine, source, spec())
    assert result["reasonCode"] == "agent_exit"
    assert {ref["kind"] for ref in result["artifactRefs"]} >= {"bundle", "patch"}
    bundle = tmp_path / "work.bundle"
    bundle.write_bytes(plane.objects[lease.uploads["bundle"]])
    clone = tmp_path / "clone"
    helper = f"!printf 'username=x-access-token\\npassword={forge.token}\\n'; true"
    git = ["git", "-c", "credential.helper=", "-c", f"credential.helper={helper}"]
    subprocess.run([*git, "clone", "-q", f"{forge.url}/{REPOSITORY}.git", "--branch", "feat", str(clone)], check=True)
    subprocess.run(
        [*git, "fetch", "-q", str(bundle), "refs/factory/wip:refs/wip", "HEAD:refs/work"], cwd=clone, check=True
    )

    def show(name):
        return subprocess.run(["git", "show", name], cwd=clone, capture_output=True, text=True, check=True).stdout

    assert show("refs/work:fix.txt") == "fixed\n"
    assert (show("refs/wip:draft.txt"), show("refs/wip:total.py")) == ("half\n", "2\n")
    assert b"+half" in plane.objects[lease.uploads["patch"]]
    wait_for(lambda: not list((machine.home / "workspaces").iterdir()))
    assert list((machine.home / "salvage").iterdir()) == []


@pytest.mark.usefixtures("forge")
def test_a_fenced_attempt_keeps_its_unpushed_work_on_its_own_disk(plane, machine):
    """AD-H20: the fenced one publishes nothing."""
    ready = machine.folder / "ready"
    lease = plane.enqueue(spec=spec())
    worker = machine.work(machine.agent(COMMIT + f"Path({str(ready)!r}).touch()\ntime.sleep(600)\n"), "--max-runs", "1")
    wait_for(ready.exists, 30)
    plane.fence(lease)
    assert worker.wait(20) == 0
    assert lease.uploads == {}
    name = f"{lease.run_id}-a1"
    assert [path.name for path in (machine.home / "salvage").iterdir()] == [f"{name}.bundle"]
    assert list((machine.home / "workspaces").iterdir()) == []
    machine.work("--list-kept").wait(10)
    assert f"{name} bundle" in machine.log()
    assert machine.work("--discard-kept", name).wait(10) == 0
    assert list((machine.home / "salvage").iterdir()) == []
    assert machine.work("--discard-kept", name).wait(10) == 64


@pytest.mark.usefixtures("forge")
def test_unpushed_work_of_a_killed_worker_is_saved_by_the_next_one(plane, machine):
    """RU-H17"""
    ready = machine.folder / "ready"
    lease = plane.enqueue(spec=spec())
    first = machine.work(machine.agent(COMMIT + f"Path({str(ready)!r}).touch()\ntime.sleep(600)\n"))
    wait_for(ready.exists, 30)
    first.kill()
    first.wait()
    machine.work(machine.agent(GIVE))
    result = plane.result_of(lease, 30)
    assert result["reasonCode"] == "worker_crashed"
    assert {ref["kind"] for ref in result["artifactRefs"]} == {"bundle", "patch"}
    wait_for(lambda: not list((machine.home / "workspaces").iterdir()))


@pytest.mark.usefixtures("forge")
def test_nothing_that_an_agent_planted_in_its_checkout_is_run_by_the_worker(plane, machine):
    """AD-S23, AD-H21"""
    ran = machine.folder / "ran"
    trap = machine.folder / "trap.sh"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat\n')
    trap.chmod(0o755)
    source = (
        COMMIT + f"trap = {str(trap)!r}\n"
        "for key in ('core.fsmonitor', 'core.pager', 'diff.external', 'filter.x.clean', 'filter.x.smudge',\n"
        "            'core.sshCommand', 'core.hooksPath', 'alias.status', 'diff.x.textconv', 'credential.helper'):\n"
        "    subprocess.run(['git', 'config', key, trap], check=True)\n"
        "Path('.gitattributes').write_text('* filter=x diff=x\\n')\n"
        "hooks = Path('.git/hooks'); hooks.mkdir(exist_ok=True)\n"
        "for name in ('post-checkout', 'pre-push', 'reference-transaction', 'post-index-change'):\n"
        "    os.symlink(trap, hooks / name)\n"
        "Path('more.txt').write_text('more\\n')\n" + f"Path({str(ran)!r}).unlink(missing_ok=True)\n" + GIVE
    )  # fmt: skip
    lease, result = run(plane, machine, source, spec())
    assert result["reasonCode"] == "ok"
    assert result["result"]["evidence"]["workspace"]["clean"] is False
    assert "bundle" in lease.uploads
    assert not ran.exists() or ran.read_text() == ""


def test_a_fork_is_cloned_from_the_fork_and_compared_with_the_base_repository(plane, machine, forge):
    """AD-S26"""
    forge.verb("fork", repo=REPOSITORY, owner="guest")
    forge.verb("push", repo="guest/shop", branch="feat", files={"guest.txt": "g\n"}, message="Guest")
    forge.verb("push", repo=REPOSITORY, branch="main", files={"later.txt": "l\n"}, message="Later")
    source = (
        "def git(*argv): return subprocess.run(['git', *argv], capture_output=True, text=True, check=True).stdout\n"
        "assert os.environ['AGENT_REPO_BASE'] == 'base/main'\n"
        "assert os.environ['AGENT_REPO_URL'].endswith('/guest/shop.git')\n"
        "names = git('diff', '--name-only', 'base/main...HEAD').split()\n"
        "assert 'guest.txt' in names and 'later.txt' not in names, names\n" + COMMIT + PUSH + SAY
    )
    given = spec(headRepository="guest/shop", expects="pushed")
    lease, result = run(plane, machine, source, given)
    assert result["reasonCode"] == "ok", (result, plane.objects.get(lease.uploads.get("console")))
    assert forge.head("feat", "guest/shop") == result["result"]["evidence"]["workspace"]["headSha"]


@pytest.mark.usefixtures("forge")
def test_a_branch_that_is_gone_is_named(plane, machine):
    _, result = run(plane, machine, GIVE, spec(branch="nowhere"))
    assert (result["reasonCode"], result["detail"]["reason"]) == ("workspace_provisioning_error", "branch_gone")
    assert "no branch nowhere" in result["detail"]["tail"]


def test_a_branch_is_made_from_its_origin_unless_it_exists(plane, machine, forge):
    source = COMMIT + PUSH + SAY
    _, first = run(plane, machine, source, spec(branch="made", create={"from": "main"}, expects="pushed"))
    assert first["result"]["evidence"]["workspace"]["baseSha"] == forge.head("main")
    source = "assert Path('fix.txt').exists()\n" + GIVE
    _, second = run(plane, machine, source, spec(branch="made", create={"from": "main"}))
    assert second["reasonCode"] == "ok"
    assert second["result"]["evidence"]["workspace"]["baseSha"] == forge.head("made")


def test_no_git_history_beyond_the_branch_and_its_base_is_fetched(plane, machine, forge):
    forge.verb("push", repo=REPOSITORY, branch="other", files={"o.txt": "o\n"}, message="Other")
    source = (
        "refs = subprocess.run(['git', 'for-each-ref', '--format=%(refname)'], capture_output=True, text=True).stdout\n"
        "assert set(refs.split()) <= {'refs/heads/feat', 'refs/remotes/origin/feat', 'refs/remotes/origin/main', "
        "'refs/remotes/origin/HEAD'}, refs\n"
        "config = Path('.git/config').read_text()\nassert 'blob:none' in config and '@' not in config, config\n" + GIVE
    )
    lease, result = run(plane, machine, source, spec())
    assert result["reasonCode"] == "ok", plane.objects.get(lease.uploads.get("console"))
    assert os.environ.get("GITHUB_TOKEN") is None
