"""Git over HTTP with the real program."""

from pathlib import Path
from typing import Any

from fixtures.simulator import Simulator
from tests.unit.simulator.conftest import Client, Git

HEADS = "query heads($id: ID!) { p0: node(id: $id) { ... on PullRequest { headRefOid headRef { target { oid } } } } }"


def checkout(sim: Simulator, folder: Path, branch: str, *, token: str | None, name: str = "acme/shop") -> Git:
    url = f"{sim.server_url}/{name}.git"
    Git(folder, token)("clone", "-q", "--filter=blob:none", "--branch", branch, url, "checkout")
    return Git(folder / "checkout", token)


def test_a_public_repository_is_cloned_without_credential_and_a_push_is_refused(
    sim: Simulator, pull: Any, tmp_path: Path
) -> None:
    before = pull.head_sha
    git = checkout(sim, tmp_path, "feat/total", token=None)
    assert git.head() == before
    git.commit("app.py", "changed\n")
    refused = git("push", "origin", "HEAD", check=False)
    assert refused.returncode != 0
    assert "could not read Username" in refused.stderr
    assert pull.head_sha == before


def test_a_wrong_password_pushes_nothing(sim: Simulator, pull: Any, tmp_path: Path) -> None:
    before = pull.head_sha
    git = checkout(sim, tmp_path, "feat/total", token="ghp_wrong")
    git.commit("app.py", "changed\n")
    assert git("push", "origin", "HEAD", check=False).returncode != 0
    assert pull.head_sha == before


def test_a_private_repository_is_not_read_without_credential(sim: Simulator, tmp_path: Path) -> None:
    sim.verbs.add_repository("acme/secret", {"a.txt": "a\n"}, private=True)
    url = f"{sim.server_url}/acme/secret.git"
    assert Git(tmp_path, None)("ls-remote", url, check=False).returncode != 0
    assert "refs/heads/main" in Git(tmp_path, sim.token)("ls-remote", url).stdout


def test_a_push_moves_the_branch_at_once_and_the_shown_head_one_read_later(
    sim: Simulator, client: Client, pull: Any, tmp_path: Path
) -> None:
    before = pull.head_sha
    git = checkout(sim, tmp_path, "feat/total", token=sim.token)
    after = git.commit("app.py", "def total(xs):\n    return 2\n")
    git("push", "-q", "origin", "HEAD")
    first, second = (client.graphql(HEADS, id=pull.node_id)["data"]["p0"] for _ in range(2))
    assert first == {"headRefOid": before, "headRef": {"target": {"oid": after}}}
    assert second == {"headRefOid": after, "headRef": {"target": {"oid": after}}}


def test_a_push_that_is_no_fast_forward_needs_force(sim: Simulator, pull: Any, tmp_path: Path) -> None:
    git = checkout(sim, tmp_path, "feat/total", token=sim.token)
    moved = sim.verbs.push("acme/shop", "feat/total", {"other.txt": "x\n"})
    mine = git.commit("app.py", "mine\n")
    assert git("push", "origin", "HEAD", check=False).returncode != 0
    assert pull.head_sha == moved
    git("push", "-q", "--force", "origin", "HEAD")
    assert pull.head_sha == mine
    assert [e.kind for e in pull.timeline] == ["HeadRefForcePushedEvent"]


def test_a_protected_base_refuses_a_direct_push(sim: Simulator, shop: Any, tmp_path: Path) -> None:
    sim.verbs.protect(shop, direct_push=True)
    git = checkout(sim, tmp_path, "main", token=sim.token)
    git.commit("app.py", "direct\n")
    refused = git("push", "origin", "HEAD", check=False)
    assert refused.returncode != 0
    assert "Protected branch update failed" in refused.stderr


def test_a_large_push_arrives_in_chunks_and_whole(sim: Simulator, pull: Any, tmp_path: Path) -> None:
    git = checkout(sim, tmp_path, "feat/total", token=sim.token)
    (git.folder / "noise.bin").write_bytes(bytes(range(256)) * 2000)
    git("config", "http.postBuffer", "4096")
    git("config", "core.compression", "0")
    after = git.commit("more.txt", "more\n")
    git("add", "noise.bin")
    git("commit", "-q", "-m", "Add noise")
    git("push", "-q", "origin", "HEAD")
    assert pull.head_sha == git.head() != after


def test_a_rejected_push_and_a_broken_clone_say_so_and_pass_the_next_time(
    sim: Simulator, pull: Any, tmp_path: Path
) -> None:
    git = checkout(sim, tmp_path, "feat/total", token=sim.token)
    after = git.commit("app.py", "mine\n")
    sim.faults.reject_push("the disk is full")
    refused = git("push", "origin", "HEAD", check=False)
    assert "the disk is full" in refused.stderr
    assert pull.head_sha != after
    git("push", "-q", "origin", "HEAD")
    assert pull.head_sha == after

    sim.faults.cut_git(after_bytes=40)
    url = f"{sim.server_url}/acme/shop.git"
    (tmp_path / "second").mkdir()
    assert Git(tmp_path / "second", None)("clone", "-q", url, check=False).returncode != 0
    Git(tmp_path / "second", None)("clone", "-q", url)


def test_a_server_that_fails_for_git_is_passed_the_next_time(sim: Simulator, shop: Any, tmp_path: Path) -> None:
    del shop
    sim.faults.fail_next("git:refs", 503)
    url = f"{sim.server_url}/acme/shop.git"
    assert Git(tmp_path, None)("ls-remote", url, check=False).returncode != 0
    assert "refs/heads/main" in Git(tmp_path, None)("ls-remote", url).stdout


def test_a_fork_is_pushed_to_and_its_head_is_readable_in_the_base(
    sim: Simulator, client: Client, shop: Any, tmp_path: Path
) -> None:
    fork = sim.verbs.fork(shop, "ann")
    pull = sim.verbs.add_pull(shop, "feat/x", files={"x.txt": "x\n"}, fork=fork, by="ann")
    git = checkout(sim, tmp_path, "feat/x", token=sim.token, name="ann/shop")
    after = git.commit("x.txt", "xx\n")
    git("push", "-q", "origin", "HEAD")
    assert pull.head_sha == after
    assert client.rest("GET", f"/repos/acme/shop/compare/main...ann:{'feat/x'}").json()["ahead_by"] == 2
    assert client.rest("GET", "/repos/acme/shop/pulls/1/files").json()[0]["filename"] == "x.txt"


def test_git_follows_the_old_name_of_a_repository(sim: Simulator, shop: Any, tmp_path: Path) -> None:
    sim.verbs.rename(shop, "store")
    listed = Git(tmp_path, None)("ls-remote", f"{sim.server_url}/acme/shop.git")
    assert "refs/heads/main" in listed.stdout
