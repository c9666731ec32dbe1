"""Pauses, caps and budgets as people see them: what is set, what is used, and what it holds back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Max

from runs.clock import now
from runs.contract.errors import NotFound
from runs.models import Attempt, BudgetRaise, Hold, Run, Spend, SpendScope
from runs.policy import policy
from runs.queue import ready
from runs.queue.limits.balance import MICRO, Amount, Balance, Limit, limit_of
from runs.queue.limits.blocking import BlockCode, Cap
from runs.queue.limits.budgets import balances, run_limit
from runs.queue.limits.pauses import pauses_in_force
from runs.queue.limits.sentences import cap_name, next_day
from runs.queue.limits.standing import standing_now

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from runs.models import Pause, PlacementClass
    from runs.policy import Policy
    from runs.queue.limits.blocking import Block, OpenAttempts, Standing
    from runs.queue.limits.budgets import Key

MOST_ROWS = 50  # subjects and runs that are shown, the ones that cost most today first
MOST_COUNTED = 1_000
RAISES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One limit with what is used of it; ``held``: runs that wait for it, counted up to 1,000."""

    scope: SpendScope
    key: str
    label: str
    balance: Balance
    held: int
    resets_at: datetime | None
    raises: Sequence[BudgetRaise]

    @property
    def words(self) -> str:
        """Whose budget it is."""
        return f"a run on {self.label}" if self.scope == SpendScope.RUN else self.label

    @property
    def form(self) -> str:
        """The name of the form that raises it."""
        return f"raise:{self.scope}:{self.key}"

    @property
    def seen(self) -> str:
        """What a raise is bound to: what may be spent, as it was shown."""
        allowed = self.balance.allowed
        return f"{self.scope}:{self.key}:{allowed.micro_usd}:{allowed.tokens}"


@dataclass(frozen=True, slots=True)
class CapRow:
    """One finite cap, how many unfinished attempts it counts, and how many ready runs it holds back."""

    code: BlockCode
    name: str
    node: str
    words: str
    limit: int
    used: int
    held: int


@dataclass(frozen=True, slots=True)
class LimitsPage:
    """Everything that may keep runs from being claimed, at one instant; ``paused_runs`` counts by the pause's key."""

    at: datetime
    pauses: Sequence[Pause]
    paused_runs: Mapping[int, int]
    caps: Sequence[CapRow]
    budgets: Sequence[BudgetRow]


def limits_page() -> LimitsPage:
    """Pauses in force, finite caps and budgets, with what each holds back. Reads by index, a bounded number of rows."""
    at = now()
    standing = standing_now(at=at, whole=True)
    blocked = [(row, block) for row in ready.ready_classes() if (block := standing.block_of(row, "")) is not None]
    return LimitsPage(
        at=at,
        pauses=list(pauses_in_force(at)),
        paused_runs=_held_by((block.pause.pk, row) for row, block in blocked if block.pause is not None),
        caps=_cap_rows(standing, blocked),
        budgets=budget_rows(standing, at, blocked),
    )


def budget_rows(
    standing: Standing, at: datetime, blocked: Iterable[tuple[PlacementClass, Block]] = ()
) -> list[BudgetRow]:
    """The day's budget, whether or not it has a limit, then the subjects and runs that wait for theirs or spend now."""
    rules = policy().budgets
    subjects = _subjects(at) if limit_of(rules.per_subject) else {}
    runs = _runs()
    limits: dict[Key, Limit] = {(str(SpendScope.SUBJECT), key): limit_of(rules.per_subject) for key in subjects}
    limits |= {(str(SpendScope.RUN), run.run_id): limit for run in runs if (limit := run_limit(run))}
    found = balances(limits)
    held = _held_runs()
    today = at.date().isoformat()
    raises = _raises([(str(SpendScope.DAY), today), *limits])
    by_day = _held_by((BlockCode.DAY_BUDGET, row) for row, block in blocked if block.code is BlockCode.DAY_BUDGET)
    labels = {(str(SpendScope.RUN), run.run_id): run.subject_label or run.subject for run in runs}
    labels |= {(str(SpendScope.SUBJECT), key): label for key, label in subjects.items()}
    rows = [
        BudgetRow(SpendScope(scope), key, labels[(scope, key)], each, held[(scope, key)], None, raises[(scope, key)])
        for (scope, key), each in found.items()
    ]
    rows.sort(key=lambda row: (row.scope != SpendScope.SUBJECT, -row.balance.percent, row.label))
    day = standing.day or Balance(Limit())
    of_day = raises[(str(SpendScope.DAY), today)]
    first = BudgetRow(SpendScope.DAY, today, "today", day, by_day[BlockCode.DAY_BUDGET], next_day(at), of_day)
    return [first, *rows]


def budget_row(scope: SpendScope, key: str) -> BudgetRow:
    """One limit as it stands now, whether or not it is among the rows of the page; raises NotFound `unknown_run`."""
    at = now()
    if scope == SpendScope.DAY:
        return budget_rows(standing_now(at=at, whole=True), at)[0]
    if scope == SpendScope.SUBJECT:
        label = Run.objects.filter(subject=key).order_by("-id").values_list("subject_label", flat=True).first() or key
        limit = limit_of(policy().budgets.per_subject)
    else:
        run = Run.objects.filter(run_id=key).first()
        if run is None:
            raise NotFound("unknown_run", f"There is no run {key}.")
        label, limit = run.subject_label or run.subject, run_limit(run)
    name = (str(scope), key)
    return BudgetRow(scope, key, label, balances({name: limit})[name], 0, None, _raises([name])[name])


def amount_json(amount: Amount | Limit) -> dict[str, Any]:
    """USD and tokens as they stand on the wire; null: no limit of that side."""
    return {"usd": None if amount.micro_usd is None else amount.micro_usd / MICRO, "tokens": amount.tokens}


def subject_labels(keys: Sequence[str]) -> dict[str, str]:
    """The label of each subject, as its newest run has it; the reference where no run is left. One read."""
    newest = Run.objects.filter(subject__in=keys).values("subject").annotate(last=Max("pk")).values("last")
    found = dict(Run.objects.filter(pk__in=newest).values_list("subject", "subject_label"))
    return {key: found.get(key) or key for key in keys}


def _subjects(at: datetime) -> dict[str, str]:
    """Subjects that wait for their budget or spent most today, with their labels."""
    waiting = Run.objects.filter(state="queued", hold=Hold.SUBJECT_BUDGET).values_list("subject", flat=True)
    keys = list(dict.fromkeys(waiting[:MOST_COUNTED]))[:MOST_ROWS]
    spent = Spend.objects.filter(scope=SpendScope.SUBJECT, day=at.date()).order_by("-cost_micro_usd")
    keys += [key for key in spent.values_list("key", flat=True)[:MOST_ROWS] if key not in keys]
    return subject_labels(keys[:MOST_ROWS])


def _runs() -> list[Run]:
    """Runs that wait for their own budget, and those that run under one."""
    waiting = list(Run.objects.filter(state="queued", hold=Hold.RUN_BUDGET).order_by("id")[:MOST_ROWS])
    budgeted = Attempt.objects.filter(finished_at=None).exclude(budget_micro_usd=None, budget_tokens=None)
    running = Run.objects.filter(pk__in=list(budgeted.values_list("run", flat=True)[:MOST_ROWS])).order_by("id")
    return [*waiting, *running]


def _held_runs() -> Counter[Key]:
    """How many runs carry the hold of each limit."""
    rows = Run.objects.filter(state="queued", hold__in=[Hold.SUBJECT_BUDGET, Hold.RUN_BUDGET])
    found: Counter[Key] = Counter()
    for hold, subject, run_id in rows.values_list("hold", "subject", "run_id")[:MOST_COUNTED]:
        scope = SpendScope.SUBJECT if hold == Hold.SUBJECT_BUDGET else SpendScope.RUN
        found[(str(scope), subject if scope == SpendScope.SUBJECT else run_id)] += 1
    return found


def _raises(keys: Sequence[Key]) -> dict[Key, list[BudgetRaise]]:
    """The latest raises of each limit, the newest first."""
    found: dict[Key, list[BudgetRaise]] = {key: [] for key in keys}
    for row in BudgetRaise.objects.filter(key__in=[key for _, key in keys]).order_by("-id")[:MOST_COUNTED]:
        kept = found.get((row.scope, row.key), [])
        if len(kept) < RAISES_SHOWN:
            kept.append(row)
    return found


def _held_by(blocked: Iterable[tuple[Any, PlacementClass]]) -> Counter[Any]:
    """How many ready runs of these classes there are, by what blocks them."""
    found: Counter[Any] = Counter()
    for blocker, row in blocked:
        found[blocker] += ready.ready_count(row, MOST_COUNTED)
    return found


def _cap_rows(standing: Standing, blocked: Sequence[tuple[PlacementClass, Block]]) -> list[CapRow]:
    held = _held_by((block.cap, row) for row, block in blocked if block.cap is not None)
    return [
        CapRow(cap.code, cap.name, cap.node, cap_name(cap), cap.limit, standing.used(cap), held[cap])
        for cap in _caps(standing.policy, standing.open)
    ]


def _caps(rules: Policy, attempts: Sequence[OpenAttempts]) -> list[Cap]:
    """Every finite cap that the files name, and those of a node or of all repositories where something runs."""
    found = []
    for name, weight in sorted(rules.weight_classes.items()):
        if weight.max is not None:
            found.append(Cap(BlockCode.WEIGHT_CLASS_FULL, name, weight.max))
        if weight.per_node is not None:
            nodes = sorted({each.node for each in attempts if each.weight_class == name})
            found += [Cap(BlockCode.WEIGHT_CLASS_FULL, name, weight.per_node, node) for node in nodes]
    named = {name.lower() for name in rules.limits.per_repository if "/" in name}
    running = {each.repository.lower() for each in attempts if each.repository}
    for name in sorted(named | running):
        limit = rules.limits.of_repository(name)
        if limit is not None:
            found.append(Cap(BlockCode.REPOSITORY_FULL, name, limit))
    found += [
        Cap(BlockCode.AGENT_FULL, name, limit)
        for name, limit in sorted(rules.limits.per_agent.items())
        if limit is not None
    ]
    return found
