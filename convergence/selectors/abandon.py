"""Whether the work of a generation is still wanted, asked by its agent with a token."""

from __future__ import annotations

from dataclasses import dataclass

from convergence.flow import PullState
from convergence.models import PullRequestGeneration
from runs.contract.errors import Invalid, NotFound

OVER = frozenset({PullState.ABANDONED, PullState.MERGED})


@dataclass(frozen=True, slots=True)
class AbandonState:
    """The answer: ``abandoned`` when the pull request is over or a newer generation exists."""

    pr_key: str
    state: str
    abandoned: bool


def abandon_state(token: str) -> AbandonState:
    """One indexed read; raises ``Invalid`` missing_token and ``NotFound`` unknown_token, never with the token."""
    if not token.strip():
        raise Invalid("missing_token", "The token is missing: ask with ?token=…")
    found = PullRequestGeneration.objects.select_related("pull__repository").filter(abandon_token=token.strip()).first()
    if found is None:
        raise NotFound("unknown_token", "No submission has this token; stop and push nothing.")
    pull = found.pull
    over = pull.state in OVER or pull.generation != found.number
    return AbandonState(pr_key=pull.key, state=pull.state, abandoned=over)
