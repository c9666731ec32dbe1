"""What needs a person, what moves, and what has just happened."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.db.models import Count, Exists, Subquery, Sum

from convergence.flow import PullState
from convergence.forge_access import forge_client
from convergence.models import PullRequest
from factory_site.console.selectors.pull import pull_address, pull_by_subject
from factory_site.console.selectors.pulls import ACTIVE, COUNT_LIMIT
from factory_site.console.selectors.tasks import TaskRow, task_rows
from factory_site.console.wording.texts import edge_sentence
from runs.contract.errors import FactoryError
from runs.flow import AT_REST, LIVE, RUN_MACHINE, RunState
from runs.humans.flow import TaskState
from runs.models.human_task import HumanTask
from runs.models.journal import JournalRow
from runs.models.limits import BudgetRaise
from runs.models.run import Run
from runs.models.transition import TransitionLog
from runs.models.usage import Spend, SpendScope
from runs.models.user import User
from runs.policy import policy
from runs.queue.limits.standing import standing_now
from workers.models import Pool, Worker
from workers.selectors.pools import SUPERVISOR_DEAD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

ASKED_ROWS = 12
FEED_ROWS = 20
DAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Happened:
    """One transition as a sentence."""

    id: int
    label: str
    address: str
    sentence: str
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Workers:
    """Workers that are heard of; lost ones are silent for longer than their liveness and have not said goodbye."""

    alive: int
    lost: int
    blocked: int


@dataclass(frozen=True, slots=True)
class DaySpend:
    """µUSD of this UTC day: spent, None while no adapter has said what it costs; and allowed, None without a limit."""

    spent: int | None
    allowed: int | None


class OverviewVersion(NamedTuple):
    """What the page shows, as one value that changes with it; ``least`` and ``most`` are the live pools' bounds."""

    open_tasks: tuple[Any, ...]
    transition: int | None
    journal: int | None
    spent: int | None
    raised: int | None
    per_day: Any
    here: int | None
    alive: int | None
    blocked: int | None
    least: int | None
    most: int | None
    has_pulls: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything on the page. Counts are of at most 1,001 rows each."""

    asked: Sequence[TaskRow]
    open_tasks: int
    pulls: Sequence[tuple[str, int]]
    runs: Sequence[tuple[str, int]]
    oldest_queued: Run | None
    workers: Workers
    merged: int
    merged_before: int
    outcomes: Sequence[tuple[str, int]]
    bounds: tuple[int, int] | None  # least and most workers of the live pools together; None without one
    spend: DaySpend
    happened: Sequence[Happened]

    @property
    def moving(self) -> int:
        """Pull requests that go on by themselves."""
        return sum(number for state, number in self.pulls if state != PullState.ESCALATED)


@dataclass(frozen=True, slots=True)
class Fresh:
    """A new install: which of its three first steps are done."""

    has_credential: bool
    has_worker: bool


def overview_version(person: User, now: datetime) -> OverviewVersion:
    """What the page shows, as one value: the open tasks, and the newest of what moves; two reads."""
    asked = HumanTask.objects.filter(state=TaskState.OPEN).order_by("due_at", "id")
    open_tasks = tuple(asked.values_list("pk", "taken_by")[: ASKED_ROWS + 1])
    workers = Worker.objects.filter(stopped_at__isnull=True).order_by().values("stopped_at")
    alive = workers.filter(last_seen_at__gt=now - timedelta(seconds=settings.FACTORY.liveness_seconds))
    pools = Pool.objects.filter(seen_at__gt=now - SUPERVISOR_DEAD, stopping=False).order_by().values("stopping")
    newest = (
        User.objects.filter(pk=person.pk)
        .values_list(
            Subquery(TransitionLog.objects.order_by("-id").values("id")[:1]),
            Subquery(JournalRow.objects.order_by("-id").values("id")[:1]),
            Subquery(Spend.objects.filter(scope=SpendScope.DAY, key="", day=now.date()).values("cost_micro_usd")[:1]),
            Subquery(BudgetRaise.objects.order_by("-id").values("id")[:1]),
            Subquery(workers.annotate(number=Count("pk")).values("number")),
            Subquery(alive.annotate(number=Count("pk")).values("number")),
            Subquery(alive.exclude(blocked_reason="").annotate(number=Count("pk")).values("number")),
            Subquery(pools.annotate(bound=Sum("min")).values("bound")),
            Subquery(pools.annotate(bound=Sum("max")).values("bound")),
            Exists(PullRequest.objects.all()),
        )
        .get()
    )
    transition, journal, spent, raised, *rest = newest
    return OverviewVersion(open_tasks, transition, journal, spent, raised, policy().budgets.per_day, *rest)


def _live_states() -> Counter[str]:
    return Counter(Run.objects.filter(state__in=LIVE).order_by().values_list("state", flat=True)[: COUNT_LIMIT + 1])


def _workers(alive: datetime) -> Workers:
    rows = list(
        Worker.objects.filter(stopped_at__isnull=True)
        .order_by()
        .values_list("last_seen_at", "blocked_reason")[: COUNT_LIMIT + 1]
    )
    return Workers(
        alive=sum(1 for seen, _ in rows if seen > alive),
        lost=sum(1 for seen, _ in rows if seen <= alive),
        blocked=sum(1 for seen, reason in rows if seen > alive and reason),
    )


def is_fresh() -> bool:
    """Whether nothing was ever submitted."""
    return not PullRequest.objects.exists()


def fresh_steps(now: datetime) -> Fresh:
    """The steps of a new install."""
    alive = now - timedelta(seconds=settings.FACTORY.liveness_seconds)
    return Fresh(has_credential=_has_credential(), has_worker=_workers(alive).alive > 0)


def _has_credential() -> bool:
    """Whether a token for the forge is found, in the settings or with the forge's own command line."""
    if settings.FACTORY.forge_tokens:
        return True
    try:
        return bool(forge_client().config.tokens.token())
    except FactoryError:
        return False


def overview(now: datetime, version: OverviewVersion) -> Overview:
    """Everything on the page whose version this is, in ten queries beside its two."""
    asked = list(HumanTask.objects.filter(state=TaskState.OPEN).order_by("due_at", "id")[: COUNT_LIMIT + 1])
    pulls = Counter(
        PullRequest.objects.filter(state__in=ACTIVE).order_by().values_list("state", flat=True)[: COUNT_LIMIT + 1]
    )
    live = _live_states()
    outcomes = _outcomes(now)
    merged, merged_before = _merged(now)
    alive = now - timedelta(seconds=settings.FACTORY.liveness_seconds)
    return Overview(
        asked=task_rows(asked[:ASKED_ROWS], now),
        open_tasks=len(asked),
        pulls=[(state, pulls[state]) for state in ACTIVE if pulls[state]],
        runs=[(state, live[state]) for state in RUN_MACHINE.values if live[state]],
        oldest_queued=Run.objects.filter(state=RunState.QUEUED).order_by("id").first()
        if live[RunState.QUEUED]
        else None,
        workers=_workers(alive),
        merged=merged,
        merged_before=merged_before,
        outcomes=[(state, outcomes[state]) for state in AT_REST if outcomes[state]],
        bounds=None if version.least is None or version.most is None else (version.least, version.most),
        spend=_spend_today(now),
        happened=_happened(),
    )


def _merged(now: datetime) -> tuple[int, int]:
    """How many landed in the last day, and how many in the day before; of at most a thousand."""
    found = PullRequest.objects.filter(state=PullState.MERGED, updated_at__gte=now - 2 * DAY)
    at = list(found.order_by("-updated_at").values_list("updated_at", flat=True)[:COUNT_LIMIT])
    recent = sum(1 for each in at if each >= now - DAY)
    return recent, len(at) - recent


def _outcomes(now: datetime) -> Mapping[str, int]:
    """How the newest thousand runs that ended in the last day did."""
    newest = Run.objects.order_by("-id").values_list("state", "ended_at")[:COUNT_LIMIT]
    return Counter(state for state, ended in newest if ended is not None and ended > now - DAY)


def _spend_today(now: datetime) -> DaySpend:
    day = standing_now(at=now, whole=True).day
    assert day is not None  # noqa: S101  # asked for whole
    is_known = bool(day.spent.micro_usd or day.spent.tokens)
    return DaySpend(day.spent.micro_usd if is_known else None, day.allowed.micro_usd)


def _happened() -> list[Happened]:
    rows = list(TransitionLog.objects.order_by("-id")[:FEED_ROWS])
    pulls = pull_by_subject([row.subject for row in rows])
    return [
        Happened(
            id=row.pk,
            label=pull.key if (pull := pulls.get(row.subject)) else row.subject,
            address=pull_address(pull) if pull else "",
            sentence=edge_sentence(row.edge),
            actor=row.actor,
            at=row.at,
        )
        for row in rows
    ]
