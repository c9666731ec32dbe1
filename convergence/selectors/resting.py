"""Why a pull request that converged goes no further."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.flow import PullState
from convergence.services.move import REVIEW_ONLY
from convergence.texts import rests_sentence

if TYPE_CHECKING:
    from convergence.models import PullRequest, PullRequestGeneration


def rests_because(pull: PullRequest, generation: PullRequestGeneration | None) -> str | None:
    """Why it rests after its review, and what a person may do; None while anything drives it or it ended otherwise."""
    if generation is None or pull.state != PullState.CONVERGED or generation.outcome != REVIEW_ONLY:
        return None
    return rests_sentence(submitted_for_review=not generation.auto_merge)
