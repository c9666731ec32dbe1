"""What the worker itself sees of a checkout after the agent is dead."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.host.disk.files import remove_tree
from workers.host.workspace.checkout import Checkout
from workers.host.workspace.git import NETWORK_SECONDS, Git, GitFailed

PLANTED = ("commondir", "config.worktree", "gitdir")


class CheckoutDamaged(Exception):
    """The agent left something that git must not be run on."""


@dataclass(frozen=True, slots=True)
class Observation:
    """The reserved part of the evidence."""

    branch: str
    base_sha: str
    head_sha: str | None
    remote_sha: str | None
    clean: bool
    commits: int | None

    @property
    def pushed(self) -> bool:
        """Whether the remote's branch is what HEAD is."""
        return self.head_sha is not None and self.remote_sha == self.head_sha

    def document(self) -> dict[str, Any]:
        """The object under ``evidence.workspace``."""
        return {
            "branch": self.branch,
            "baseSha": self.base_sha,
            "headSha": self.head_sha,
            "remoteSha": self.remote_sha,
            "pushed": self.pushed,
            "clean": self.clean,
            "commits": self.commits,
        }

    def lacks(self, expects: str) -> str | None:
        """What is missing of the demanded change, in one sentence; None if it is there."""
        if expects == "none":
            return None
        if self.head_sha in {None, self.base_sha}:
            return "no commit was made"
        if expects == "pushed" and not self.pushed:
            return "the commit was not pushed"
        return None


def make_safe(checkout: Checkout) -> None:
    """Nothing that the agent wrote into ``.git`` can run afterwards; ``CheckoutDamaged`` if it is no folder."""
    dot_git = checkout.folder / ".git"
    if dot_git.is_symlink() or not dot_git.is_dir():
        raise CheckoutDamaged(".git is not a folder any more")
    for name in PLANTED:
        _remove(dot_git / name)
    hooks = dot_git / "hooks"
    if hooks.is_symlink():
        hooks.unlink()
    remove_tree(hooks)
    _remove(dot_git / "config")
    (dot_git / "config").write_bytes(checkout.config)


def observe(checkout: Checkout, git: Git) -> Observation:
    """Read branch, heads and cleanliness; the checkout was made safe before. ``remote_sha`` None if unreadable."""
    head = _sha(git)
    return Observation(
        branch=checkout.spec.branch,
        base_sha=checkout.base_sha,
        head_sha=head,
        remote_sha=_remote_sha(checkout, git),
        clean=not git.run("status", "--porcelain", "--ignore-submodules=all").strip(),
        commits=_commits(checkout, git) if head else None,
    )


def _sha(git: Git) -> str | None:
    code, out = git.code_and_output("rev-parse", "--verify", "--quiet", "HEAD^{commit}", allow=(0, 1, 128))
    return out.strip() if code == 0 else None


def _remote_sha(checkout: Checkout, git: Git) -> str | None:
    argv = ("ls-remote", "--heads", "--", checkout.spec.head_url, f"refs/heads/{checkout.spec.branch}")
    try:
        found = git.run(*argv, seconds=NETWORK_SECONDS).split()
    except GitFailed:
        return None
    return found[0] if found else None


def _commits(checkout: Checkout, git: Git) -> int | None:
    code, _ = git.code_and_output("merge-base", "--is-ancestor", checkout.base_sha, "HEAD", allow=(0, 1, 128))
    if code != 0:
        return None
    return int(git.run("rev-list", "--count", f"{checkout.base_sha}..HEAD"))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)
