"""A writable checkout of one branch: an own clone, a base to compare with, and no credential inside."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workers.host.workspace.git import NETWORK_SECONDS, Git, GitFailed

TRIES = 4  # the first and three more, for transient faults
FIRST_PAUSE = 2.0  # seconds, doubled
NO_SUCH_REF = 2  # the exit code of git ls-remote --exit-code


class ProvisioningFailed(Exception):
    """The workspace could not be made: ``step``, exit code, tail, and a reason where one is certain."""

    def __init__(self, step: str, message: str, *, exit_code: int | None = None, reason: str | None = None) -> None:
        """``message`` is redacted."""
        super().__init__(message)
        self.step = step
        self.exit_code = exit_code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class BranchSpec:
    """The parameters of a ``worktree``, with the addresses that they mean on this machine."""

    branch: str
    head_url: str
    base_url: str
    base_ref: str | None
    create_from: str | None
    fork: bool

    @property
    def base_remote(self) -> str:
        """Where the base branch comes from."""
        return "base" if self.fork else "origin"

    @property
    def base_name(self) -> str | None:
        """The base branch as a remote ref, for ``AGENT_REPO_BASE``."""
        return f"{self.base_remote}/{self.base_ref}" if self.base_ref else None


@dataclass(frozen=True, slots=True)
class Checkout:
    """A finished checkout; ``config`` is ``.git/config`` as the worker made it."""

    spec: BranchSpec
    folder: Path
    base_sha: str
    config: bytes


def branch_spec(workspace: Mapping[str, Any], server_url: str) -> BranchSpec:
    """The spec's workspace with addresses made from the worker's server."""
    base = workspace["repository"]
    head = workspace.get("headRepository") or base
    return BranchSpec(
        branch=workspace["branch"],
        head_url=repository_url(server_url, head),
        base_url=repository_url(server_url, base),
        base_ref=workspace.get("baseRef"),
        create_from=(workspace.get("create") or {}).get("from"),
        fork=head.lower() != base.lower(),
    )


def repository_url(server_url: str, repository: str) -> str:
    """The address of a repository, without user or token."""
    return f"{server_url}/{repository}.git"


def check_out(spec: BranchSpec, git: Git, work: Path) -> Checkout:
    """Clone the branch into ``work`` (which must not exist) and fetch its base.

    Raises ``ProvisioningFailed`` (``branch_gone`` when the remote has no such branch) and ``GitFailed``.
    """
    exists = _has_branch(git, spec.head_url, spec.branch)
    source = spec.branch if exists else spec.create_from
    if source is None:
        raise ProvisioningFailed("clone", f"the remote has no branch {spec.branch}", reason="branch_gone")
    if not exists and not _has_branch(git, spec.head_url, source):
        raise ProvisioningFailed("clone", f"the remote has no branch {source}", reason="branch_gone")
    git.run(
        "clone", "--quiet", "--filter=blob:none", "--single-branch", "--no-tags", "--no-recurse-submodules",
        "--branch", source, "--", spec.head_url, str(work), seconds=NETWORK_SECONDS,
    )  # fmt: skip
    inside = git.at(work)
    if not exists:
        inside.run("checkout", "--quiet", "--no-track", "-b", spec.branch)
        inside.run("config", "--add", "remote.origin.fetch", _refspec("origin", spec.branch))
    _fetch_base(spec, inside)
    sha = inside.run("rev-parse", "--verify", "HEAD^{commit}").strip()
    return Checkout(spec=spec, folder=work, base_sha=sha, config=(work / ".git" / "config").read_bytes())


def _fetch_base(spec: BranchSpec, git: Git) -> None:
    if spec.base_ref is None:
        return
    if spec.fork:
        git.run("remote", "add", "--no-tags", "-t", spec.base_ref, "base", spec.base_url)
        git.run("config", "remote.base.promisor", "true")
        git.run("config", "remote.base.partialclonefilter", "blob:none")
    elif spec.base_ref != spec.branch:
        git.run("config", "--add", "remote.origin.fetch", _refspec("origin", spec.base_ref))
    try:
        git.run(
            "fetch", "--quiet", "--filter=blob:none", "--no-tags", spec.base_remote,
            _refspec(spec.base_remote, spec.base_ref), seconds=NETWORK_SECONDS,
        )  # fmt: skip
    except GitFailed as error:
        if not _has_branch(git, spec.base_url, spec.base_ref):
            message = f"the remote has no branch {spec.base_ref}"
            raise ProvisioningFailed("fetch", message, reason="branch_gone") from error
        raise ProvisioningFailed("fetch", error.tail, exit_code=error.exit_code) from error


def _has_branch(git: Git, url: str, branch: str) -> bool:
    argv = ("ls-remote", "--exit-code", "--heads", "--", url, f"refs/heads/{branch}")
    code, _ = git.code_and_output(*argv, seconds=NETWORK_SECONDS, allow=(0, NO_SUCH_REF))
    return code == 0


def _refspec(remote: str, branch: str) -> str:
    return f"+refs/heads/{branch}:refs/remotes/{remote}/{branch}"
