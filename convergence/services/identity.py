"""Recording what a reading says about a pull request itself: names, head, base; and that it was not found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction

from convergence.decisions.schedule import gone
from convergence.forge.facts import PullState
from convergence.models import ForgeSnapshot, HeadSeen, PullRequest, Repository, RepositoryAlias
from runs.rows import row_update

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.forge.facts import PullFacts, RepositoryRef

LONGEST_TITLE = 500


def repository_seen(found: RepositoryRef, now: datetime) -> Repository:
    """The row of this repository, found by its number; a new name is taken over and the old one kept as an alias."""
    owner, _, name = found.name_with_owner.partition("/")
    row, _ = Repository.objects.get_or_create(
        forge_id=found.forge_id, defaults={"owner": owner, "name": name, "created_at": now}
    )
    if (row.owner, row.name) != (owner, name):
        with transaction.atomic():
            RepositoryAlias.objects.get_or_create(repository=row, owner=row.owner, name=row.name, since=row.created_at)
            Repository.objects.filter(pk=row.pk).update(owner=owner, name=name)
        row.owner, row.name = owner, name
    return row


def pull_columns(facts: PullFacts, known_title: str = "") -> dict[str, Any]:
    """The columns of a pull request that a reading tells; the title is never blank."""
    return {
        "node_id": facts.node_id,
        "title": (facts.title.strip() or known_title or facts.key)[:LONGEST_TITLE],
        "url": facts.url,
        "author": facts.author.login if facts.author else "",
        "head_ref": facts.head_ref,
        "head_sha": facts.head_sha or "",
        "base_ref": facts.base_ref,
        "head_repository": facts.head_repository.name_with_owner if facts.head_repository else "",
        "head_repository_id": facts.head_repository.forge_id if facts.head_repository else None,
    }


def pull_seen(pull: PullRequest, facts: PullFacts, now: datetime) -> None:
    """Take over what was read, count a gone head, and remember a head at its first sight; writes only what differs.

    A head is remembered before it is shown, so that one which is shown has been remembered.
    """
    if not _known_as(pull.repository, facts.repository):
        pull.repository = repository_seen(facts.repository, now)
    if facts.head_sha != pull.head_sha:
        head_seen(pull, facts)
    columns = pull_columns(facts, pull.title)
    if facts.state is PullState.OPEN and facts.head_sha is None:
        columns |= {"missing_count": pull.missing_count + 1, "missing_since": pull.missing_since or now}
    elif pull.missing_count:
        columns |= {"missing_count": 0, "missing_since": None}
    changed = {name: value for name, value in columns.items() if getattr(pull, name) != value}
    if changed:
        PullRequest.objects.filter(pk=pull.pk).update(**changed)
        for name, value in changed.items():
            setattr(pull, name, value)


def _known_as(row: Repository, found: RepositoryRef) -> bool:
    return row.forge_id == found.forge_id and row.full_name == found.name_with_owner


def head_seen(pull: PullRequest, facts: PullFacts) -> None:
    """Remember the head's first sight, by the server's clock."""
    if facts.head_sha:
        HeadSeen.objects.get_or_create(pull=pull, sha=facts.head_sha, defaults={"first_seen_at": facts.observed_at})


def pull_missing(pull: PullRequest, now: datetime) -> None:
    """Count one explicit not-found answer."""
    pull.missing_count += 1
    pull.missing_since = pull.missing_since or now
    PullRequest.objects.filter(pk=pull.pk).update(missing_count=pull.missing_count, missing_since=pull.missing_since)


def missing_forgotten(pull: PullRequest) -> None:
    """Begin to count anew, after a person said that the pull request is there."""
    pull.missing_count, pull.missing_since = 0, None
    PullRequest.objects.filter(pk=pull.pk).update(missing_count=0, missing_since=None)


def pull_gone(pull: PullRequest, now: datetime) -> bool:
    """Whether pull request or head was missing often and long enough to believe it."""
    return gone(pull.missing_count, pull.missing_since, now)


def snapshot_kept(pull: PullRequest, facts: PullFacts) -> None:
    """Keep the newest reading of this profile, without quoted text, for pages."""
    plain = facts.to_json()
    for name in ("reviews", "threads"):
        listing = plain.get(name)
        if listing:
            listing["items"] = [_without_text(item) for item in listing["items"]]
    plain["body"] = None
    columns = {"facts": plain, "observed_at": facts.observed_at}
    if not row_update(ForgeSnapshot, {"pull_id": pull.pk, "profile": facts.profile}, columns):
        ForgeSnapshot.objects.update_or_create(pull=pull, profile=facts.profile, defaults=columns)


def _without_text(item: dict[str, Any]) -> dict[str, Any]:
    if "comments" in item:
        return {**item, "comments": {**item["comments"], "items": []}}
    return {**item, "body": None}
