"""Enter the forge's merge queue at exactly the head that was judged, or leave it; only an entry counts as queued."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from convergence.forge.client import ForgeClient
from convergence.forge.documents.queue import DEQUEUE, ENQUEUE
from convergence.forge.facts import Profile, PullState
from convergence.forge.paging import rest_list
from convergence.forge.reading import read_pull
from convergence.forge.wire.answers import alias_error
from convergence.forge.writes.contract import Observed, Target, marked, marker, text
from convergence.forge.writes.landing import REFUSALS, ended, gave_up, observed, refused
from convergence.forge.writes.threads import DONE, given_up


@dataclass(frozen=True, slots=True)
class EnqueuePull:
    """``head_sha`` is the head of the decision; GitHub refuses another."""

    target: Target
    head_sha: str

    looks_first = True
    resends = False

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - the entry itself is the mark
        """Return the write of stored arguments."""
        return cls(target=Target.from_json(arguments.get("pull")), head_sha=text(arguments, "head_sha"))

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``queued`` when an entry exists, else the end that is shown."""
        facts = read_pull(client, Profile.MERGE, self.target.ref)
        seen = observed(facts, self.head_sha, sent=sent)
        if seen is None and facts.in_merge_queue:
            return ended("queued", "queued")
        return seen

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Send with the expected head."""
        try:
            answer = client.mutate(ENQUEUE, {"pull": self.target.node_id, "head": self.head_sha})
            if answer.errors:
                raise alias_error(answer.errors[0])
        except REFUSALS as error:
            return refused(error)
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Accepted and no entry: the flow tries anew."""
        return gave_up(looks)


@dataclass(frozen=True, slots=True)
class EnqueueByComment:
    """A comment that a queue outside the forge reads; it carries the head, which is read before and after."""

    target: Target
    head_sha: str
    body: str
    key: str

    looks_first = True
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:
        """Return the write of stored arguments."""
        return cls(
            target=Target.from_json(arguments.get("pull")),
            head_sha=text(arguments, "head_sha"),
            body=text(arguments, "comment"),
            key=key,
        )

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``queued`` when the comment stands there and the head is still the one that it names."""
        facts = read_pull(client, Profile.ALIVE, self.target.ref)
        seen = observed(facts, self.head_sha, sent=sent)
        if seen is not None or not sent:
            return seen
        comments = rest_list(client, f"{self.target.issue_path}/comments")
        if not any(marker(self.key) in (item.get("body") or "") for item in comments.items):
            return None
        if facts.head_sha != self.head_sha:
            return ended("retry", "head_modified", head_sha=facts.head_sha)
        return ended("queued", "queued")

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Post it."""
        body = marked(f"{self.body}\n\n<!-- head: {self.head_sha} -->", self.key)
        try:
            client.rest("POST", f"{self.target.issue_path}/comments", json={"body": body})
        except REFUSALS as error:
            return refused(error)
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """The flow tries anew."""
        return gave_up(looks)


@dataclass(frozen=True, slots=True)
class DequeuePull:
    """Take the entry out of the queue; done when there is none, however that came."""

    target: Target

    looks_first = True
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - nothing is left to mark
        """Return the write of stored arguments."""
        return cls(target=Target.from_json(arguments.get("pull")))

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` without an entry; ``too_late`` when it has landed."""
        facts = read_pull(client, Profile.MERGE, self.target.ref)
        if facts.state is PullState.MERGED:
            return Observed("too_late", {"merge_commit_sha": facts.merge_commit_sha})
        return None if facts.in_merge_queue else Observed(DONE)

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Send once."""
        answer = client.mutate(DEQUEUE, {"pull": self.target.node_id})
        if answer.errors:
            raise alias_error(answer.errors[0])
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)
