"""The tab of a pull request that shows its merge: verdict, waits, lane, tries and the way so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from factory_site.console.selectors.pull import pull_address
from factory_site.console.submissions import new_submission
from merging.models import Dependency, MergeRemedy
from merging.selectors import merge_detail
from merging.selectors.dependencies import dependents_of, landing_order, tracked
from runs.models import TransitionLog

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from convergence.models import PullRequest

NEWEST = 50


@dataclass(frozen=True, slots=True)
class MergeTab:
    """What the tab shows; ``detail`` is what the API answers."""

    detail: Mapping[str, Any]
    judged: Mapping[str, Any]
    dependencies: Sequence[tuple[Dependency, str, str]]  # each with its page and its form to drop it
    ahead: Sequence[tuple[str, str]]  # what lands first, over more than one step: each with its page
    dependents: Sequence[tuple[str, str]]  # who waits for this one: its key and its page
    remedies: Sequence[MergeRemedy]
    timeline: Sequence[TransitionLog]
    commits: str  # the address below which commits are shown


def merge_tab(pull: PullRequest) -> MergeTab:
    """Everything of the tab but the merge attempts; the number of queries does not grow with its rows."""
    detail = merge_detail(pull)
    rows = list(Dependency.objects.filter(pull=pull).order_by("id")[:NEWEST])
    pages = {key: pull_address(each) for key, each in tracked(rows).items()}
    order = landing_order(pull)
    return MergeTab(
        detail=detail,
        judged=detail["mergeability"] or {},
        dependencies=[(row, pages.get(row.key, ""), new_submission()) for row in rows],
        ahead=[(name, pull_address(each) if each else "") for name, each in order] if len(order) > 1 else [],
        dependents=[(each.key, pull_address(each)) for each in dependents_of(pull)[:NEWEST]],
        remedies=list(MergeRemedy.objects.filter(flow__pull=pull).order_by("-id")[:NEWEST]),
        timeline=list(TransitionLog.objects.filter(subject=pull.subject, flow="merge").order_by("-id")[:NEWEST]),
        commits=f"{pull.url.rpartition('/pull/')[0]}/commit/",
    )
