"""Why a run is waiting: one code and one sentence for every queued run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runs.contract.placement import Offer, Requirement, matches, missing
from runs.flow import RunState
from runs.models import Attempt, Hold, Run
from runs.queue.limits.telling import limits_seen
from runs.queue.placement import class_requirement

if TYPE_CHECKING:
    from datetime import datetime

    from runs.queue.limits.telling import LimitsSeen


@dataclass(frozen=True, slots=True)
class Capacity:
    """One live worker: what it offers and whether it holds a run; or a pool that may start one more such worker."""

    worker_id: str
    offer: Offer
    is_busy: bool
    node: str = ""
    is_pool: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a run does not go on; ``until`` is known for a backoff, a pause with an end, and the day's budget."""

    code: str
    text: str
    since: datetime | None
    until: datetime | None = None
    lacks: Sequence[str] = ()  # what the nearest worker would need, if none fits


# Agents that change repositories are the most common ones that a new machine cannot serve.
WORKTREE = "workspace kind worktree"
WORKTREE_NEEDS = "; a worker offers it with GITHUB_TOKEN set and a credential that allows it"

Provider = Callable[[], Sequence[Capacity]]
_provider: list[Provider] = []


def register_capacity(provider: Provider) -> None:
    """Have live workers asked of ``provider``; the registry of workers registers itself here at start."""
    _provider[:] = [provider]


def capacities() -> Sequence[Capacity]:
    """The live workers now, and the pools with room; empty while nobody registered."""
    return _provider[0]() if _provider else ()


def exclusive_holders(runs: Iterable[Run]) -> dict[str, str]:
    """The run that holds the exclusive key of each of these runs that wait for theirs, in one read at most."""
    keys = {run.exclusive_key for run in runs if run.hold == Hold.EXCLUSIVE}
    held = Attempt.objects.filter(exclusive_key__in=keys, finished_at=None)
    return dict(held.values_list("exclusive_key", "run__run_id")) if keys else {}


def run_waiting(
    run: Run,
    workers: Sequence[Capacity] | None = None,
    holders: Mapping[str, str] | None = None,
    limits: LimitsSeen | None = None,
) -> Waiting | None:
    """Why this run waits; None unless it is proposed, approved or queued.

    A caller that asks for many runs gives the live workers, `exclusive_holders` and `limits_seen`; None reads what
    this run needs, in a few reads.
    """
    if run.state in {RunState.PROPOSED, RunState.APPROVED}:
        return Waiting("awaiting_approval", "waits for an approval", run.created_at)
    if run.state != RunState.QUEUED:
        return None
    if run.hold == Hold.BACKOFF:
        return Waiting("backoff", "failed and is tried again after a pause", run.queued_at, run.available_at)
    if run.hold == Hold.EXCLUSIVE:
        return Waiting(
            "exclusive", _exclusive_text(run, exclusive_holders([run]) if holders is None else holders), run.queued_at
        )
    limits = limits or limits_seen([run])
    if run.hold and limits is not None:
        told = limits.holds(run)
        return Waiting(told.code, told.text, run.queued_at)
    return _placed(run, capacities() if workers is None else workers, limits)


def _placed(run: Run, workers: Sequence[Capacity], limits: LimitsSeen | None) -> Waiting:
    if run.placement_class is None:
        return Waiting("next_in_line", "waits for its turn", run.queued_at)
    requirement = class_requirement(run.placement_class)
    fitting = [worker for worker in workers if matches(worker.offer, requirement)]
    blocked = limits.blocks(run, [worker.node for worker in fitting]) if limits else None
    if blocked is not None:
        return Waiting(blocked.code, blocked.text, run.queued_at, blocked.until)
    if not fitting:
        text, lacks = _nearest(requirement, workers)
        return Waiting("unplaceable", text, run.queued_at, lacks=lacks)
    starting = [worker for worker in fitting if worker.is_pool]
    if starting and all(worker.is_busy for worker in fitting):
        return Waiting("no_free_worker", f"the {starting[0].worker_id} starts a worker for it", run.queued_at)
    if all(worker.is_busy for worker in fitting):
        word = "worker" if len(fitting) == 1 else "workers"
        return Waiting("no_free_worker", f"{len(fitting)} fitting {word}, all busy", run.queued_at)
    return Waiting("next_in_line", "the next free worker takes it", run.queued_at)


def _nearest(requirement: Requirement, workers: Sequence[Capacity]) -> tuple[str, Sequence[str]]:
    """What the worker that lacks least would need, told and as a list. Of two that lack as much, the first by id."""
    if not workers:
        return "no worker is running; start one with: manage.py work", ()
    found = [(list(missing(each.offer, requirement)), each) for each in workers]
    lacks, worker = min(found, key=lambda each: (len(each[0]), each[1].worker_id))
    name = worker.worker_id if worker.is_pool else f"worker {worker.worker_id}"
    return f"nearest {name} lacks {' and '.join(lacks)}{WORKTREE_NEEDS if WORKTREE in lacks else ''}", lacks


def _exclusive_text(run: Run, holders: Mapping[str, str]) -> str:
    holder = holders.get(run.exclusive_key)
    return f"waits until {holder} has ended on {run.exclusive_key}" if holder else f"waits for {run.exclusive_key}"
