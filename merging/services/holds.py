"""Merge holds: what a plan keeps a ready pull request with, and releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from merging.flow import MERGE_MACHINE
from merging.models import HoldKind, MergeHold
from runs.clock import now as clock_now
from runs.flows.looks import flow_wake

if TYPE_CHECKING:
    from convergence.models import PullRequest


def hold_set(pull: PullRequest, kind: HoldKind, *, group: str, actor: str) -> MergeHold:
    """Hold the pull request; a repeat of the same group returns the hold that stands."""
    row, _ = MergeHold.objects.get_or_create(
        pull=pull, kind=kind, group=group, released_at=None, defaults={"set_by": actor[:200], "set_at": clock_now()}
    )
    return row


def hold_release(pull: PullRequest, kind: HoldKind, *, group: str, actor: str) -> bool:
    """Release the group's hold, and look at once; False when there is none."""
    with transaction.atomic():
        released = MergeHold.objects.filter(pull=pull, kind=kind, group=group, released_at__isnull=True).update(
            released_at=clock_now(), released_by=actor[:200]
        )
        if released:
            flow_wake(MERGE_MACHINE.name, subject=pull.subject)
    return bool(released)


def hold_kinds(pull: PullRequest) -> frozenset[str]:
    """The kinds that hold the pull request now."""
    return frozenset(MergeHold.objects.filter(pull=pull, released_at__isnull=True).values_list("kind", flat=True))
