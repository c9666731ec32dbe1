"""The tab of a pull request that shows its merge: verdict, waits, lane, tries and the way so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from factory_site.console.submissions import new_submission
from merging.models import Dependency, MergeRemedy
from merging.selectors import merge_detail
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
    dependencies: Sequence[tuple[Dependency, str]]  # each with the id of the form that drops it
    remedies: Sequence[MergeRemedy]
    timeline: Sequence[TransitionLog]
    commits: str  # the address below which commits are shown


def merge_tab(pull: PullRequest) -> MergeTab:
    """Everything of the tab but the merge attempts; the number of queries does not grow with its rows."""
    detail = merge_detail(pull)
    return MergeTab(
        detail=detail,
        judged=detail["mergeability"] or {},
        dependencies=[(row, new_submission()) for row in Dependency.objects.filter(pull=pull).order_by("id")[:NEWEST]],
        remedies=list(MergeRemedy.objects.filter(flow__pull=pull).order_by("-id")[:NEWEST]),
        timeline=list(TransitionLog.objects.filter(subject=pull.subject, flow="merge").order_by("-id")[:NEWEST]),
        commits=f"{pull.url.rpartition('/pull/')[0]}/commit/",
    )
