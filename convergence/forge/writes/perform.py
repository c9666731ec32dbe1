"""The one entry for effects: an operation's name and its JSON arguments in, what was observed out."""

from collections.abc import Callable, Mapping
from typing import Any

from convergence.forge.client import ForgeClient
from convergence.forge.writes.branches import DeleteBranch
from convergence.forge.writes.comments import IssueComment
from convergence.forge.writes.contract import Observed, Write, run
from convergence.forge.writes.merge import MergePull
from convergence.forge.writes.queue import DequeuePull, EnqueueByComment, EnqueuePull
from convergence.forge.writes.remedies import MarkReady, Reopen, RerunFailed
from convergence.forge.writes.review_request import RequestReview
from convergence.forge.writes.threads import FileComment, Reply, ResolveThread
from convergence.forge.writes.update import UpdateBranch
from runs.contract.errors import Invalid

OPERATIONS: dict[str, Callable[[Mapping[str, Any], str], Write]] = {
    "request_review": RequestReview.from_json,
    "reply": Reply.from_json,
    "resolve_thread": ResolveThread.from_json,
    "file_comment": FileComment.from_json,
    "comment": IssueComment.from_json,
    "merge": MergePull.from_json,
    "enqueue": EnqueuePull.from_json,
    "enqueue_by_comment": EnqueueByComment.from_json,
    "dequeue": DequeuePull.from_json,
    "update_branch": UpdateBranch.from_json,
    "mark_ready": MarkReady.from_json,
    "reopen": Reopen.from_json,
    "rerun_failed": RerunFailed.from_json,
    "delete_branch": DeleteBranch.from_json,
}


def perform(
    client: ForgeClient,
    operation: str,
    arguments: Mapping[str, Any],
    key: str,
    *,
    earlier_try: bool,
    memory: Mapping[str, Any] | None = None,
) -> Observed:
    """Return what is known of the write after this call; the fence is the caller's, immediately before.

    ``earlier_try``: it may have been sent before, so GitHub is read first. ``memory`` is that of the last answer for
    this ``key``. Raises the forge's errors: after ``Transient`` the same call is due again with ``earlier_try``.
    """
    build = OPERATIONS.get(operation)
    if build is None:
        raise Invalid("invalid_effect", f"there is no write {operation!r}", details={"field": "operation"})
    return run(client, build(arguments, key), earlier_try=earlier_try, memory=memory or {})
