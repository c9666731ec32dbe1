"""Dependencies as graph: whether one closes a cycle, and how all of a pull request stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.models import PullRequest
from merging.decisions.dependencies import ahead_of, known_key
from merging.models import Dependency

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_ROWS = 500  # of all that is under way
MOST_STEPS = 50  # a longer chain of pull requests is no cycle that anybody could read


def dependencies_of(pull: PullRequest) -> list[Dependency]:
    """Every dependency in force, the oldest first."""
    return list(Dependency.objects.in_force().filter(pull=pull).order_by("id"))


def dependents_of(pull: PullRequest) -> list[PullRequest]:
    """The pull requests that wait for this one, by number; needs the repository loaded."""
    own = known_key(pull.repository.forge_id, pull.number)
    waiting = Dependency.objects.in_the_way().filter(key=own).values("pull")
    return list(PullRequest.objects.filter(pk__in=waiting).select_related("repository").order_by("number", "id"))


def landing_order(pull: PullRequest) -> list[tuple[str, PullRequest | None]]:
    """What lands before this one, over any number of steps: each as people read it, with its row if it has one here.

    In an order in which it can land; two queries, of the newest dependencies that are in the way of what is under way.
    """
    rows = list(
        Dependency.objects.in_the_way()
        .filter(pull__is_over__in=[False])
        .select_related("pull__repository")
        .order_by("-id")[:MOST_ROWS]
    )
    edges: dict[str, list[str]] = {}
    for row in reversed(rows):
        edges.setdefault(known_key(row.pull.repository.forge_id, row.pull.number), []).append(row.key)
    before = ahead_of(known_key(pull.repository.forge_id, pull.number), edges)
    named = {row.key: row for row in rows if row.key in before}
    here = tracked(named.values())
    return [(named[key].reference, here.get(key)) for key in before]


def tracked(rows: Iterable[Dependency]) -> dict[str, PullRequest]:
    """By key, those of the pull requests depended on that were ever submitted here; one query."""
    wanted = {row.key: row for row in rows if row.repository_id is not None}
    found = PullRequest.objects.select_related("repository").filter(
        repository__forge_id__in={row.repository_id for row in wanted.values()},
        number__in={row.number for row in wanted.values()},
    )
    by_key = {known_key(pull.repository.forge_id, pull.number): pull for pull in found}
    return {key: by_key[key] for key in wanted if key in by_key}


def closes_cycle(row: Dependency, own_key: str) -> bool:
    """Whether this row is the youngest of a cycle: of all its edges the one that closed it."""
    return leads_to(row.key, own_key, older_than=row.pk)


def leads_to(start: str, goal: str, *, older_than: int | None = None) -> bool:
    """Whether the pull request ``start`` waits for ``goal``, over any number of others that are tracked here."""
    seen, frontier = {start}, {start}
    for _ in range(MOST_STEPS):
        if goal in frontier:
            return True
        rows = Dependency.objects.in_the_way().filter(pull__in=_pulls(frontier))
        if older_than is not None:
            rows = rows.filter(pk__lt=older_than)
        frontier = set(rows.values_list("key", flat=True)) - seen
        if not frontier:
            return False
        seen |= frontier
    return False


def _pulls(keys: Iterable[str]) -> list[int]:
    """The ids of the tracked pull requests among these keys."""
    wanted = {key for key in keys if key.partition("#")[0].isdigit()}
    repositories = {int(key.partition("#")[0]) for key in wanted}
    numbers = {int(key.partition("#")[2]) for key in wanted}
    found = PullRequest.objects.filter(repository__forge_id__in=repositories, number__in=numbers)
    rows = found.values_list("pk", "repository__forge_id", "number")
    return [pk for pk, repository, number in rows if known_key(repository, number) in wanted]


def dependency_shown(row: Dependency) -> dict[str, Any]:
    """One dependency as the API shows it."""
    return {
        "key": row.reference,
        "source": row.source,
        "state": row.standing,
        "note": row.note or None,
        "addedBy": row.added_by,
        "addedAt": row.added_at,
        "readAt": row.read_at,
        "droppedBy": row.dropped_by or None,
        "droppedAt": row.dropped_at,
        "dropReason": row.drop_reason or None,
    }
