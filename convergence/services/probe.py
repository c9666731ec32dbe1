"""Asking a reviewer again that the forge refused to request."""

from __future__ import annotations

from convergence.flow import ConvergenceState
from convergence.forge_access import people_of
from convergence.models import ConvergenceFlow, Repository, ReviewerStatus
from runs.contract.errors import NotFound
from runs.flows.looks import flow_wake
from runs.transactions import joined_transaction


def reviewer_probe(*, repository: str, reviewer: str) -> ReviewerStatus | None:
    """Forget that the reviewer was refused in ``owner/repo``; flows that wait there look, and ask, at once.

    Returns the mark that was cleared, None where there was none. Raises ``NotFound`` unknown_repository or
    unknown_reviewer.
    """
    owner, _, name = repository.partition("/")
    found = Repository.objects.filter(owner__iexact=owner, name__iexact=name).order_by("-id").first()
    if found is None:
        raise NotFound("unknown_repository", f"No pull request of {repository} was submitted here.")
    known = [each.name for each in people_of(found.full_name).reviewers]
    if reviewer not in known:
        raise NotFound(
            "unknown_reviewer",
            f"{reviewer!r} is no reviewer of {found.full_name}; choose {', '.join(known) or 'none'}.",
        )
    mark = ReviewerStatus.objects.filter(repository=found, reviewer=reviewer).first()
    with joined_transaction():
        ReviewerStatus.objects.filter(repository=found, reviewer=reviewer).update(
            unavailable_until=None, ignored_count=0, detail=""
        )
        flow_wake(ConvergenceFlow.machine.name, pull__repository=found, state=ConvergenceState.AWAIT_REVIEW)
    return mark
