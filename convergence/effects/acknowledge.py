"""Acknowledging a suppressed advisory: a comment on its file that names it, then resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.effects.performing import write_performed
from convergence.forge.singles import pull_files
from convergence.forge_access import forge_client, pull_target
from convergence.models import PullRequest
from convergence.texts import ack_comment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.forge.client import ForgeClient
    from runs.flows.registry import EffectCall

DONE = "done"


def acknowledge(call: EffectCall) -> Mapping[str, Any]:
    """Open the thread on the advisory's file, or on the first changed one, and resolve it; both once.

    ``path_not_in_diff`` where GitHub takes no file at all.
    """
    told = call.arguments
    pull = PullRequest.objects.select_related("repository").get(convergence_flows__pk=call.row.pk)
    client = forge_client()
    arguments = {
        "pull": pull_target(pull),
        "commit_sha": pull.head_sha,
        "paths": _paths(client, pull, told["path"]),
        "body": ack_comment(told["id"], told["verdict"], told["note"]),
    }
    opened = write_performed(client, call, "file_comment", arguments, part="comment")
    if opened.outcome != DONE:
        return {"outcome": opened.outcome, **opened.detail}
    thread = str(opened.detail["thread_id"])
    resolved = write_performed(client, call, "resolve_thread", {"thread_id": thread}, part="resolve")
    return {"outcome": resolved.outcome, "thread_id": thread, "path": opened.detail.get("path")}


def _paths(client: ForgeClient, pull: PullRequest, path: str) -> list[str]:
    """The advisory's file if the diff has it, else the first changed one."""
    repository = pull.repository
    changed = [each.path for each in pull_files(client, repository.owner, repository.name, pull.number).items]
    return [path] if path in changed or not changed else [changed[0]]
