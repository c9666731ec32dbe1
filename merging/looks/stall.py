"""The stall clock of a look, and the one uncached read when its time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.forge.facts import Profile, PullState
from convergence.forge.reading import read_pull
from convergence.forge.singles import get_pull
from convergence.forge_access import pull_ref
from merging.decisions.mergeability import change_mark
from merging.decisions.timing import checks_run, stall_clock
from merging.facts import Verdict
from merging.flow import MergeState
from merging.looks.scene import classify

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from merging.looks.scene import Scene


def stall_facts(scene: Scene) -> dict[str, Any]:
    """Advance the stall clock; when its time is over, a single uncached read says whether it still waits."""
    row, now, config = scene.row, scene.now, settings.FACTORY
    limit: timedelta = config.mergeable_wait_timeout
    if row.state == MergeState.REPOLLING:
        limit = config.mergeable_repoll_interval
    since = _since(scene)
    passed = now - since >= limit
    if passed and scene.found is not None and scene.found.verdict is Verdict.WAITING:
        ref = pull_ref(scene.pull)
        get_pull(scene.client, ref.owner, ref.name, ref.number)  # makes the forge compute what it lacks
        scene.read = read_pull(scene.client, Profile.MERGE, ref)
        if scene.read.state is PullState.OPEN:
            classify(scene, scene.read)
            since = _since(scene)
            passed = now - since >= limit
    scene.columns |= {"stall_since": since, "timer_at": since + limit}
    return {"timer_passed": passed, "pull": scene.seen}


def _since(scene: Scene) -> datetime:
    row, now = scene.row, scene.now
    assert scene.merge is not None  # noqa: S101  # classified before
    assert scene.found is not None  # noqa: S101
    mark = change_mark(scene.merge, scene.found)
    scene.columns["stall_mark"] = mark
    return stall_clock(
        since=row.stall_since or row.entered_at,
        last_look_at=max(row.last_look_at or row.entered_at, row.entered_at),
        changed=bool(row.stall_mark) and mark != row.stall_mark,
        still=_stands_still(scene),
        now=now,
    )


def _stands_still(scene: Scene) -> bool:
    """While a check runs, and while something of the product's own holds a ready pull request back."""
    row, merge = scene.row, scene.merge
    if scene.found is not None and scene.found.verdict is Verdict.READY:
        return True
    limit = scene.policy.pending_checks_timeout
    running = merge.checks.in_flight if merge else ()
    return checks_run(running, entered_at=row.entered_at, limit=limit, now=scene.now)
