"""Which runs a list shows: the filters that API, command and console share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef

from runs.contract.errors import Invalid
from runs.flow import RunState
from runs.models import Attempt, FailureCause
from runs.subjects import subject_reference

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from runs.models import Run

CAUSES = tuple(cause for cause in FailureCause.values if cause)


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a list is narrowed to; a blank value narrows nothing.

    ``agent`` is an id or `id@version`, ``subject`` a reference or a label; worker and adapter are those of the newest
    attempt, as the rows show them.
    """

    agent: str = ""
    subject: str = ""
    repository: str = ""
    worker: str = ""
    reason: str = ""
    cause: str = ""
    adapter: str = ""


def runs_narrowed(rows: QuerySet[Run], by: Narrowing) -> QuerySet[Run]:
    """The rows that pass every filter; raises ``Invalid`` invalid_field for a cause that no failure has."""
    if by.agent:
        rows = rows.filter(**{"agent_ref" if "@" in by.agent else "agent_id": by.agent})
    if by.subject:
        rows = rows.filter(subject=subject_reference(by.subject))
    if by.repository:
        rows = rows.filter(repository__iexact=by.repository)
    if by.reason:
        rows = rows.filter(reason_code=by.reason)
    if by.cause:
        if by.cause not in CAUSES:
            message = f"Unknown cause {by.cause!r}. Known: {', '.join(CAUSES)}."
            raise Invalid("invalid_field", message, details={"field": "cause"})
        rows = rows.filter(state=RunState.FAILED, cause=by.cause)  # no other state keeps one
    if by.worker:
        node = by.worker.partition(".")[0]  # its attempts are found by the index on the node
        rows = rows.filter(fencing_token__in=Attempt.objects.filter(node=node, worker_id=by.worker).values("pk"))
    if by.adapter:
        rows = rows.filter(Exists(Attempt.objects.filter(pk=OuterRef("fencing_token"), adapter=by.adapter)))
    return rows
