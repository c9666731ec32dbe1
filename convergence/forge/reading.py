"""Pull requests, fifty to a document, each with its own outcome; lists are followed for the one that has more."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from convergence.forge import parsing
from convergence.forge.answers import GATEWAY, alias_error
from convergence.forge.client import ForgeClient, GraphAnswer
from convergence.forge.dialects import dialect_of
from convergence.forge.documents.dialect import Dialect
from convergence.forge.documents.profiles import SELECTIONS, by_name, by_node_ids
from convergence.forge.facts import Profile, PullFacts, PullRef
from convergence.forge.paging import pull_listing
from runs.contract.errors import FactoryError, NotFound, Permanent, Transient

Outcome = PullFacts | FactoryError


def read_pulls(client: ForgeClient, profile: Profile, refs: Sequence[PullRef]) -> dict[PullRef, Outcome]:
    """Return facts or an error for every ref; nothing is raised for a single one, and nothing is left out.

    Those with a node id share documents (``backlog`` and ``submit``: one each), the others are read by name. A
    document that GitHub gives up on is halved, 50 → 25 → 12 → 6; below that the rest answers ``Transient``.
    """
    results: dict[PullRef, Outcome] = {}
    try:
        dialect = dialect_of(client)
    except FactoryError as error:
        return dict.fromkeys(refs, error)
    distinct = list(dict.fromkeys(refs))
    _read_shared(client, profile, dialect, [ref for ref in distinct if ref.node_id], results)
    for ref in distinct:
        if not ref.node_id:
            results[ref] = _read_named(client, profile, dialect, ref)
    return results


def read_pull(client: ForgeClient, profile: Profile, ref: PullRef) -> PullFacts:
    """Return the facts of one pull request, or raise its error."""
    outcome = read_pulls(client, profile, [ref])[ref]
    if isinstance(outcome, FactoryError):
        raise outcome
    return outcome


def _read_shared(
    client: ForgeClient, profile: Profile, dialect: Dialect, refs: Sequence[PullRef], results: dict[PullRef, Outcome]
) -> None:
    shared = SELECTIONS[profile].shared
    waiting = list(refs)
    while waiting:
        try:
            credential = client.credential_id()
            size = client.batch_sizes.now(credential) if shared else 1
            chunk = waiting[:size]
            observed_at = client.now()
            answer = client.query(
                by_node_ids(profile, dialect, len(chunk)),
                {f"i{n}": ref.node_id for n, ref in enumerate(chunk)},
                halving=len(chunk) > 1,
            )
        except FactoryError as error:
            if shared and _too_much(error) and client.batch_sizes.halve(credential, len(chunk)) is not None:
                continue
            results.update(dict.fromkeys(waiting, error))
            return
        if shared:
            client.batch_sizes.succeeded(credential)
        waiting = waiting[len(chunk) :]
        for number, ref in enumerate(chunk):
            results[ref] = _outcome(client, profile, dialect, answer, f"p{number}", observed_at)


def _too_much(error: FactoryError) -> bool:
    """Whether asking for less may help: a time limit or a gateway's 502–504."""
    return isinstance(error, Transient) and (
        bool(error.details.get("timed_out")) or error.details.get("status") in GATEWAY
    )


def _read_named(client: ForgeClient, profile: Profile, dialect: Dialect, ref: PullRef) -> Outcome:
    observed_at = client.now()
    variables = {"owner": ref.owner, "name": ref.name, "number": ref.number}
    try:
        answer = client.query(by_name(profile, dialect), variables)
    except FactoryError as error:
        return error
    return _outcome(client, profile, dialect, answer, "p0", observed_at)


def _outcome(
    client: ForgeClient, profile: Profile, dialect: Dialect, answer: GraphAnswer, alias: str, observed_at: datetime
) -> Outcome:
    """Return what one alias says. Missing without an error is unread, never gone."""
    errors = [error for error in answer.errors if error["path"][0] == alias]
    node = answer.data.get(alias)
    if node is not None and "pullRequest" in node:
        node = node["pullRequest"]
    if node is None:
        whole = [error for error in errors if error["path"][1:] in ([], ["pullRequest"])]
        if whole:
            return alias_error(whole[0])
        return Transient("forge_unread", "GitHub left this pull request out of its answer")
    if node["__typename"] != "PullRequest":
        return NotFound("not_a_pull_request", f"this is a {node['__typename']}, not a pull request")
    try:
        return _facts(client, profile, dialect, node, errors, observed_at)
    except (KeyError, TypeError, ValueError) as error:
        return Permanent("forge_query_rejected", f"GitHub's answer has another shape than was asked for: {error!r}")


def _facts(
    client: ForgeClient,
    profile: Profile,
    dialect: Dialect,
    node: Mapping[str, Any],
    errors: Sequence[Mapping[str, Any]],
    observed_at: datetime,
) -> Outcome:
    """Return the facts; an error inside a list makes that list incomplete, one elsewhere makes the rest unread."""
    inside = [[part for part in error["path"][1:] if part != "pullRequest"] for error in errors]
    listings, explained = {}, 0
    for connection, _ in SELECTIONS[profile].connections:
        names = (
            {connection.field, "headCommits", "statusCheckRollup"}
            if connection.field == "contexts"
            else {connection.field}
        )
        hits = [path for path in inside if path and path[0] in names]
        explained += len(hits)
        listings[parsing.LISTING_FIELDS[connection.field]] = pull_listing(
            client, dialect, connection, node["id"], node, broken=bool(hits)
        )
    if explained < len(inside):
        return Transient("forge_unread", f"GitHub could not read a part of it: {errors[0].get('message', '')}")
    return parsing.pull_facts(node, profile, observed_at, listings)
