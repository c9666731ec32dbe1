"""The client to the forge and the people of a repository, built from settings and policy."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from django.conf import settings

from convergence.forge.client import ForgeClient
from convergence.forge.config import ForgeConfig
from convergence.forge.facts import PullRef
from convergence.forge.governor.pace import Pace
from convergence.forge.governor.purposes import Purpose
from convergence.reviewers.registry import build_reviewers
from convergence.services.credentials import credential_checked
from convergence.services.forge_answers import SharedShelf, answers_prune
from convergence.services.forge_budgets import SharedBook
from convergence.services.teams import team_members, teams_of
from convergence.trust import People
from runs.clock import now
from runs.contract.errors import FactoryError
from runs.contract.stamp import VERSION
from runs.contract.tokens import TokenSource
from runs.policy import policy

if TYPE_CHECKING:
    from convergence.models import PullRequest

_lock = threading.Lock()
_clients: dict[tuple[object, ...], ForgeClient] = {}
_logins: dict[tuple[str, str], str] = {}


def forge_client(purpose: Purpose = Purpose.WRITE) -> ForgeClient:
    """The one client of this process for the present settings, speaking for this purpose."""
    config = settings.FACTORY
    rules = policy().forge
    key = (config.github_api_url, config.github_graphql_url, config.github_server_url, config.forge_tokens, rules)
    with _lock:
        if key not in _clients:
            stated = {"GITHUB_TOKEN": config.forge_tokens[0]} if config.forge_tokens else None
            _clients[key] = ForgeClient(
                ForgeConfig(
                    api_url=config.github_api_url,
                    graphql_url=config.github_graphql_url,
                    server_url=config.github_server_url,
                    tokens=TokenSource(config.github_server_url, stated),
                    version=VERSION,
                    max_batch=rules.max_batch,
                    max_in_flight=rules.max_in_flight,
                    reserve=rules.reserve_percent / 100,
                    pace=Pace(per_minute=rules.writes_per_minute, per_hour=rules.writes_per_hour),
                ),
                now=now,
                book=SharedBook(),
                shelf=SharedShelf(),
            )
        return _clients[key].serving(purpose)


def own_login(client: ForgeClient) -> str:
    """The login behind the token, asked once a day for each credential; blank while it is not known."""
    try:
        key = (client.config.api_url, client.credential_id())
        if key not in _logins:
            login = credential_checked(client).login
            if not login:
                return ""
            _logins[key] = login
        return _logins[key]
    except FactoryError:
        return ""  # no token at all, which doctor and console tell


def forge_pass() -> None:
    """Ask once a day whose the token is and when it ends, and throw away answers that nobody used."""
    answers_prune()
    with contextlib.suppress(FactoryError):  # no token at all, which doctor and console tell
        credential_checked(forge_client(Purpose.POLL))


def people_of(repository: str, *, own: str = "") -> People:
    """Whose words count in ``owner/repo`` under the policy in force."""
    current = policy()
    entries = current.reviewers_for(repository)
    return People(
        reviewers=build_reviewers(entries, team_members(teams_of(entries))),
        associations=frozenset(current.trust.associations),
        authors=frozenset(login.lower() for login in current.trust.authors),
        blocked=frozenset(login.lower() for login in current.trust.blocked),
        own=own,
    )


def pull_ref(pull: PullRequest) -> PullRef:
    """How the pull request is asked for: by node id, so that a rename changes nothing."""
    return PullRef(
        owner=pull.repository.owner,
        name=pull.repository.name,
        number=pull.number,
        node_id=pull.node_id or None,
    )


def pull_target(pull: PullRequest) -> dict[str, object]:
    """The pull request as the JSON argument of a write."""
    repository = pull.repository
    return {"owner": repository.owner, "name": repository.name, "number": pull.number, "node_id": pull.node_id}
