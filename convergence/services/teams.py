"""Who is in the teams that are reviewers: read from the forge once an hour, before a review is judged."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from convergence.forge.paging import rest_list
from convergence.models import ForgeTeam
from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, Transient
from runs.policy.reviewers import TeamEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from convergence.forge.client import ForgeClient
    from runs.policy.reviewers import ReviewerEntry

_log = logging.getLogger(__name__)

BELIEVED = timedelta(hours=1)
FAILED_AFTER = timedelta(minutes=5)


def teams_of(entries: Iterable[ReviewerEntry]) -> list[str]:
    """The teams among the reviewers, as ``organisation/slug`` in lower case."""
    return [entry.team.lower() for entry in entries if isinstance(entry, TeamEntry)]


def team_members(teams: Iterable[str]) -> dict[str, list[str]]:
    """The members of each team as read last; one read, none without teams."""
    wanted = list(teams)
    rows = ForgeTeam.objects.filter(team__in=wanted) if wanted else ()
    return {row.team: row.members for row in rows}


def teams_refreshed(client: ForgeClient, teams: Iterable[str]) -> None:
    """Read the members of teams whose list is older than an hour.

    A list that was read before stays in use while the forge cannot be asked. Raises ``Transient`` where none was ever
    read and asking again may help: a member's review would be taken for a stranger's.
    """
    now = clock_now()
    for team in teams:
        row = ForgeTeam.objects.filter(team=team).first()
        if row is not None and now - row.checked_at < (FAILED_AFTER if row.fault else BELIEVED):
            continue
        told: dict[str, object] = {"checked_at": now, "fault": ""}
        try:
            told |= {"members": _members(client, team), "read_at": now}
        except Transient:
            if row is None or row.read_at is None:
                raise
            continue
        except FactoryError as error:
            told["fault"] = f"{error.code}: {error.message}"[:500]
            _log.warning("the members of the team %s cannot be read: %s", team, error.message)
        ForgeTeam.objects.update_or_create(team=team, defaults=told)


def _members(client: ForgeClient, team: str) -> list[str]:
    organisation, _, slug = team.partition("/")
    listed = rest_list(client, f"orgs/{organisation}/teams/{slug}/members")
    if not listed.complete:
        raise Transient("forge_unread", f"the members of the team {team} could not be read whole")
    return [item["login"] for item in listed.items]
