"""An operator's *look now*: the next look comes at once, at most once in ten seconds for a subject."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from convergence.models import PullRequest
from runs.clock import now as clock_now
from runs.contract.errors import Transient
from runs.flows.looks import subject_wake

if TYPE_CHECKING:
    from datetime import datetime

LOOK_EVERY = timedelta(seconds=10)


def pull_look(*, pull: PullRequest) -> datetime:
    """Make the driving flow look now; return the instant. Raises ``Transient`` rate_limited within ten seconds.

    A subject that nothing drives any more is left alone.
    """
    now = clock_now()
    taken = PullRequest.objects.filter(pk=pull.pk).exclude(looked_at__gt=now - LOOK_EVERY).update(looked_at=now)
    if not taken:
        last = PullRequest.objects.values_list("looked_at", flat=True).get(pk=pull.pk)
        left = LOOK_EVERY if last is None else LOOK_EVERY - (now - last)
        raise Transient(
            "rate_limited",
            f"{pull.key} was looked at a moment ago; try again in {max(1, round(left.total_seconds()))} s.",
            retry_after=max(1.0, left.total_seconds()),
        )
    subject_wake(pull.subject)
    return now
