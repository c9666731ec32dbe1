"""Which reviewer adapters exist, and the reviewers of a policy list, built of what the policy has checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.reviewers.copilot import Copilot
from convergence.reviewers.plain import Bot, Person, Team
from runs.policy.reviewers import BotEntry, CopilotEntry, PersonEntry, TeamEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from convergence.reviewers.contract import Reviewer
    from runs.policy.reviewers import ReviewerEntry


def build_reviewers(
    entries: Iterable[ReviewerEntry], members: Mapping[str, Collection[str]] | None = None
) -> tuple[Reviewer, ...]:
    """Return the adapters of the entries; ``members`` are the logins of each ``organisation/team``, as read last."""
    known = {team.lower(): logins for team, logins in (members or {}).items()}
    return tuple(_built(entry, known) for entry in entries)


def _built(entry: ReviewerEntry, members: Mapping[str, Collection[str]]) -> Reviewer:
    match entry:
        case CopilotEntry():
            return Copilot(entry.name)
        case BotEntry():
            ask = entry.request
            return Bot(
                entry.name,
                logins=entry.logins,
                login=(ask.login if ask else None) or "",
                comment=(ask.comment if ask else None) or "",
            )
        case PersonEntry():
            return Person(entry.name, login=entry.login)
        case TeamEntry():
            return Team(entry.name, team=entry.team, members=members.get(entry.team.lower(), ()))
