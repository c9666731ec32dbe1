"""Write into review threads: reply, resolve, and begin one on a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from convergence.forge.client import ForgeClient, GraphAnswer
from convergence.forge.documents.effects import REPLY, RESOLVE, THREAD_STATE
from convergence.forge.facts import Profile
from convergence.forge.reading import read_pull
from convergence.forge.wire.answers import alias_error
from convergence.forge.writes.contract import (
    NOT_OBSERVED,
    READ_BACK_SECONDS,
    Observed,
    Target,
    marked,
    marker,
    text,
)
from runs.contract.errors import Invalid, NotFound, Transient

DONE, ALREADY, GONE = "done", "already_done", "gone"


def given_up(looks: int) -> Observed | None:
    """Return the end of looking after the last read-back."""
    return Observed(NOT_OBSERVED, {"looks": looks}) if looks > len(READ_BACK_SECONDS) else None


def _node(answer: GraphAnswer) -> Mapping[str, Any]:
    """Return the thread that was asked for; ``NotFound`` when GitHub says that it is gone."""
    if answer.errors:
        raise alias_error(answer.errors[0])
    node = answer.data.get("p0")
    if node is None or "comments" not in node:
        raise Transient("forge_unread", "GitHub did not show the thread")
    found: Mapping[str, Any] = node
    return found


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply in a thread, known again by its marker."""

    thread_id: str
    body: str
    key: str

    looks_first = False
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:
        """Return the write of stored arguments."""
        return cls(thread_id=text(arguments, "thread_id"), body=text(arguments, "body"), key=key)

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` when a comment of the thread carries the marker, ``gone`` when there is no thread."""
        try:
            thread = _node(client.query(THREAD_STATE, {"id": self.thread_id}))
        except NotFound:
            return Observed(GONE, {"thread_id": self.thread_id})
        mark = marker(self.key)
        for node in thread["comments"]["nodes"]:
            if node and mark in node["body"]:
                return Observed(DONE, {"url": node["url"], "comment_id": node["id"]})
        return None

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Post it; a thread that is gone drops it."""
        answer = client.mutate(REPLY, {"thread": self.thread_id, "body": marked(self.body, self.key)}, creates=True)
        return _refusal(answer, self.thread_id)

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)


@dataclass(frozen=True, slots=True)
class ResolveThread:
    """A thread marked as settled."""

    thread_id: str

    looks_first = True
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - its state is its mark
        """Return the write of stored arguments."""
        return cls(thread_id=text(arguments, "thread_id"))

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` or ``already_done`` when it is resolved, ``gone`` when there is no thread."""
        try:
            thread = _node(client.query(THREAD_STATE, {"id": self.thread_id}))
        except NotFound:
            return Observed(GONE, {"thread_id": self.thread_id})
        if thread["isResolved"]:
            return Observed(DONE if sent else ALREADY, {"thread_id": self.thread_id})
        return None

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Resolve it; a thread that is gone drops it."""
        return _refusal(client.mutate(RESOLVE, {"thread": self.thread_id}), self.thread_id)

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)


@dataclass(frozen=True, slots=True)
class FileComment:
    """A comment on a whole file, which begins a thread; the first of ``paths`` that the diff has is taken."""

    target: Target
    commit_sha: str
    paths: tuple[str, ...]
    body: str
    key: str

    looks_first = False
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:
        """Return the write of stored arguments."""
        paths = tuple(str(path) for path in arguments.get("paths") or ())
        if not paths:
            raise Invalid("invalid_effect", "a file comment lacks its paths", details={"field": "paths"})
        return cls(
            target=Target.from_json(arguments.get("pull")),
            commit_sha=text(arguments, "commit_sha"),
            paths=paths,
            body=text(arguments, "body"),
            key=key,
        )

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` with the thread's id when a thread of the pull request carries the marker."""
        facts = read_pull(client, Profile.BACKLOG, self.target.ref)
        mark = marker(self.key)
        threads = facts.threads.items if facts.threads else ()
        for thread in threads:
            for comment in thread.comments.items:
                if mark in comment.body:
                    return Observed(DONE, {"thread_id": thread.id, "path": thread.path, "url": comment.url})
        if facts.threads is None or not facts.threads.complete:
            raise Transient("forge_unread", "not every thread could be read, so the comment may be there")
        return None

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Post it on the first path that GitHub takes; a 422 says that a path is not in the diff."""
        message = ""
        for path in self.paths:
            try:
                client.rest(
                    "POST",
                    f"{self.target.pull_path}/comments",
                    json={
                        "body": marked(self.body, self.key),
                        "commit_id": self.commit_sha,
                        "path": path,
                        "subject_type": "file",
                    },
                )
            except Invalid as error:
                message = error.message
            else:
                return None
        return Observed("path_not_in_diff", {"paths": list(self.paths), "message": message})

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)


def _refusal(answer: GraphAnswer, thread_id: str) -> Observed | None:
    if not answer.errors:
        return None
    error = alias_error(answer.errors[0])
    if isinstance(error, NotFound):
        return Observed(GONE, {"thread_id": thread_id})
    raise error
