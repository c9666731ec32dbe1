"""Pull requests, fifty to a document, each with its own outcome; lists are followed for the one that has more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from convergence.forge import parsing
from convergence.forge.client import ForgeClient, GraphAnswer
from convergence.forge.dialects import dialect_of
from convergence.forge.documents.dialect import Dialect
from convergence.forge.documents.profiles import SELECTIONS, by_name, by_node_ids
from convergence.forge.facts import Profile, PullFacts, PullRef
from convergence.forge.paging import pull_listing
from convergence.forge.wire.answers import GATEWAY, alias_error
from runs.contract.errors import FactoryError, NotFound, Permanent, Transient

Outcome = PullFacts | FactoryError


def read_pulls(client: ForgeClient, profile: Profile, refs: Sequence[PullRef]) -> dict[PullRef, Outcome]:
    """Return facts or an error for every ref; nothing is raised for a single one, and nothing is left out.

    Those with a node id share documents (``backlog`` and ``submit``: one each), the others are read by name. A
    document that GitHub gives up on is halved, 50 → 25 → 12 → 6; below that the rest answers ``Transient``.
    """
    distinct = list(dict.fromkeys(refs))
    try:
        reader = _Reader(client, profile, dialect_of(client))
    except FactoryError as error:
        return dict.fromkeys(distinct, error)
    results = reader.shared([ref for ref in distinct if ref.node_id])
    results.update({ref: reader.named(ref) for ref in distinct if not ref.node_id})
    return results


def read_pull(client: ForgeClient, profile: Profile, ref: PullRef) -> PullFacts:
    """Return the facts of one pull request, or raise its error."""
    outcome = read_pulls(client, profile, [ref])[ref]
    if isinstance(outcome, FactoryError):
        raise outcome
    return outcome


def too_much(error: FactoryError) -> bool:
    """Whether asking for less may help: a time limit, or 502 to 504 of a gateway."""
    return isinstance(error, Transient) and (
        bool(error.details.get("timed_out")) or error.details.get("status") in GATEWAY
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """One reading of one profile."""

    client: ForgeClient
    profile: Profile
    dialect: Dialect

    def shared(self, refs: Sequence[PullRef]) -> dict[PullRef, Outcome]:
        results: dict[PullRef, Outcome] = {}
        shares = SELECTIONS[self.profile].shared
        sizes = self.client.batch_sizes
        waiting = list(refs)
        while waiting:
            chunk = waiting[:1]
            try:
                credential = self.client.credential_id()
                chunk = waiting[: sizes.now(credential) if shares else 1]
                observed_at = self.client.now()
                answer = self.client.query(
                    by_node_ids(self.profile, self.dialect, len(chunk)),
                    {f"i{n}": ref.node_id for n, ref in enumerate(chunk)},
                    halving=len(chunk) > 1,
                )
            except FactoryError as error:
                if len(chunk) > 1 and too_much(error):
                    smaller = sizes.halve(credential, len(chunk))
                    if smaller is not None:
                        self.client.governor.batch_sized(credential, smaller)
                        continue
                    self.client.gave_up()
                results.update(dict.fromkeys(waiting, error))
                return results
            if shares:
                grown = sizes.succeeded(credential)
                if grown:
                    self.client.governor.batch_sized(credential, grown)
            waiting = waiting[len(chunk) :]
            for number, ref in enumerate(chunk):
                results[ref] = self._outcome(answer, f"p{number}", observed_at)
        return results

    def named(self, ref: PullRef) -> Outcome:
        observed_at = self.client.now()
        variables = {"owner": ref.owner, "name": ref.name, "number": ref.number}
        try:
            answer = self.client.query(by_name(self.profile, self.dialect), variables)
        except FactoryError as error:
            return error
        return self._outcome(answer, "p0", observed_at)

    def _outcome(self, answer: GraphAnswer, alias: str, observed_at: datetime) -> Outcome:
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
            return self._facts(node, errors, observed_at)
        except (KeyError, TypeError, ValueError) as error:
            return Permanent("forge_query_rejected", f"GitHub's answer has another shape than was asked for: {error!r}")

    def _facts(self, node: Mapping[str, Any], errors: Sequence[Mapping[str, Any]], observed_at: datetime) -> Outcome:
        """Return the facts; an error inside a list makes that list incomplete, one elsewhere makes all unread."""
        inside = [[part for part in error["path"][1:] if part != "pullRequest"][:1] for error in errors]
        listings, explained = {}, 0
        for connection, _ in SELECTIONS[self.profile].connections:
            hits = sum(path[:1] == [name] for path in inside for name in connection.answer_names)
            explained += hits
            listings[parsing.LISTING_FIELDS[connection.field]] = pull_listing(
                self.client, self.dialect, connection, node, broken=hits > 0
            )
        if explained < len(inside):
            return Transient("forge_unread", f"GitHub could not read a part of it: {errors[0].get('message', '')}")
        return parsing.pull_facts(node, self.profile, observed_at, listings)
