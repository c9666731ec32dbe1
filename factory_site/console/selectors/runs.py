"""The list of runs: its tabs, its filters, its keyset, and why each one is where it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from django.db.models import F, Subquery

from factory_site.console.selectors.counted import Counted
from factory_site.console.selectors.pull import pull_by_subject
from factory_site.console.wording.reasons import Reason, reason_of
from factory_site.console.wording.words import sentence_case
from runs.contract.errors import Invalid
from runs.flow import AT_REST, LIVE, RunState
from runs.models import Attempt, JournalRow, Run, Usage, User
from runs.queue.limits.blocking import PAUSES
from runs.reading.narrowing import CAUSES, Narrowing, runs_narrowed
from runs.reading.rows import run_rows
from workers.models import Worker
from workers.selectors.workers import alive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from convergence.models import PullRequest

PAGE = 50
COUNT_LIMIT = 1_000
NOT_COMPLETED = (RunState.FAILED, RunState.TIMED_OUT, RunState.REFUSED)
TABS: Mapping[str, tuple[str, tuple[RunState, ...]]] = {
    "active": ("Active", LIVE),
    "failed": ("Not completed", NOT_COMPLETED),
    "all": ("All", tuple(RunState)),
}


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What the list is narrowed to; all blank shows the first tab."""

    tab: str = "active"
    state: str = ""
    by: Narrowing = Narrowing()  # noqa: RUF009 - frozen
    before: int | None = None

    @property
    def states(self) -> tuple[RunState, ...]:
        """States of the tab, or the one that was chosen among them."""
        return (RunState(self.state),) if self.state else TABS[self.tab][1]


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line: the row of the API, why in words, and what it is about; ``tokens`` None: no adapter has said."""

    run: Run
    shown: Mapping[str, Any]
    why: str
    badges: Sequence[tuple[str, str, str]]
    pull: PullRequest | None
    tokens: int | None


@dataclass(frozen=True, slots=True)
class RunList:
    """One page of the list; ``older`` is the cursor of the next page, None on the last."""

    rows: Sequence[RunRow]
    older: int | None


def run_filter(asked: Mapping[str, str]) -> RunFilter:
    """Read the filter from an address; raises ``Invalid`` for a value that is not known."""
    before = asked.get("before") or ""
    found = RunFilter(
        tab=asked.get("tab") or "active",
        state=asked.get("state") or "",
        by=Narrowing(**{field.name: (asked.get(field.name) or "").strip() for field in fields(Narrowing)}),
        before=int(before) if before.isascii() and before.isdigit() and len(before) < 18 else None,  # noqa: PLR2004 - of a big integer
    )
    if found.tab not in TABS:
        raise _unknown("tab", found.tab, list(TABS))
    if found.state and found.state not in TABS[found.tab][1]:
        raise _unknown("state", found.state, [state.value for state in TABS[found.tab][1]])
    if found.by.cause and found.by.cause not in CAUSES:
        raise _unknown("cause", found.by.cause, list(CAUSES))
    if before and found.before is None:
        raise Invalid("bad_cursor", "That position is not one of this list.")
    return found


def _unknown(name: str, value: str, known: list[str]) -> Invalid:
    return Invalid("unknown_filter", f"Unknown {name} “{value}”. Known: {', '.join(known)}.")


def runs_version(user_key: int) -> tuple[object, ...]:
    """What the list shows, as one value that changes when any of it does: one read by indexes."""
    unfinished = Attempt.objects.filter(finished_at__isnull=True)
    return tuple(
        User.objects.filter(pk=user_key).values_list(
            Subquery(JournalRow.objects.order_by("-id").values("id")[:1]),
            Counted(Run.objects.filter(state="queued").exclude(hold="").order_by().values("id")[:COUNT_LIMIT]),
            Subquery(Usage.objects.filter(attempt__in=unfinished).order_by("-updated_at").values("updated_at")[:1]),
            Subquery(Worker.objects.order_by("-id").values("id")[:1]),
            Counted(alive(Worker.objects.all()).order_by().values("id")[:COUNT_LIMIT]),
        )
    )


def run_tab_counts() -> dict[str, str]:
    """How many runs are under way, in one read of at most 1,001 index entries."""
    states = list(Run.objects.filter(state__in=LIVE).order_by().values_list("state", flat=True)[: COUNT_LIMIT + 1])
    number = sum(Counter(states).values())
    return {"active": f"{COUNT_LIMIT:,}+" if number > COUNT_LIMIT else f"{number:,}"}


def run_list(wanted: RunFilter) -> RunList:
    """One page, the newest first; a fixed number of queries whatever the number of rows."""
    found = Run.objects.select_related("placement_class")
    if wanted.states != TABS["all"][1]:
        found = found.filter(state__in=wanted.states)
    found = runs_narrowed(found, wanted.by)
    if wanted.before is not None:
        found = found.filter(pk__lt=wanted.before)
    runs = list(found.order_by("-pk")[: PAGE + 1])
    shown = runs[:PAGE]
    return RunList(rows_of(shown), shown[-1].pk if len(runs) > PAGE else None)


def rows_of(runs: Sequence[Run]) -> list[RunRow]:
    """These runs as lines of a list."""
    pulls = pull_by_subject(list({run.subject for run in runs}))
    used = _tokens([run.pk for run in runs])
    return [
        RunRow(
            run=run,
            shown=shown,
            why=why(run, shown),
            badges=second_badges(shown),
            pull=pulls.get(run.subject),
            tokens=used.get(run.pk),
        )
        for run, shown in zip(runs, run_rows(runs), strict=True)
    ]


def why(run: Run, shown: Mapping[str, Any]) -> str:
    """The one sentence of a run: what it waits for, does, or how it ended."""
    waiting = shown["waiting"]
    if waiting:
        return sentence_case(str(waiting["text"]))
    found: Reason = reason_of(run.reason_code)
    return found.sentence


def second_badges(shown: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Glyph, word and tone of the facts beside the state."""
    code = (shown["waiting"] or {}).get("code")
    if code == "unplaceable":
        return [("!", "No worker fits", "you")]
    if code == "exclusive":
        return [("⧗", "Exclusive", "wait")]
    if code in {"subject_budget", "run_budget", "day_budget"}:
        return [("!", "Budget reached", "you")]
    if code in PAUSES.values():
        return [("‖", "Paused", "wait")]
    return []


def _tokens(keys: Sequence[int]) -> dict[int, int]:
    total = F("input_tokens") + F("output_tokens") + F("cache_read_tokens") + F("cache_write_tokens")
    found: dict[int, int] = {}
    for key, tokens in Usage.objects.filter(attempt__run__in=keys).values_list("attempt__run", total):
        found[key] = found.get(key, 0) + tokens
    return found


def is_at_rest(runs: Sequence[RunRow]) -> bool:
    """Whether nothing on this page moves any more."""
    return all(row.run.state in AT_REST for row in runs)
