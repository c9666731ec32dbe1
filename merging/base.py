"""The base branch: whether another pull request lands on it now, and whether what lands there still reaches anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.forge.singles import merged_pulls_of, repository
from merging.flow import MergeState
from merging.models import MergeFlow

if TYPE_CHECKING:
    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts


def base_is_busy(row: MergeFlow, base_ref: str) -> bool:
    """Whether another flow of the same repository and base is in ``merging``; the table's own constraint decides."""
    others = (
        MergeFlow.rows()
        .filter(repository_id=row.repository_id, base_ref=base_ref, state=MergeState.MERGING)
        .exclude(pk=row.pk)
    )
    return others.exists()


def base_is_dead_end(client: ForgeClient, read: PullFacts) -> bool:
    """Whether the base is not the default branch and a merged pull request of it exists: what lands reaches nobody.

    Only this positive sign counts; an open one or none is no dead end.
    """
    owner, name = read.repository.name_with_owner.split("/", 1)
    if repository(client, owner, name).default_branch == read.base_ref:
        return False
    return bool(merged_pulls_of(client, owner, name, read.base_ref))
