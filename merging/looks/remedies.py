"""What makes checks run anew, and whether such a remedy has still to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.models import HeadSeen
from merging.decisions.remedies import REOPENS, Remedy, fresh_run, had_time, runs_to_repeat, under_way
from merging.facts import Verdict
from merging.looks.due import Due
from merging.models import MergeRemedy

if TYPE_CHECKING:
    from datetime import datetime

    from merging.looks.scene import Scene
    from merging.models import MergeFlow


def remedy_facts(scene: Scene) -> dict[str, Any]:
    """The facts about remedies of a head that is judged and not ready; keeps what is due in the scene."""
    merge, found, row, now = scene.merge, scene.found, scene.row, scene.now
    if merge is None or found is None or found.verdict in {Verdict.READY, Verdict.CONFLICT} or not merge.head:
        return {}
    rows = list(MergeRemedy.objects.filter(flow=row, head=merge.head))
    if any(under_way(asked_at=each.asked_at, done_at=each.done_at, now=now) for each in rows):
        return {"remedy_under_way": True}
    fresh = None
    if not any(each.kind != Remedy.RERUN for each in rows):
        fresh = fresh_run(merge, found, scene.protocol)
        if fresh is not None and not had_time(_first_seen(scene, merge.head), now):
            return {"remedy_under_way": True}
    runs: tuple[str, ...] = ()
    if found.verdict is Verdict.BLOCKED:
        repeated = {each.target for each in rows if each.kind == Remedy.RERUN}
        runs = runs_to_repeat(
            merge, scene.protocol, head=row.reattempt_head, failed=set(row.failed_runs), repeated=repeated
        )
    scene.due = Due(fresh, runs)
    return {"fresh_run_due": fresh is not None, "rerun_due": bool(runs)}


def is_reopening(row: MergeFlow, now: datetime) -> bool:
    """Whether the product itself closed the pull request a moment ago, to open it again."""
    return MergeRemedy.objects.filter(flow=row, kind=Remedy.REOPEN, asked_at__gt=now - REOPENS).exists()


def _first_seen(scene: Scene, head: str) -> datetime | None:
    seen = HeadSeen.objects.filter(pull=scene.pull, sha=head).first()
    return seen.first_seen_at if seen else None
