"""Write into the conversation of a pull request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from convergence.forge.client import ForgeClient
from convergence.forge.paging import rest_list
from convergence.forge.writes.contract import Observed, Target, marked, marker, text
from convergence.forge.writes.threads import DONE, given_up
from runs.contract.errors import Transient


@dataclass(frozen=True, slots=True)
class IssueComment:
    """A comment, known again by its marker."""

    target: Target
    body: str
    key: str

    looks_first = False
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:
        """Return the write of stored arguments."""
        return cls(target=Target.from_json(arguments.get("pull")), body=text(arguments, "body"), key=key)

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` when a comment carries the marker."""
        comments = rest_list(client, f"{self.target.issue_path}/comments")
        mark = marker(self.key)
        for item in comments.items:
            if mark in (item.get("body") or ""):
                return Observed(DONE, {"url": item["html_url"], "comment_id": item["id"]})
        if not comments.complete:
            raise Transient("forge_unread", "not every comment could be read, so it may be there")
        return None

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Post it."""
        client.rest("POST", f"{self.target.issue_path}/comments", json={"body": marked(self.body, self.key)})
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)
