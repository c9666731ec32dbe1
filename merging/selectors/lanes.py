"""Lanes as rows say them: the members around a pull request, and who goes first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merging.decisions.lanes import Member, ahead, lane_order, neighbours
from merging.models import LaneEdge, LaneMember, MergeFlow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from convergence.models import PullRequest


@dataclass(frozen=True, slots=True)
class LaneView:
    """One group as one of its members sees it; names of members, and the row of each."""

    member: LaneMember
    rows: Mapping[str, LaneMember]
    members: Mapping[str, Member]
    edges: Sequence[tuple[str, str]]

    @property
    def ahead(self) -> tuple[str, ...]:
        """The direct neighbours that go first."""
        return ahead(self.member.name, self.members, self.edges)

    @property
    def order(self) -> Sequence[str]:
        """The lane in the order in which it lands."""
        return lane_order(self.member.name, self.members, self.edges)

    def label(self, name: str) -> str:
        """How people know a member: by its pull request, else by its name."""
        row = self.rows[name]
        return row.pull.key if row.pull else name


def lanes_of(pull: PullRequest) -> list[LaneView]:
    """Every group that the pull request is a member of with an edge; none for most. Five queries for each."""
    mine = LaneMember.objects.filter(pull=pull).select_related("group")
    return [view for member in mine if (view := _view(member)).edges]


def lane_ahead(pull: PullRequest) -> tuple[str, ...]:
    """How people know the neighbours that go first, over all groups."""
    return tuple(view.label(name) for view in lanes_of(pull) for name in view.ahead)


def lane_neighbours(pull: PullRequest) -> list[int]:
    """The ids of the pull requests that have an edge with this one."""
    found: set[int] = set()
    for view in lanes_of(pull):
        rows = (view.rows[name] for name in neighbours(view.member.name, view.edges) if name in view.rows)
        found |= {row.pull_id for row in rows if row.pull_id is not None}
    return sorted(found)


def lane_shown(pull: PullRequest) -> dict[str, Any] | None:
    """The first lane of the pull request as the API shows it; None outside of any."""
    views = lanes_of(pull)
    if not views:
        return None
    view = views[0]
    return {
        "order": [view.label(name) for name in view.order],
        "ahead": [view.label(name) for name in view.ahead],
        "passedBy": view.member.passed_by or None,
    }


def _view(member: LaneMember) -> LaneView:
    edges = list(LaneEdge.objects.filter(group=member.group, superseded_at__isnull=True).values_list("first", "second"))
    near = [pair for pair in edges if member.name in pair]
    if not near:
        return LaneView(member, {}, {}, [])
    rows = {row.name: row for row in LaneMember.objects.filter(group=member.group).select_related("pull__repository")}
    states = _states(row.pull_id for row in rows.values() if row.pull_id is not None)
    members = {
        name: Member(name, row.depth, row.position, states.get(row.pull_id or 0, ""), row.passed_at is not None)
        for name, row in rows.items()
    }
    return LaneView(member, rows, members, edges)


def _states(pulls: Iterable[int]) -> dict[int, str]:
    """The state of each pull request's newest merge flow."""
    rows = MergeFlow.rows().filter(pull__in=list(pulls)).order_by("generation").values_list("pull_id", "state")
    return dict(rows)
