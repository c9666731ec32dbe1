"""The list of pull requests, the newest change first, read by keyset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from convergence.flow import FINAL_PULL_STATES
from convergence.models import ConvergenceFlow, PullRequest
from convergence.selectors.shapes import PullPage, PullRow
from runs.contract.errors import Invalid
from runs.flows.registry import flow_types

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from django.db.models import QuerySet

    from runs.models.flow_row import FlowRow

PAGE = 50
LARGEST_PAGE = 200


def pulls_listed(*, states: Iterable[str] = (), repository: str = "", cursor: str = "", limit: int = PAGE) -> PullPage:
    """A page of the list; raises ``Invalid`` invalid_field for a cursor that no page gave."""
    shown, older = pulls_window(
        states=states, repository=repository, cursor=cursor, limit=max(1, min(limit, LARGEST_PAGE))
    )
    return PullPage(items=pull_rows(shown), next_cursor=older)


def pulls_window(
    *, states: Iterable[str] = (), repository: str = "", author: str = "", cursor: str = "", limit: int = PAGE
) -> tuple[list[PullRequest], str]:
    """One page, and the cursor of the next one, blank on the last; one query.

    ``repository`` is `owner/name` or an owner alone. Raises ``Invalid`` invalid_field for a cursor that no page gave.
    """
    rows = PullRequest.objects.select_related("repository").order_by("-updated_at", "-id")
    if wanted := list(states):
        rows = pulls_in(rows, wanted)
    if repository:
        owner, _, name = repository.partition("/")
        rows = rows.filter(repository__owner__iexact=owner)
        rows = rows.filter(repository__name__iexact=name) if name else rows
    if author:
        rows = rows.filter(author__iexact=author)
    if cursor:
        rows = pulls_after(rows, cursor)
    found = list(rows[: limit + 1])
    shown = found[:limit]
    return shown, _cursor(shown[-1]) if len(found) > limit else ""


def pulls_in(rows: QuerySet[PullRequest], states: Collection[str]) -> QuerySet[PullRequest]:
    """The rows in these states, so said that a page of them is read in its order, however long the history is."""
    found = rows.filter(state__in=states)
    over = {state in FINAL_PULL_STATES for state in states}
    if len(states) == 1 or len(over) > 1:
        return found
    return found.filter(is_over__in=over)  # IN: SQLite seeks by no bare boolean


def _cursor(pull: PullRequest) -> str:
    """The position behind a pull request in a list that shows the newest change first."""
    return f"{pull.updated_at.astimezone(UTC).isoformat()}|{pull.pk}"


def pulls_after(rows: QuerySet[PullRequest], cursor: str) -> QuerySet[PullRequest]:
    """The rows behind a position; raises ``Invalid`` invalid_field for one that no list gave."""
    written, _, key = cursor.partition("|")
    try:
        at, number = datetime.fromisoformat(written), int(key)
    except ValueError:
        raise _no_cursor() from None
    if at.utcoffset() != timedelta():  # only an instant in UTC is one that a list gives
        raise _no_cursor()
    return rows.filter(Q(updated_at__lt=at) | Q(updated_at=at, pk__lt=number))


def _no_cursor() -> Invalid:
    return Invalid("invalid_field", "That position is not one of this list.", details={"field": "cursor"})


def pull_rows(pulls: Sequence[PullRequest]) -> list[PullRow]:
    """The pull requests as rows, with one query for each flow type however many there are."""
    driven = flows_driving([pull.subject for pull in pulls])
    own = {
        (row.subject, row.generation): row
        for row in ConvergenceFlow.rows().filter(subject__in=[pull.subject for pull in pulls])
    }
    shown = []
    for pull in pulls:
        flow = driven.get(pull.subject)
        mine = own.get((pull.subject, pull.generation))
        shown.append(
            PullRow(
                pr_key=pull.key,
                title=pull.title,
                url=pull.url,
                repository=pull.repository.full_name,
                number=pull.number,
                author=pull.author,
                state=pull.state,
                stage=flow.state if flow else pull.state,
                round=mine.round if mine else 1,
                max_rounds=mine.max_rounds if mine else 0,
                generation=pull.generation,
                head_sha=pull.head_sha,
                updated_at=pull.updated_at,
                stage_since=flow.entered_at if flow else None,
                next_look_at=flow.due_at if flow else None,
                last_look_error=flow.last_look_error if flow else "",
            )
        )
    return shown


def flows_driving(subjects: Sequence[str]) -> Mapping[str, FlowRow]:
    """The flow row that drives each subject now, else the one that ended last."""
    best: dict[str, FlowRow] = {}
    for flow in flow_types():
        for row in flow.model.objects.filter(subject__in=subjects):
            other = best.get(row.subject)
            if other is None or _rank(row) > _rank(other):
                best[row.subject] = row
    return best


def _rank(row: FlowRow) -> tuple[int, bool, datetime]:
    return row.generation, not row.is_terminal, row.ended_at or row.entered_at
