"""Checks of runs and attempts: what waits too long, what is held too long, what failed for good."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from factory_site.doctor.report import EXAMPLES, Finding
from runs.flow import RunState
from runs.models import Attempt, AttemptPhase, Run
from runs.periodic import periodic_resumed_at
from runs.queue.attempts.reaper import NAME as REAPER
from runs.queue.limits.telling import limits_seen
from runs.queue.operating.retry import retry_awaited, retry_exhausted
from runs.queue.waiting import WORKTREE, capacities, run_waiting
from workers.liveness import liveness

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SOON = timedelta(seconds=60)
QUEUE_OLD = timedelta(minutes=30)
PREPARING = timedelta(minutes=15)
OVERDUE = timedelta(seconds=30)
DAY = timedelta(hours=24)
MOST_COUNTED = 1_000
WORKTREE_MEND = "set GITHUB_TOKEN where the worker runs, then start it again: manage.py work"
SAMPLE = 50  # runs that are looked at more closely: placed against every worker, asked for who waits


def queue_stuck(at: datetime) -> list[Finding]:
    """Ready runs that nobody takes: no worker at all, none that fits, or none for half an hour."""
    ready = list(
        Run.objects.select_related("placement_class")
        .filter(state=RunState.QUEUED, hold="", queued_at__lt=at - SOON)
        .order_by("placement_class", "rank_at", "id")[:MOST_COUNTED]
    )
    limits = limits_seen(ready)
    ready = [run for run in ready if limits is None or limits.blocks(run, ()) is None]  # a pause or a cap is no fault
    if not ready:
        return []
    oldest = min(ready, key=lambda run: run.queued_at or at)
    workers = capacities()
    if all(each.is_pool for each in workers):
        text = f"{_runs(len(ready))} and nothing can take {'it' if len(ready) == 1 else 'them'}"
        return [Finding("no_workers", len(ready), oldest.queued_at, text, _ids(ready), "manage.py supervise")]
    found = []
    unplaced = [(run, run_waiting(run, workers, limits=limits)) for run in ready[:SAMPLE]]
    lost = [(run, waiting) for run, waiting in unplaced if waiting and waiting.code == "unplaceable"]
    if lost:
        run, waiting = lost[0]
        text = f"run {run.run_id} fits no worker: {waiting.text}"
        ids = _ids([each for each, _ in lost])
        mend = _placing(waiting.lacks)
        found.append(Finding("unplaceable", len(lost), run.queued_at, text, ids, mend))
    if oldest.queued_at and at - oldest.queued_at > QUEUE_OLD:
        text = f"run {oldest.run_id} has been ready since {oldest.queued_at:%H:%M:%S} UTC"
        found.append(
            Finding(
                "queue_old",
                1,
                oldest.queued_at,
                text,
                _ids([oldest]),
                f"raise workers.max in policy.yaml, or: manage.py runs why {oldest.run_id}",
            )
        )
    return found


def attempts_stuck(at: datetime) -> list[Finding]:
    """Attempts that should have been taken back, and those that prepare for too long."""
    found = []
    open_rows = Attempt.objects.select_related("run").filter(finished_at__isnull=True)
    late = list(open_rows.filter(deadline_at__lt=at - OVERDUE).order_by("deadline_at")[:MOST_COUNTED])
    resumed = periodic_resumed_at(REAPER)
    if resumed is None or resumed + liveness() + OVERDUE < at:  # else workers still get to speak first
        late += open_rows.filter(heartbeat_due_at__lt=at - OVERDUE).order_by("heartbeat_due_at")[:MOST_COUNTED]
    late = list({row.pk: row for row in late}.values())
    if late:
        text = f"{len(late)} {'attempt holds' if len(late) == 1 else 'attempts hold'} a lease that ended"
        since = min(min(row.deadline_at, row.heartbeat_due_at) for row in late)
        ids = _ids([row.run for row in late])
        found.append(Finding("attempt_overdue", len(late), since, text, ids, "restart: manage.py serve"))
    slow = list(
        open_rows.filter(phase=AttemptPhase.LEASED, claimed_at__lt=at - PREPARING).order_by("claimed_at")[:MOST_COUNTED]
    )
    if slow:
        first = slow[0]
        text = f"run {first.run.run_id} has been preparing since {first.claimed_at:%H:%M:%S} UTC on {first.node}"
        ids = _ids([row.run for row in slow])
        found.append(
            Finding(
                "leased_not_started", len(slow), first.claimed_at, text, ids, f"manage.py runs show {first.run.run_id}"
            )
        )
    return found


def retries_exhausted(at: datetime) -> list[Finding]:
    """Runs that failed for good in the last day by a fault of their surroundings and that somebody still waits for."""
    newest = Run.objects.filter(state=RunState.FAILED).order_by("-id")[:MOST_COUNTED]
    failed = [run for run in newest if run.cause == "environment" and run.ended_at and run.ended_at > at - DAY]
    rows = [run for run in failed[:SAMPLE] if retry_awaited(run)]
    if not rows:
        return []
    run = rows[0]
    often = "once" if run.environment_failures == 1 else f"{run.environment_failures} times"
    text = f"{run.run_id} failed {often}, the last time with: {run.reason_code.replace('_', ' ')}"
    force = " --force" if retry_exhausted(run) else ""
    mend = f"mend what it names, then queue it again: manage.py runs retry {run.run_id}{force}"
    return [Finding("retry_exhausted", len(rows), rows[-1].ended_at, text, _ids(rows), mend)]


def _placing(lacks: Sequence[str]) -> str:
    """The command that lets a worker take what none fits, by what the nearest one lacks first."""
    kind, _, name = lacks[0].rpartition(" ")
    if lacks[0] == WORKTREE:
        return WORKTREE_MEND
    if kind in {"label", "adapter"}:
        return f"manage.py work --{kind} {name}"
    if kind in {"repository", "workspace kind"}:
        return f"manage.py credentials issue NODE --{kind.replace(' ', '-')} {name}"
    return "manage.py work --command '/path/to/my-agent'"


def _runs(number: int) -> str:
    return f"{number} run waits" if number == 1 else f"{number} runs wait"


def _ids(runs: Sequence[Run]) -> tuple[str, ...]:
    return tuple(run.run_id for run in runs[:EXAMPLES])


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (
    queue_stuck,
    attempts_stuck,
    retries_exhausted,
)
