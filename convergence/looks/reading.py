"""Reading the rows of one look from the forge, each in the profile of its state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.flow import ConvergenceState as S
from convergence.forge.facts import Profile, PullFacts, PullState
from convergence.forge.governor.purposes import Purpose
from convergence.forge.reading import read_pulls
from convergence.forge_access import pull_ref
from convergence.guards import PullSeen
from convergence.models import PullRequest
from convergence.trust import Standing
from runs.contract.errors import FactoryError, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from convergence.decisions.reviews import KnownReview
    from convergence.forge.client import ForgeClient
    from convergence.models import ConvergenceFlow
    from convergence.trust import People

PROFILES: Mapping[str, Profile] = {
    S.CAPTURE_HEAD: Profile.BACKLOG,
    S.REVIEW_ROUND: Profile.ALIVE,
    S.CHECK_PROGRESS: Profile.ALIVE,
    S.AWAIT_REVIEW: Profile.WATCH,
    S.CONVERGE_GATE: Profile.BACKLOG,
    S.SCOPE_CHECK: Profile.ALIVE,
    S.AWAIT_ANSWER: Profile.ALIVE,
}
# What a request for a row of the state is for; any other state's is a mere poll.
PURPOSES: Mapping[str, Purpose] = {S.CAPTURE_HEAD: Purpose.ROUND, S.CONVERGE_GATE: Purpose.GATE}
SEEN = {PullState.OPEN: PullSeen.OPEN, PullState.MERGED: PullSeen.MERGED, PullState.CLOSED: PullSeen.CLOSED}
Outcome = PullFacts | FactoryError


def pulls_loaded(rows: Sequence[ConvergenceFlow]) -> dict[int, PullRequest]:
    """The pull requests of the rows by their key, read at once."""
    wanted = [row.pull_id for row in rows]
    return PullRequest.objects.select_related("repository").in_bulk(wanted)


def rows_read(
    client: ForgeClient, rows: Sequence[ConvergenceFlow], pulls: Mapping[int, PullRequest]
) -> dict[int, Outcome]:
    """Facts or an error for each row, by its key; rows of one profile share requests."""
    outcomes: dict[int, Outcome] = {}
    kinds = {row.pk: (PROFILES[row.state], PURPOSES.get(row.state, Purpose.POLL)) for row in rows}
    for profile, purpose in dict.fromkeys(kinds.values()):
        refs = {row.pk: pull_ref(pulls[row.pull_id]) for row in rows if kinds[row.pk] == (profile, purpose)}
        found = read_pulls(client.serving(purpose), profile, list(refs.values()))
        outcomes |= {key: found[ref] for key, ref in refs.items()}
    return outcomes


def seen_of(facts: PullFacts | None, error: FactoryError | None) -> PullSeen:
    """How a look found the pull request, from what it read or why it read nothing."""
    if facts is not None:
        return SEEN[facts.state]
    return PullSeen.MISSING if isinstance(error, NotFound) else PullSeen.UNREAD


def may_matter(facts: PullFacts, known: Sequence[KnownReview], people: People) -> bool:
    """Whether the short reading of a wait shows a review that needs the long one: new, changed, or not consumed yet."""
    if facts.reviews is None:
        return False
    recorded = {review.forge_id: review for review in known}
    for review in facts.reviews.items:
        if review.submitted_at is None:
            continue
        standing = people.standing(review.author, review.association)
        if standing not in {Standing.REVIEWER, Standing.TRUSTED}:
            continue
        seen = recorded.get(str(review.id))
        if seen is None or seen.state != review.state:
            return True
        of_head = bool(seen.counts_for) and seen.counts_for == facts.head_sha
        if not seen.consumed and (of_head or standing is Standing.TRUSTED):
            return True
    return False
