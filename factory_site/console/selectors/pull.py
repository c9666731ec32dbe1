"""One pull request: its head, why it waits, its rounds, questions, merge attempts, runs and log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Max, OuterRef, Prefetch, Subquery

from convergence.models import (
    ConvergenceFlow,
    Escalation,
    EscalationState,
    GateCheck,
    PullRequest,
    PullRequestGeneration,
    Repository,
    ReviewSeen,
    Round,
    RoundTurn,
)
from convergence.selectors.findings import findings_counted
from convergence.selectors.lookup import pull_named
from convergence.selectors.resting import rests_because
from factory_site.console.wording.texts import TIMER_EFFECTS
from merging.models import MergeAttempt, MergeFlow
from runs.contract.numbers import whole_number
from runs.flows.registry import Waiting, driving
from runs.models.run import Run
from runs.models.transition import TransitionLog
from runs.models.usage import Spend, SpendScope
from runs.policy import policy
from runs.queue.limits.balance import limit_of
from runs.queue.limits.budgets import balances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

    from convergence.selectors.shapes import FindingCounts
    from runs.machine import Edge, Machine
    from runs.models.flow_row import FlowRow

LOG_ROWS = 200
TABS = {
    "rounds": "Rounds",
    "findings": "Findings",
    "gate": "Gate",
    "escalations": "Escalations",
    "merge": "Merge",
    "runs": "Runs",
    "audit": "Log",
}


@dataclass(frozen=True, slots=True)
class Counter:
    """One budget: what was used of what limit; a limit of none has no bar."""

    word: str
    used: int
    limit: int | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Ways:
    """Where the flow stands in its table: the state it came from, and those it can go to."""

    machine: str
    came_from: str
    now: str
    could_go: Sequence[str]
    edges: Sequence[Edge]


@dataclass(frozen=True, slots=True)
class PullHead:
    """What every tab shows of a pull request."""

    pull: PullRequest
    generation: PullRequestGeneration | None
    flow: FlowRow | None
    machine: Machine | None
    convergence: ConvergenceFlow | None
    merge: MergeFlow | None
    waiting: Waiting | None
    timer_effect: str
    open_question: Escalation | None
    counters: Sequence[Counter]
    ways: Ways | None
    spent: int | None
    allowed: int | None  # µUSD that its runs may spend together, raises included; None without a limit
    is_over: bool
    rests_because: str | None  # why a converged one is left to people
    cancel_reason: str  # what the person wrote; blank when nobody cancelled it


@dataclass(frozen=True, slots=True)
class RoundRow:
    """One round with its turns, its reviews and the way of the head through it."""

    round: Round
    turns: Sequence[RoundTurn]
    reviews: Sequence[ReviewSeen]
    entry_head: str
    exit_head: str
    findings: FindingCounts | None  # None: not read at its entry


def pull_at(owner: str, name: str, number: int) -> PullRequest:
    """The pull request at this address, in one read for the present name; raises ``NotFound`` for an unknown one."""
    found = PullRequest.objects.select_related("repository").filter(
        repository__owner=owner, repository__name=name, number=number
    )
    return found.order_by("-repository_id").first() or pull_named(owner, name, number)


def pull_version(pull: PullRequest) -> tuple[Any, ...]:
    """Everything that the page of a pull request shows, as one value that changes with it: one read by indexes."""
    of_pull = {"pull_id": OuterRef("pk")}
    newest: list[tuple[QuerySet[Any], tuple[str, ...]]] = [
        (ConvergenceFlow.objects.filter(**of_pull), ("version", "last_look_at", "run_id")),
        (MergeFlow.objects.filter(**of_pull), ("version", "last_look_at")),
        (Escalation.objects.filter(**of_pull), ("pk", "state")),
        (MergeAttempt.objects.filter(**of_pull), ("pk", "outcome")),
        (GateCheck.objects.filter(**of_pull), ("pk",)),
        (ReviewSeen.objects.filter(**of_pull), ("pk",)),
        (RoundTurn.objects.filter(round__pull_id=OuterRef("pk")), ("pk", "status", "ended_at")),
        (Run.objects.filter(subject=pull.subject), ("pk", "state", "journal_seq")),
    ]
    parts = [Subquery(rows.order_by("-id").values(column)[:1]) for rows, columns in newest for column in columns]
    found: tuple[Any, ...] = (
        PullRequest.objects.filter(pk=pull.pk).values_list("state", "updated_at", "generation", *parts).get()
    )
    return found


def pull_head(pull: PullRequest) -> PullHead:
    """What every tab of the page shows; nine queries and those of the flow's own verb."""
    generation = pull.generations.filter(number=pull.generation).first()
    driven = driving(pull.subject)
    flow: FlowRow | None = driven[1] if driven else None
    merge = flow if isinstance(flow, MergeFlow) and flow.generation == pull.generation else None
    convergence = (
        flow
        if isinstance(flow, ConvergenceFlow)
        else ConvergenceFlow.rows().filter(pull=pull, generation=pull.generation).first()
    )
    waiting = driven[0].waiting_for(driven[1]) if driven and not driven[1].is_terminal else None
    log = TransitionLog.objects.filter(pk=flow.entry_log).first() if flow and flow.entry_log else None
    return PullHead(
        pull=pull,
        generation=generation,
        flow=flow,
        machine=type(flow).machine if flow else None,
        convergence=convergence,
        merge=merge,
        waiting=waiting,
        timer_effect=TIMER_EFFECTS.get(flow.state, "") if flow else "",
        open_question=pull.escalations.select_related("task").filter(state=EscalationState.OPEN).first(),
        counters=_counters(convergence, merge),
        ways=_ways(flow, log.from_state if log else ""),
        spent=_spent(pull.subject),
        allowed=_allowed(pull.subject),
        is_over=flow is None or flow.is_terminal,
        rests_because=rests_because(pull, generation),
        cancel_reason=log.note if log and generation and generation.outcome.startswith("cancelled by") else "",
    )


def _counters(convergence: ConvergenceFlow | None, merge: MergeFlow | None) -> list[Counter]:
    found = []
    if convergence:
        found += [
            Counter("Rounds", convergence.round, convergence.max_rounds, "a person is asked after the last"),
            Counter("Husk retries", convergence.husk_retries, 2, "turns whose agent died, taken again"),
            Counter(
                "Ack retries",
                convergence.ack_retries,
                convergence.ack_retry_max,
                "turns for nothing but comments left unacknowledged",
            ),
        ]
    if merge:
        found += [
            Counter("Check repairs", merge.ci_fixes, merge.ci_fix_max, "repairs of failing checks, then a person"),
            Counter("Rebases", merge.rebases, merge.rebase_max, "repairs of conflicts, then a person"),
            Counter("Evictions", merge.evictions, merge.eviction_max, "times the merge queue dropped it"),
            Counter(
                "Merge retries", merge.merge_retries, merge.merge_retry_max, "merges that failed and are tried again"
            ),
            Counter("Stall probes", merge.stalls, merge.stall_max, "tries to wake a merge that does not move"),
            Counter("Returns", merge.returns, merge.return_max, "ways back from the merge to review"),
        ]
    return found


def _ways(flow: FlowRow | None, came_from: str) -> Ways | None:
    if flow is None:
        return None
    machine = type(flow).machine
    edges = machine.out_of(flow.state)
    return Ways(machine.name, came_from, flow.state, list(dict.fromkeys(edge.target for edge in edges)), edges)


def _spent(subject: str) -> int | None:
    """µUSD of the subject over all days that are kept; None when no adapter has said what it costs."""
    rows = list(Spend.objects.filter(scope=SpendScope.SUBJECT, key=subject).values_list("cost_micro_usd", flat=True))
    return sum(rows) if rows else None


def _allowed(subject: str) -> int | None:
    limit = limit_of(policy().budgets.per_subject)
    if limit.micro_usd is None:
        return None
    key = (str(SpendScope.SUBJECT), subject)
    return balances({key: limit})[key].allowed.micro_usd


def pull_rounds(pull: PullRequest) -> list[RoundRow]:
    """Every round of every generation, the newest first; four queries."""
    turns = Prefetch("turns", RoundTurn.objects.order_by("turn"))
    reviews: dict[tuple[int | None, int | None], list[ReviewSeen]] = {}
    for review in pull.reviews.order_by("submitted_at"):
        reviews.setdefault((review.consumed_generation, review.consumed_round), []).append(review)
    rows = []
    rounds = list(pull.rounds.prefetch_related(turns).order_by("-generation", "-number"))
    counted = findings_counted(rounds)
    for each in rounds:
        made = list(each.turns.all())
        rows.append(
            RoundRow(
                round=each,
                turns=made,
                reviews=reviews.get((each.generation, each.number), []),
                entry_head=made[0].entry_head if made else "",
                exit_head=made[-1].exit_head if made else "",
                findings=counted.get(each.pk),
            )
        )
    return rows


def pull_escalations(pull: PullRequest) -> list[Escalation]:
    """Every question about the pull request with its task, the newest first."""
    return list(pull.escalations.select_related("task").order_by("-id"))


def pull_attempts(pull: PullRequest) -> list[MergeAttempt]:
    """Every merge attempt, the newest first."""
    return list(pull.merge_attempts.order_by("-id")[:LOG_ROWS])


def pull_runs(pull: PullRequest) -> list[Run]:
    """The runs of the pull request, the newest first."""
    return list(Run.objects.filter(subject=pull.subject).order_by("-id")[:LOG_ROWS])


def pull_log(pull: PullRequest) -> list[TransitionLog]:
    """The newest transitions of every flow that drove the pull request."""
    return list(TransitionLog.objects.filter(subject=pull.subject).order_by("-id")[:LOG_ROWS])


def pull_by_subject(subjects: Sequence[str]) -> dict[str, PullRequest]:
    """The pull requests behind these references, in two queries; other references are left out."""
    wanted = {subject: parts for subject in subjects if (parts := _parts(subject))}
    if not wanted:
        return {}
    repositories = Repository.objects.filter(forge_id__in={parts[0] for parts in wanted.values()})
    pulls = PullRequest.objects.select_related("repository").filter(
        repository__in=repositories, number__in={parts[1] for parts in wanted.values()}
    )
    by_subject = {pull.subject: pull for pull in pulls}
    return {subject: by_subject[subject] for subject in wanted if subject in by_subject}


def _parts(subject: str) -> tuple[int, int] | None:
    kind, _, rest = subject.partition(":")
    repository, number = (whole_number(part) for part in rest.partition(":")[::2])
    return (repository, number) if kind == "pull-request" and repository and number else None


def pull_address(pull: PullRequest) -> str:
    """The address of a pull request's page."""
    return f"/pull-requests/{pull.repository.full_name}/{pull.number}/"


def generation_of(pull: PullRequest) -> int:
    """The newest submission's number as stored now: what an act on the page is bound to."""
    return PullRequest.objects.filter(pk=pull.pk).aggregate(newest=Max("generation"))["newest"] or 0
