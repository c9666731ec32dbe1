"""Finding a pull request by the name that people give it, also by one that its repository had before."""

from __future__ import annotations

import re

from convergence.models import PullRequest, Repository, RepositoryAlias
from runs.contract.errors import NotFound

LABEL = re.compile(r"([A-Za-z0-9-]+)/([A-Za-z0-9._-]+)#([0-9]{1,10})")


def pull_named(owner: str, name: str, number: int) -> PullRequest:
    """The pull request; the repository that has the name now wins over one that had it. ``NotFound`` otherwise."""
    pulls = PullRequest.objects.select_related("repository")
    now = Repository.objects.filter(owner__iexact=owner, name__iexact=name).order_by("-id").first()
    if now is not None:
        found = pulls.filter(repository=now, number=number).first()
        if found is not None:
            return found
    old = RepositoryAlias.objects.filter(owner__iexact=owner, name__iexact=name).order_by("-since").first()
    found = pulls.filter(repository=old.repository_id, number=number).first() if old is not None else None
    if found is None:
        raise NotFound(
            "unknown_pull_request",
            f"{owner}/{name}#{number} was never submitted here.",
            details={"prKey": f"{owner}/{name}#{number}"},
        )
    return found


def pull_subject(label: str) -> str | None:
    """The stable reference of ``owner/repo#12``; None for a label of another form or an unknown one."""
    match = LABEL.fullmatch(label)
    if match is None:
        return None
    try:
        return pull_named(match[1], match[2], int(match[3])).subject
    except NotFound:
        return None
