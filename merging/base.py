"""The base branch: who else lands on it, whom its rules let in, and whether what lands there still reaches anybody."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from convergence.forge.singles import compare, merged_pulls_of, repository
from merging.flow import MergeState
from merging.models import MergeFlow

if TYPE_CHECKING:
    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts
    from runs.policy import Merging


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


def base_wants_approval(policy: Merging, base_ref: str) -> bool:
    """Whether a person has to let each head into this base."""
    return any(fnmatchcase(base_ref, pattern) for pattern in policy.approval_bases)


def head_is_behind(client: ForgeClient, read: PullFacts) -> bool:
    """Whether the head lacks commits of its base; unknown is no reason to update."""
    if not read.base_sha or not read.head_sha:
        return False
    owner, name = read.repository.name_with_owner.split("/", 1)
    return compare(client, owner, name, read.base_sha, read.head_sha).behind_by > 0
