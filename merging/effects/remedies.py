"""Making checks run again: each remedy once, its outcome noted; the next look judges what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.effects.performing import write_performed
from convergence.forge.governor.purposes import Purpose
from convergence.forge_access import forge_client, pull_target
from merging.decisions.remedies import Remedy
from merging.effects.fence import DROPPED, asked_row
from merging.flow import MergeState
from merging.models import MergeFlow, MergeRemedy
from runs.clock import now as clock_now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from convergence.forge.writes.contract import Observed
    from runs.flows.registry import EffectCall

OPERATIONS = {Remedy.READY: "mark_ready", Remedy.REOPEN: "reopen"}


def fresh_run_effect(call: EffectCall) -> Mapping[str, Any]:
    """Mark a draft ready, or close and open again, so that CI runs on this head."""
    row = _row(call)
    if row is None:
        return DROPPED
    kind = Remedy(str(call.arguments["kind"]))
    client = forge_client(Purpose.MERGE)
    observed = write_performed(client, call, OPERATIONS[kind], {"pull": pull_target(row.pull)})
    return _noted(row, kind, str(call.arguments["head"]), "", observed)


def rerun_effect(call: EffectCall) -> Mapping[str, Any]:
    """Run the failed jobs of one workflow run again."""
    row = _row(call)
    if row is None:
        return DROPPED
    run = str(call.arguments["run"])
    client = forge_client(Purpose.MERGE)
    observed = write_performed(client, call, "rerun_failed", {"pull": pull_target(row.pull), "run": run})
    return _noted(row, Remedy.RERUN, str(call.arguments["head"]), run, observed)


def _row(call: EffectCall) -> MergeFlow | None:
    """A remedy that was begun is finished while the flow waits, so that none ends with the pull request closed."""
    if call.repeated:
        row = MergeFlow.rows().select_related("pull__repository").get(pk=call.row.pk)
        return None if row.is_terminal or row.generation != row.pull.generation else row
    return asked_row(call, MergeState.WAITING_MERGE)


def _noted(row: MergeFlow, kind: Remedy, head: str, target: str, observed: Observed) -> Mapping[str, Any]:
    MergeRemedy.objects.filter(flow=row, kind=kind, head=head, target=target).update(
        done_at=clock_now(), outcome=observed.outcome[:32], message=str(observed.detail.get("message") or "")[:300]
    )
    return {"outcome": observed.outcome, **observed.detail}
