"""What every way of landing shares: what a reading says before and after a try, and what a refusal means."""

from http import HTTPStatus
from typing import Any

from convergence.forge.facts import PullFacts, PullState
from convergence.forge.writes.contract import READ_BACK_SECONDS, Observed
from runs.contract.errors import Invalid, NotFound, Permanent, Refused

BASE_MODIFIED = "base branch was modified"
REFUSALS = (Refused, Invalid, Permanent, NotFound)  # definite answers; everything else may have had its effect
HEAD_MODIFIED = ("head branch was modified", "head oid", "expected head")
BEHIND = ("not up to date", "not up-to-date", "out-of-date", "out of date", "behind the base")


def ended(outcome: str, reason: str, **detail: Any) -> Observed:
    """The end of a try: outcome and reason are those of a merge attempt."""
    return Observed(outcome, {"reason": reason, **detail})


def observed(facts: PullFacts, head_sha: str, *, sent: bool) -> Observed | None:
    """The end that a reading shows; before a try also that the head is another or that it is a draft."""
    if facts.state is PullState.MERGED:
        reason = "landed" if sent else "already_merged"
        return ended("merged", reason, merge_commit_sha=facts.merge_commit_sha, head_sha=facts.head_ref_oid)
    if facts.state is PullState.CLOSED:
        return ended("abandoned", "closed")
    if sent:
        return None
    if facts.is_draft:
        return ended("retry", "not_ready", message="it is a draft")
    if facts.head_sha != head_sha:
        return ended("retry", "head_modified", head_sha=facts.head_sha)
    return None


def refused(error: Refused | Invalid | Permanent | NotFound) -> Observed:
    """What a refusal means: by its words a state that may pass, else that the forge does not let us."""
    if isinstance(error, Permanent | NotFound):
        return ended("blocked", "forbidden", message=error.message, code=error.code)
    words = error.message.lower()
    if BASE_MODIFIED in words:
        reason = "base_modified"
    elif any(phrase in words for phrase in HEAD_MODIFIED) or (
        error.details.get("status") == HTTPStatus.CONFLICT and "head" in words
    ):
        reason = "head_modified"
    elif any(phrase in words for phrase in BEHIND):
        reason = "behind"
    else:
        reason = "not_ready"
    return ended("retry", reason, message=error.message)


def gave_up(looks: int) -> Observed | None:
    """After the last read-back the flow tries anew."""
    return ended("retry", "transient", looks=looks) if looks > len(READ_BACK_SECONDS) else None
