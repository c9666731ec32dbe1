"""Workers: who is alive, what each offers and holds, and why a run is not placed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Subquery
from django.template.defaultfilters import filesizeformat

from factory_site.console.selectors.counted import Counted
from runs.clock import now
from runs.contract.errors import NotFound
from runs.contract.placement import Offer, Requirement, matches
from runs.models import Attempt, JournalRow, User
from runs.queue.placement import class_requirement
from runs.queue.waiting import run_waiting
from workers.capacity import capacities
from workers.liveness import WorkerState
from workers.models import Credential, Pool, Worker
from workers.selectors.pools import SUPERVISOR_DEAD
from workers.selectors.workers import WorkerRow, alive, worker, worker_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

    from runs.models import Run
    from runs.queue.waiting import Waiting

PAGE = 50
MOST_WORKERS = 200
ATTEMPTS = 50
GONE_SHOWN = timedelta(days=7)
TABS = {"here": "Here", "gone": "Gone"}
BLOCKED = {
    "credential_refused": "its credential is refused; renew it with manage.py credentials rotate",
    "outbox_pending": "it still has results to deliver",
    "worker_outdated": "it is older than the control plane asks for; update its package",
    "no_adapter": "none of its agents' programs can be started",
    "unkillable_process": "a process of its last run survives SIGKILL; see what it waits for, or reboot the machine",
    "disk_full": "its disk is full; free some space there",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a run needs; ``has``: whether this worker has it."""

    name: str
    has: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """One live worker, or a pool that may start one, against a run's needs."""

    worker_id: str
    is_busy: bool
    items: Sequence[Item]
    is_pool: bool = False

    @property
    def lacks(self) -> list[str]:
        """What it does not have."""
        return [item.name for item in self.items if not item.has]


@dataclass(frozen=True, slots=True)
class Placement:
    """Why a run waits, what it needs, and every live worker against that; the nearest worker first."""

    waiting: Waiting | None
    needs: Sequence[str]
    candidates: Sequence[Candidate]
    sentence: str


@dataclass(frozen=True, slots=True)
class WorkerPage:
    """One worker with its attempts, and the node's credential if this control plane issued it."""

    row: WorkerRow
    blocked: str
    attempts: Sequence[Attempt]
    node_credential: Credential | None
    labels: Sequence[tuple[str, str]]
    health: Sequence[tuple[str, str]]


def workers_version(user_key: int) -> tuple[object, ...]:
    """What the pages of workers show, as one value that changes when any of it does: one read by indexes."""
    return tuple(
        User.objects.filter(pk=user_key).values_list(
            Subquery(Worker.objects.order_by("-id").values("id")[:1]),
            Subquery(Worker.objects.filter(stopped_at=None).order_by("-last_seen_at").values("last_seen_at")[:1]),
            Subquery(Worker.objects.exclude(stopped_at=None).order_by("-stopped_at").values("stopped_at")[:1]),
            Counted(_asked_to_leave().values("id")[:1000]),
            Counted(alive(Worker.objects.all()).order_by().values("id")[:1000]),
            Subquery(Pool.objects.order_by("-seen_at").values("seen_at")[:1]),
            Counted(Pool.objects.filter(seen_at__gt=now() - SUPERVISOR_DEAD).order_by().values("id")[:1000]),
            Subquery(JournalRow.objects.order_by("-id").values("id")[:1]),
        )
    )


def _asked_to_leave() -> QuerySet[Worker]:
    return Worker.objects.filter(stopped_at=None, drain_requested_at__isnull=False).order_by()


def workers_here() -> list[WorkerRow]:
    """Every worker that has not said good-bye, the newest first; lost ones too. Two queries."""
    return worker_rows(Worker.objects.filter(stopped_at__isnull=True).order_by("-id")[:MOST_WORKERS])


def workers_gone() -> list[WorkerRow]:
    """Workers that said good-bye within seven days, the latest first. Two queries."""
    found = Worker.objects.filter(stopped_at__gt=now() - GONE_SHOWN).order_by("-stopped_at")
    return worker_rows(found[:MOST_WORKERS])


def counted_states(rows: Sequence[WorkerRow]) -> list[tuple[WorkerState, int]]:
    """How many there are in each state, in the order of the enum; none is left out that is not zero."""
    states = [row.state for row in rows]
    return [(state, states.count(state)) for state in WorkerState if state in states]


def worker_page(worker_id: str) -> WorkerPage:
    """One worker with everything about it; four queries. Raises ``NotFound`` unknown_worker."""
    row = worker(worker_id)
    if row is None:
        raise NotFound("unknown_worker", f"There is no worker {worker_id}. Rows are kept for 7 days after its end.")
    return WorkerPage(
        row=row,
        blocked=BLOCKED.get(row.blocked_reason, row.blocked_reason.replace("_", " ")),
        attempts=list(
            Attempt.objects.filter(node=row.node, worker_id=worker_id).select_related("run").order_by("-id")[:ATTEMPTS]
        ),
        node_credential=Credential.objects.filter(node=row.node).first(),
        labels=sorted((str(name), str(value)) for name, value in (row.offer.get("labels") or {}).items()),
        health=[(_words(name), _said(name, value)) for name, value in row.health.items()],
    )


def _words(name: str) -> str:
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)
    return spaced.removesuffix(" bytes").replace("_", " ")


def _said(name: str, value: Any) -> str:
    """What a worker reports of its machine, in words; a name that ends in `Bytes` is a size."""
    if isinstance(value, dict):
        return ", ".join(f"{_words(key)} {_said(key, each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_said(name, each) for each in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("Bytes") and isinstance(value, int):
        return filesizeformat(value)
    return "not reported" if value in {None, ""} else str(value).replace("_", " ")


def placement(run: Run) -> Placement:
    """Why the run is not placed, against every live worker; at most four queries."""
    live = capacities()
    waiting = run_waiting(run, live)
    if run.placement_class is None:
        return Placement(waiting, [], [], "It is not in the queue.")
    requirement = class_requirement(run.placement_class)
    needs = _needs(requirement)
    found = [
        Candidate(
            each.worker_id, each.is_busy, [Item(name, _has(each.offer, need)) for name, need in needs], each.is_pool
        )
        for each in live
    ]
    found.sort(key=lambda each: (len(each.lacks), each.is_busy, each.worker_id))
    return Placement(waiting, [name for name, _ in needs], found, _sentence(found))


def _needs(requirement: Requirement) -> list[tuple[str, Requirement]]:
    """Each requirement by itself, with its words."""
    adapter = "an adapter for any agent" if requirement.adapter == "any" else f"adapter {requirement.adapter}"
    found = [(adapter, Requirement(requirement.adapter, ""))]
    found += [
        (f"label {key}={value}", Requirement("", "", {key: value})) for key, value in sorted(requirement.labels.items())
    ]
    found.append((f"workspace {requirement.workspace_kind}", Requirement("", requirement.workspace_kind)))
    if requirement.repository:
        found.append((f"repository {requirement.repository}", Requirement("", "", repository=requirement.repository)))
    return found


def _has(offer: Offer, need: Requirement) -> bool:
    """Whether the offer meets this one requirement; what the requirement leaves blank is met."""
    whole = Offer(
        labels=offer.labels,
        adapters=offer.adapters | {""},
        any_adapter=offer.any_adapter,
        adapter_override=offer.adapter_override,
        workspace_kinds=offer.workspace_kinds | {""},
        repositories=offer.repositories,
    )
    return matches(whole, need)


def _sentence(found: Sequence[Candidate]) -> str:
    if not found:
        return "No worker is alive. Start one: manage.py work"
    fitting = [each for each in found if not each.lacks]
    if not fitting:
        return _nobody_fits(found)
    free = [each for each in fitting if not each.is_busy]
    if free:
        return f"{free[0].worker_id} fits and is free."
    starting = [each for each in fitting if each.is_pool]
    if starting:
        return f"The {starting[0].worker_id} starts a worker for it."
    if len(fitting) == 1:
        return f"{fitting[0].worker_id} fits and is busy."
    return f"{len(fitting)} workers fit; all are busy."


def _nobody_fits(found: Sequence[Candidate]) -> str:
    nearest = found[0]
    lacking: dict[str, int] = {}
    for name in (name for each in found for name in each.lacks):
        lacking[name] = lacking.get(name, 0) + 1
    parts = ", ".join(f"{number} lack{'s' if number == 1 else ''} {name}" for name, number in lacking.items())
    return (
        f"No live worker can take this run: {parts}. "
        f"Nearest: {nearest.worker_id}, which lacks {' and '.join(nearest.lacks)}."
    )
