"""Merge exactly the head that was judged, and report only what is read back.

Outcomes and reasons are those of a merge attempt: ``merged`` (``landed``, ``already_merged``), ``retry``
(``base_modified``, ``transient``, ``behind``, ``head_modified``, ``not_ready``), ``blocked`` (``forbidden``),
``abandoned`` (``closed``). The reason stands in the detail.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from convergence.forge.client import ForgeClient
from convergence.forge.facts import Profile
from convergence.forge.reading import read_pull
from convergence.forge.writes.contract import Observed, Target, text
from convergence.forge.writes.landing import REFUSALS, gave_up, observed, refused
from runs.contract.errors import Invalid

METHODS = frozenset({"squash", "merge", "rebase"})


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
        return observed(read_pull(client, Profile.ALIVE, self.target.ref), self.head_sha, sent=sent)

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Send with the expected head; a refusal means what its words say."""
        wanted: dict[str, Any] = {"sha": self.head_sha, "merge_method": self.method}
        if self.title is not None:
            wanted["commit_title"] = self.title
        if self.body is not None:
            wanted["commit_message"] = self.body
        try:
            client.rest("PUT", f"{self.target.pull_path}/merge", json=wanted)
        except REFUSALS as error:
            return refused(error)
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """After the last read-back the flow tries anew."""
        return gave_up(looks)
