"""After the end: taking an entry out of the merge queue, and deleting a branch that is proven landed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.effects.performing import write_performed
from convergence.forge.governor.purposes import Purpose
from convergence.forge.singles import branch_tip, open_pulls_of
from convergence.forge_access import forge_client, pull_target
from merging.decisions.branches import BranchFacts, may_delete
from merging.effects.fence import DROPPED, newest_row
from merging.flow import MergeState
from merging.models import OwnBranch
from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, Transient
from runs.policy import policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.forge.client import ForgeClient
    from merging.models import MergeFlow
    from runs.flows.registry import EffectCall

UNREAD_SECONDS = 60.0
KEPT = {"kept": "not_ours_or_not_landed"}


def dequeue_effect(call: EffectCall) -> Mapping[str, Any]:
    """Take the entry out of the merge queue that a cancel or an unreviewed head asks to go, and read that back."""
    row = newest_row(call)
    if row is None or row.entry_log != call.log:
        return DROPPED
    observed = write_performed(forge_client(Purpose.MERGE), call, "dequeue", {"pull": pull_target(row.pull)})
    return {"outcome": observed.outcome, **observed.detail}


def delete_branch_effect(call: EffectCall) -> Mapping[str, Any]:
    """Delete the head branch if the product made it and it points at what landed; every doubt keeps it."""
    row = newest_row(call)
    if row is None or row.state != MergeState.MERGED:
        return DROPPED
    branch, head = str(call.arguments["branch"]), str(call.arguments["head"])
    where = row.pull.head_repository_id or 0
    own = OwnBranch.objects.filter(repository_id=where, name=branch, deleted_at__isnull=True)
    allowed = policy().merging_for(row.pull.repository.full_name).delete_branches
    if not allowed or not own.exists():
        return KEPT
    client = forge_client(Purpose.WRITE)
    if not may_delete(_facts(client, row, branch, head)):
        return KEPT
    owner, _, name = row.pull.head_repository.partition("/")
    observed = write_performed(
        client, call, "delete_branch", {"owner": owner, "name": name, "branch": branch, "sha": head}
    )
    if observed.outcome == "done":
        own.update(deleted_at=clock_now())
    return {"outcome": observed.outcome, **observed.detail}


def _facts(client: ForgeClient, row: MergeFlow, branch: str, head: str) -> BranchFacts:
    owner, _, name = row.pull.head_repository.partition("/")
    try:
        return BranchFacts(
            allowed=True,
            made_here=True,
            merged=bool(row.landed_sha),
            tip=branch_tip(client, owner, name, branch),
            landed_head=head,
            open_pulls=open_pulls_of(client, owner, name, branch),
        )
    except Transient:
        raise
    except FactoryError as error:
        raise Transient(error.code, error.message, retry_after=UNREAD_SECONDS, details=error.details) from error
