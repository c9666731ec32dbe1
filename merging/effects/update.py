"""Bringing the base into the branch: one call at the head of the decision, read back, then the edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.effects.performing import write_performed
from convergence.forge.facts import Profile
from convergence.forge.governor.purposes import Purpose
from convergence.forge.reading import read_pull
from convergence.forge_access import forge_client, pull_ref, pull_target
from merging.cases import case_of
from merging.effects.fence import DROPPED, asked_row, still_asked
from merging.facts import Facts, Update
from merging.flow import MERGE_MACHINE, MergeState
from merging.models import OwnHead
from merging.requests import rebase_request
from merging.services.move import Step, merge_move
from merging.texts import merge_question
from runs.clock import now as clock_now
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.forge.facts import PullFacts
    from merging.models import MergeFlow
    from runs.flows.registry import EffectCall
    from runs.machine import Edge

UPDATE_BRANCH = "update_branch"


def update_effect(call: EffectCall) -> Mapping[str, Any]:
    """Update the branch of exactly the head of the decision; return what was observed. Raises ``Transient``."""
    row = asked_row(call, MergeState.UPDATING_BRANCH)
    if row is None:
        return DROPPED
    client = forge_client(Purpose.MERGE)
    head = str(call.arguments["head"])
    observed = write_performed(client, call, "update_branch", {"pull": pull_target(row.pull), "head_sha": head})
    outcome = Update(observed.outcome)
    facts = Facts(update=outcome, rebases=row.rebases, rebase_max=row.rebase_max)
    edge = MERGE_MACHINE.advance(row.state, "outcome", facts)
    if edge is None:
        raise LookupError(f"no edge for the update {outcome}")
    read = read_pull(client, Profile.MERGE, pull_ref(row.pull)) if outcome is Update.REFUSED else None
    new_head = str(observed.detail.get("head_sha") or "")
    with joined_transaction():
        if not still_asked(call, row, MergeState.UPDATING_BRANCH):
            return DROPPED
        if new_head:
            OwnHead.objects.get_or_create(flow=row, sha=new_head, defaults={"source": UPDATE_BRANCH})
        message = str(observed.detail.get("message") or "")
        _move(row, edge, read, head=head, new_head=new_head, message=message)
    return {"outcome": observed.outcome, **observed.detail}


def _move(row: MergeFlow, edge: Edge, read: PullFacts | None, *, head: str, new_head: str, message: str) -> None:
    now = clock_now()
    columns: dict[str, Any] = {}
    if new_head:
        columns = {"pushed_from": head, "pushed_at": now}
    run = None
    if edge.target == MergeState.REBASING and read is not None:
        run = rebase_request(row, row.pull, read)
        columns = {
            "rebases": row.rebases + 1,
            "pushed_from": read.head_sha or "",
            "pushed_at": None,
            "answer": "",
            "answer_question": "",
        }
    question = merge_question(edge.reason, case_of(row, row.pull, read, message)) if edge.reason else None
    step = Step(columns=columns, guards={"update": message}, note=message, question=question, run=run)
    merge_move(row, edge, pull=row.pull, actor="flow", now=now, step=step)
