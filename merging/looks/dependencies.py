"""What the pull requests that others wait for have come to, read for all rows of a look together."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from convergence.forge.facts import Profile, PullFacts, PullRef, PullState
from convergence.forge.reading import read_pulls
from convergence.forge.singles import issue_exists, repository
from merging.decisions.dependencies import CYCLE, Standing, declared
from merging.flow import DEPENDENCY_STATES
from merging.models import Dependency
from merging.selectors.dependencies import closes_cycle
from merging.services.dependencies import (
    dependencies_declared,
    dependency_no_pull,
    dependency_noted,
    dependency_seen,
    dependency_unreadable,
    own_key,
)
from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from convergence.forge.client import ForgeClient
    from merging.models import MergeFlow

SECOND_READING = timedelta(seconds=60)  # between the two readings after which a missing number is believed


def dependencies_look(
    client: ForgeClient, flows: Sequence[MergeFlow], outcomes: Mapping[int, PullFacts | FactoryError]
) -> dict[int, list[str]]:
    """Follow the bodies of the flows that wait, as they were read; return each one's warnings about its body."""
    looked = []
    for flow in flows:
        read = outcomes.get(flow.pk)
        if flow.state in DEPENDENCY_STATES and isinstance(read, PullFacts) and read.state is PullState.OPEN:
            looked.append((flow, read))
    return dependencies_follow(client, looked)


def dependencies_follow(client: ForgeClient, looked: Sequence[tuple[MergeFlow, PullFacts]]) -> dict[int, list[str]]:
    """Take over what the bodies declare and read what is in the way; return each flow's warnings about its body.

    One request reads all that were read before; a new one takes a request of its own. What cannot be read now keeps
    how it stood.
    """
    now = clock_now()
    warnings = {flow.pk: _follow(client, flow, read, now) for flow, read in looked}
    waited_for = list(
        Dependency.objects.in_the_way()
        .select_related("pull__repository")
        .filter(pull__in=[flow.pull_id for flow, _ in looked])
    )
    _read(client, waited_for, now)
    for row in (
        Dependency.objects.in_the_way()
        .select_related("pull__repository")
        .filter(pk__in=[each.pk for each in waited_for], standing=Standing.WAITING)
    ):
        note = CYCLE if closes_cycle(row, own_key(row.pull)) else "" if row.note == CYCLE else row.note
        dependency_noted(row, note)
    return warnings


def _follow(client: ForgeClient, flow: MergeFlow, read: PullFacts, now: datetime) -> list[str]:
    if read.body is None:
        return list(flow.dependency_warnings)
    named = declared(read.body, repository=read.repository.name_with_owner, server_url=client.config.server_url)
    return dependencies_declared(flow.pull, read.body, named, now=now)


def _read(client: ForgeClient, rows: Sequence[Dependency], now: datetime) -> None:
    if not rows:
        return
    refs = {row.pk: _ref(row) for row in rows}
    found = read_pulls(client, Profile.ALIVE, list(refs.values()))
    for row in rows:
        outcome = found[refs[row.pk]]
        if isinstance(outcome, PullFacts):
            dependency_seen(row, outcome, now=now)
        elif isinstance(outcome, NotFound):
            _missing(client, row, now)


def _ref(row: Dependency) -> PullRef:
    name, _, _ = row.reference.partition("#")
    owner, _, short = name.partition("/")
    return PullRef(owner=owner, name=short, number=row.number, node_id=row.node_id or None)


def _missing(client: ForgeClient, row: Dependency, now: datetime) -> None:
    """Tell a repository that cannot be read from one that has no such pull request; a passing fault changes nothing."""
    ref = _ref(row)
    try:
        repository(client, ref.owner, ref.name)
    except NotFound:
        dependency_unreadable(row, now=now)
        return
    except FactoryError as error:
        if error.code == "forge_forbidden":
            dependency_unreadable(row, now=now)
        return
    try:
        issue = issue_exists(client, ref.owner, ref.name, ref.number)
    except FactoryError:
        return
    again = row.missing_since is not None and now - row.missing_since >= SECOND_READING
    dependency_no_pull(row, sure=issue or again, now=now)
