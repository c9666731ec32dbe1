"""The list of pull requests: its tabs, its filters, its keyset, and why each one waits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django.db.models import Subquery

from convergence.flow import FINAL_PULL_STATES, PullState
from convergence.models import ConvergenceFlow, Escalation, EscalationState, PullRequest
from convergence.selectors.lists import pulls_after, pulls_in, pulls_window
from factory_site.console.wording.texts import PULL_REASONS, TIMER_EFFECTS
from merging.models import MergeFlow
from runs.contract.errors import Invalid
from runs.models.transition import TransitionLog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from django.db.models import QuerySet

    from runs.models.flow_row import FlowRow

COUNT_LIMIT = 1_000
ACTIVE = tuple(state for state in PullState if state not in FINAL_PULL_STATES)
WAITING = (
    PullState.WAITING_REVIEW,
    PullState.WAITING_DEPS,
    PullState.WAITING_MERGE,
    PullState.WAITING_LANE,
    PullState.QUEUED,
)
TABS: Mapping[str, tuple[str, tuple[PullState, ...]]] = {
    "active": ("Active", ACTIVE),
    "you": ("Needs you", (PullState.ESCALATED,)),
    "waiting": ("Waiting", WAITING),
    "done": ("Done", FINAL_PULL_STATES),
}


@dataclass(frozen=True, slots=True)
class PullFilter:
    """What the list is narrowed to; all blank shows the first tab."""

    tab: str = "active"
    state: str = ""
    repository: str = ""
    author: str = ""
    before: str = ""

    @property
    def states(self) -> tuple[PullState, ...]:
        """States of the tab, or the one that was chosen among them."""
        return (PullState(self.state),) if self.state else TABS[self.tab][1]


@dataclass(frozen=True, slots=True)
class PullRow:
    """One line of the list."""

    pull: PullRequest
    reason: str
    is_question: bool
    task_id: int | None
    round: int | None
    max_rounds: int | None
    next_at: datetime | None
    next_effect: str


@dataclass(frozen=True, slots=True)
class PullList:
    """One page of the list; `older` is the cursor of the next page, blank on the last."""

    rows: Sequence[PullRow]
    older: str


def pull_filter(asked: Mapping[str, str]) -> PullFilter:
    """Read the filter from an address; raises ``Invalid`` for a value that is not known."""
    found = PullFilter(
        tab=asked.get("tab") or "active",
        state=asked.get("state") or "",
        repository=(asked.get("repository") or "").strip(),
        author=(asked.get("author") or "").strip(),
        before=asked.get("before") or "",
    )
    if found.tab not in TABS:
        raise _unknown("tab", found.tab, list(TABS))
    if found.state and found.state not in TABS[found.tab][1]:
        raise _unknown("state", found.state, [state.value for state in TABS[found.tab][1]])
    if found.before:
        pulls_after(PullRequest.objects.all(), found.before)
    return found


def _unknown(name: str, value: str, known: list[str]) -> Invalid:
    return Invalid("unknown_filter", f"Unknown {name} “{value}”. Known: {', '.join(known)}.")


def pull_counts() -> dict[str, str]:
    """How many pull requests the tabs of unfinished ones hold, in one read of at most 1,001 index entries."""
    states = list(
        PullRequest.objects.filter(state__in=ACTIVE).order_by().values_list("state", flat=True)[: COUNT_LIMIT + 1]
    )
    by_state = Counter(states)
    is_capped = len(states) > COUNT_LIMIT
    return {
        name: f"{COUNT_LIMIT:,}+" if is_capped else f"{sum(by_state[state] for state in included):,}"
        for name, (_, included) in TABS.items()
        if name != "done"
    }


def pulls_version(wanted: PullFilter) -> tuple[object, ...]:
    """What the list shows, as one value that changes when any of it does: one read by indexes."""
    last_transition = TransitionLog.objects.order_by("-id").values("id")[:1]
    newest = pulls_in(PullRequest.objects.all(), wanted.states).order_by("-updated_at", "-pk")
    return tuple(newest.values_list("pk", "updated_at", Subquery(last_transition))[:1])


def pull_list(wanted: PullFilter) -> PullList:
    """One page, the most recently changed first; five queries whatever the number of rows."""
    shown, older = pulls_window(
        states=wanted.states, repository=wanted.repository, author=wanted.author, cursor=wanted.before
    )
    return PullList(_rows(shown), older)


def _rows(pulls: Sequence[PullRequest]) -> list[PullRow]:
    keys = [pull.pk for pull in pulls]
    converging: dict[tuple[int, int], ConvergenceFlow] = {
        (row.pull_id, row.generation): row for row in ConvergenceFlow.rows().filter(pull_id__in=keys)
    }
    merging: dict[tuple[int, int], MergeFlow] = {
        (row.pull_id, row.generation): row for row in cast("QuerySet[Any]", MergeFlow.objects.filter(pull_id__in=keys))
    }
    asked = {
        each.pull_id: each
        for each in Escalation.objects.select_related("task").filter(pull_id__in=keys, state=EscalationState.OPEN)
    }
    rows = []
    for pull in pulls:
        now = (pull.pk, pull.generation)
        convergence = converging.get(now)
        rows.append(_row(pull, convergence, merging.get(now), asked.get(pull.pk)))
    return rows


def _row(
    pull: PullRequest, convergence: ConvergenceFlow | None, merge: MergeFlow | None, asked: Escalation | None
) -> PullRow:
    flow: FlowRow | None = merge or convergence
    state = flow.state if flow else ""
    reason = asked.text if asked else PULL_REASONS.get(state, "").format(head=pull.head_sha[:7] or "its head")
    if not asked and merge and merge.verdict_reason and not merge.is_terminal:
        reason = f"{reason}: {merge.verdict_reason.replace('_', ' ')}"
    timer = asked.task.due_at if asked else flow.timer_at if flow else None
    return PullRow(
        pull=pull,
        reason=reason,
        is_question=asked is not None,
        task_id=asked.task_id if asked else None,
        round=convergence.round if convergence else None,
        max_rounds=convergence.max_rounds if convergence else None,
        next_at=timer,
        next_effect="the answer is due" if asked else TIMER_EFFECTS.get(state, "it is looked at again"),
    )
