"""No only copy is lost: commits and changes that exist nowhere else become a bundle before a checkout goes."""

from dataclasses import dataclass
from pathlib import Path

from workers.host.disk.files import make_private, sync_file, sync_folder
from workers.host.workspace.checkout import Checkout
from workers.host.workspace.git import NETWORK_SECONDS, Git, GitFailed

WIP = "refs/factory/wip"
STASH = "refs/stash"
PATCH_BYTES = 32 * 1024**2


@dataclass(frozen=True, slots=True)
class Salvage:
    """A verified bundle on this machine's disk, and the same work as a patch for people (None if there is none)."""

    bundle: Path
    patch: str | None


def save_unpushed(checkout: Checkout, git: Git, folder: Path, name: str) -> Salvage | None:
    """Bundle what no remote ref has; None if there is nothing. ``GitFailed`` means: keep the workspace.

    The checkout was made safe before. Commits and changes are saved, never added to the agent's branch.
    """
    dirty = bool(git.run("status", "--porcelain", "--ignore-submodules=all").strip())
    if not dirty and not _unreached(git):
        return None
    if _unreached(git):
        # What the agent pushed with its own refspec is known to the remote, not yet to this clone.
        git.code_and_output("fetch", "--quiet", "--no-tags", "origin", seconds=NETWORK_SECONDS, allow=(0, 1, 128))
    if dirty:
        _commit_changes(git, checkout.folder / ".git" / "factory-index")
    elif not _unreached(git):
        return None
    make_private(folder)
    bundle = folder / f"{name}.bundle"
    temporary = folder / f".{name}.bundle"
    git.run("bundle", "create", "--quiet", str(temporary), *_tips(git), "--not", "--remotes", seconds=NETWORK_SECONDS)
    git.run("bundle", "verify", "--quiet", str(temporary))
    sync_file(temporary)
    temporary.rename(bundle)
    sync_folder(folder)
    return Salvage(bundle=bundle, patch=_patch(checkout, git, dirty=dirty))


def push_aside(git: Git, run_id: str, attempt: int) -> bool:
    """Put the saved work below ``refs/factory/attempts/`` of the remote; False if that failed."""
    target = f"refs/factory/attempts/{run_id}/{attempt}"
    source = WIP if _exists(git, WIP) else "HEAD"
    try:
        git.run("push", "--quiet", "origin", f"{source}:{target}", seconds=NETWORK_SECONDS)
    except GitFailed:
        return False
    return True


def _tips(git: Git) -> list[str]:
    refs = [ref for ref in (WIP, STASH) if _exists(git, ref)]
    head = ["HEAD"] if _exists(git, "HEAD") else []
    return [*head, *refs, "--branches"]


def _unreached(git: Git) -> bool:
    tips = _tips(git)
    return bool(git.run("rev-list", "--max-count=1", *tips, "--not", "--remotes").strip())


def _exists(git: Git, ref: str) -> bool:
    code, _ = git.code_and_output("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", allow=(0, 1, 128))
    return code == 0


def _commit_changes(git: Git, index: Path) -> None:
    scratch = git.at(git.folder, GIT_INDEX_FILE=str(index))
    has_head = _exists(git, "HEAD")
    try:
        if has_head:
            scratch.run("read-tree", "HEAD")
        scratch.run("add", "--all", "--", ".")
        tree = scratch.run("write-tree").strip()
        parents = ("-p", "HEAD") if has_head else ()
        commit = scratch.run("commit-tree", tree, *parents, "-m", "Changes that the attempt had not committed").strip()
        git.run("update-ref", WIP, commit)
    finally:
        index.unlink(missing_ok=True)


def _patch(checkout: Checkout, git: Git, *, dirty: bool) -> str | None:
    try:
        text = git.run(
            "diff", "--no-ext-diff", "--no-textconv", "--binary", checkout.base_sha, WIP if dirty else "HEAD"
        )
    except GitFailed:
        return None
    return text if text and len(text) <= PATCH_BYTES else None
