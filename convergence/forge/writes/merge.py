"""Merge exactly the head that was judged, and report only what is read back.

Outcomes and reasons are those of a merge attempt: ``merged`` (``landed``, ``already_merged``), ``retry``
(``base_modified``, ``transient``, ``behind``, ``head_modified``, ``not_ready``), ``blocked`` (``forbidden``),
``abandoned`` (``closed``). The reason stands in the detail.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self

from convergence.forge.client import ForgeClient
from convergence.forge.facts import Profile, PullState
from convergence.forge.reading import read_pull
from convergence.forge.writes.contract import READ_BACK_SECONDS, Observed, Target, text
from runs.contract.errors import Invalid, NotFound, Permanent, Refused

METHODS = frozenset({"squash", "merge", "rebase"})
BASE_MODIFIED = "base branch was modified"
HEAD_MODIFIED = "head branch was modified"
BEHIND = ("not up to date", "not up-to-date", "out-of-date", "out of date", "behind the base")


@dataclass(frozen=True, slots=True)
class MergePull:
    """``head_sha`` is the head of the decision; GitHub refuses another. Title and body are for ``squash`` alone."""

    target: Target
    head_sha: str
    method: str
    title: str | None
    body: str | None

    looks_first = True
    resends = False  # after a lost answer the flow decides anew on what is read

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - the merge itself is the mark
        """Return the write of stored arguments."""
        method = text(arguments, "method")
        if method not in METHODS:
            raise Invalid("invalid_effect", f"there is no merge method {method!r}", details={"field": "method"})
        return cls(
            target=Target.from_json(arguments.get("pull")),
            head_sha=text(arguments, "head_sha"),
            method=method,
            title=arguments.get("title"),
            body=arguments.get("body"),
        )

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """The end if GitHub shows one; before a try also that the head is another or that it is a draft."""
        facts = read_pull(client, Profile.ALIVE, self.target.ref)
        if facts.state is PullState.MERGED:
            reason = "landed" if sent else "already_merged"
            return _end("merged", reason, merge_commit_sha=facts.merge_commit_sha, head_sha=facts.head_ref_oid)
        if facts.state is PullState.CLOSED:
            return _end("abandoned", "closed")
        if sent:
            return None
        if facts.is_draft:
            return _end("retry", "not_ready", message="it is a draft")
        if facts.head_sha != self.head_sha:
            return _end("retry", "head_modified", head_sha=facts.head_sha)
        return None

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Send with the expected head; a refusal means what its words say."""
        wanted: dict[str, Any] = {"sha": self.head_sha, "merge_method": self.method}
        if self.title is not None:
            wanted["commit_title"] = self.title
        if self.body is not None:
            wanted["commit_message"] = self.body
        try:
            client.rest("PUT", f"{self.target.pull_path}/merge", json=wanted)
        except (Refused, Invalid) as error:
            return _refused(error)
        except (Permanent, NotFound) as error:
            return _end("blocked", "forbidden", message=error.message, code=error.code)
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """After the last read-back the flow tries anew."""
        return _end("retry", "transient", looks=looks) if looks > len(READ_BACK_SECONDS) else None


def _refused(error: Refused | Invalid) -> Observed:
    words = error.message.lower()
    if BASE_MODIFIED in words:
        reason = "base_modified"
    elif HEAD_MODIFIED in words or (error.details.get("status") == HTTPStatus.CONFLICT and "head" in words):
        reason = "head_modified"
    elif any(phrase in words for phrase in BEHIND):
        reason = "behind"
    else:
        reason = "not_ready"
    return _end("retry", reason, message=error.message)


def _end(outcome: str, reason: str, **detail: Any) -> Observed:
    return Observed(outcome, {"reason": reason, **detail})
