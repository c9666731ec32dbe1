"""The checkout in which an agent works on a pull request, and the lock that keeps others off its branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergence.models import PullRequest


def head_checkout(pull: PullRequest, head: str | None) -> dict[str, Any]:
    """A checkout of the head branch, wherever it lies, with the base beside it; ``head`` is where it must stand."""
    workspace: dict[str, Any] = {
        "kind": "worktree",
        "repository": pull.repository.full_name,
        "repositoryId": pull.repository.forge_id,
        "branch": pull.head_ref,
    }
    if head:
        workspace["sha"] = head
    if pull.base_ref:
        workspace["baseRef"] = pull.base_ref
    if pull.head_repository_id != pull.repository.forge_id:
        workspace["headRepository"] = pull.head_repository
    return workspace


def branch_lock(pull: PullRequest) -> str:
    """The exclusive key of the head branch: no two agents of any kind write to it at once."""
    return f"branch:{pull.head_repository_id}:{pull.head_ref}"
