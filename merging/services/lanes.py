"""Lanes: taking over what a plan says of them, letting one member pass, and deciding under the group's lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from merging.flow import MERGE_MACHINE, MergeState
from merging.models import LaneEdge, LaneGroup, LaneMember
from merging.selectors.lanes import lane_ahead, lane_neighbours
from runs.clock import now as clock_now
from runs.contract.errors import Invalid, Refused
from runs.flows.looks import flow_wake

if TYPE_CHECKING:
    from collections.abc import Iterable

    from convergence.models import PullRequest

LANE_AHEAD = "lane_ahead"  # code of the refusal when a neighbour was faster


@dataclass(frozen=True, slots=True)
class Task:
    """A member as its plan knows it."""

    name: str
    depth: int
    position: int
    pull: PullRequest | None = None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Two members that touch the same files."""

    one: str
    other: str
    files: tuple[str, ...] = ()
    source: str = "planned"


def lanes_set(group: str, tasks: Iterable[Task], exclusions: Iterable[Exclusion]) -> LaneGroup:
    """Make members and edges of a group what its plan says; edges that it no longer says are superseded.

    Joins or opens a transaction; holds the group's row.
    """
    with transaction.atomic():
        now = clock_now()
        row, _ = LaneGroup.objects.get_or_create(key=group, defaults={"created_at": now})
        LaneGroup.objects.select_for_update().get(pk=row.pk)
        for task in tasks:
            LaneMember.objects.update_or_create(
                group=row,
                name=task.name,
                defaults={"depth": task.depth, "position": task.position, "pull": task.pull},
            )
        said: set[tuple[str, str]] = set()
        for each in exclusions:
            first, second = sorted((each.one, each.other))
            said.add((first, second))
            LaneEdge.objects.update_or_create(
                group=row,
                first=first,
                second=second,
                defaults={"files": list(each.files), "source": each.source, "superseded_at": None},
            )
        for edge in LaneEdge.objects.filter(group=row, superseded_at__isnull=True):
            if (edge.first, edge.second) not in said:
                LaneEdge.objects.filter(pk=edge.pk).update(superseded_at=now)
    return row


def lane_checked(pull: PullRequest) -> None:
    """Hold the groups of the pull request in the caller's transaction, and refuse when a neighbour goes first.

    Two neighbours that decide at once do it one after the other, so that never both pass.
    """
    groups = list(LaneMember.objects.filter(pull=pull).values_list("group_id", flat=True))
    if not groups:
        return
    list(LaneGroup.objects.select_for_update().filter(pk__in=groups).order_by("pk"))
    waits_for = lane_ahead(pull)
    if waits_for:
        raise Refused(LANE_AHEAD, f"{pull.key} lands after {', '.join(waits_for)}")


def lane_pass(pull: PullRequest, *, actor: str, reason: str) -> int:
    """Let the pull request go before its neighbours, and look at once; return in how many groups.

    It still waits for a neighbour that is landing at this moment; a repeat changes nothing. Raises ``Invalid``
    reason_required and ``Refused`` not_held.
    """
    if not reason.strip():
        raise Invalid("reason_required", "Say why it may pass its lane.", details={"field": "reason"})
    rows = LaneMember.objects.filter(pull=pull)
    if not rows.exists():
        raise Refused("not_held", f"{pull.key} is in no lane, so nothing holds it there.")
    with transaction.atomic():
        passed = rows.filter(passed_at__isnull=True).update(
            passed_at=clock_now(), passed_by=actor[:200], pass_reason=reason.strip()[:500]
        )
        flow_wake(MERGE_MACHINE.name, subject=pull.subject)
    return passed


def neighbours_wake(pull: PullRequest) -> None:
    """Have the neighbours that wait for their lane look now."""
    near = lane_neighbours(pull)
    if near:
        flow_wake(MERGE_MACHINE.name, pull_id__in=near, state=MergeState.WAITING_LANE)
