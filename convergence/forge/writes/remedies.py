"""Make checks run again: mark a draft ready, close and open again, or run the failed jobs once more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from convergence.forge.client import ForgeClient
from convergence.forge.documents.queue import MARK_READY
from convergence.forge.facts import Profile, PullState
from convergence.forge.reading import read_pull
from convergence.forge.wire.answers import alias_error
from convergence.forge.writes.contract import Observed, Target, text
from convergence.forge.writes.threads import DONE, given_up
from runs.contract.errors import Invalid, NotFound, Permanent, Refused

REFUSED, ENDED = "refused", "ended"


@dataclass(frozen=True, slots=True)
class MarkReady:
    """Mark a draft ready for review; done when it is none."""

    target: Target

    looks_first = True
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - the draft itself is the mark
        """Return the write of stored arguments."""
        return cls(target=Target.from_json(arguments.get("pull")))

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` when it is no draft."""
        facts = read_pull(client, Profile.ALIVE, self.target.ref)
        if facts.state is not PullState.OPEN:
            return Observed(ENDED)
        return None if facts.is_draft else Observed(DONE)

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Send once; a refusal is noted."""
        try:
            answer = client.mutate(MARK_READY, {"pull": self.target.node_id})
            if answer.errors:
                raise alias_error(answer.errors[0])
        except (Refused, Invalid, Permanent, NotFound) as error:
            return Observed(REFUSED, {"message": error.message})
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)


@dataclass(frozen=True, slots=True)
class Reopen:
    """Close the pull request and open it again: one write, which ends with it open."""

    target: Target

    looks_first = True
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - the state is the mark
        """Return the write of stored arguments."""
        return cls(target=Target.from_json(arguments.get("pull")))

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` when it was tried and is open; ``ended`` when it is merged, or was closed before the try."""
        state = read_pull(client, Profile.ALIVE, self.target.ref).state
        if state is PullState.MERGED or (state is PullState.CLOSED and not sent):
            return Observed(ENDED)
        return Observed(DONE) if sent and state is PullState.OPEN else None

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Close, then open; a refusal of the first is noted, one of the second is tried again."""
        try:
            client.rest("PATCH", self.target.pull_path, json={"state": "closed"})
        except (Refused, Invalid, Permanent, NotFound) as error:
            return Observed(REFUSED, {"message": error.message})
        client.rest("PATCH", self.target.pull_path, json={"state": "open"})
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)


@dataclass(frozen=True, slots=True)
class RerunFailed:
    """Run the failed jobs of one workflow run again; a refusal is noted and not repeated."""

    target: Target
    run: str

    looks_first = False
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - the forge refuses a second one
        """Return the write of stored arguments."""
        return cls(target=Target.from_json(arguments.get("pull")), run=text(arguments, "run"))

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` once it was accepted; the next look at the checks shows the newer runs."""
        return Observed(DONE) if memory.get("accepted") else None

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Send once."""
        path = f"repos/{self.target.owner}/{self.target.name}/actions/runs/{self.run}/rerun-failed-jobs"
        try:
            client.rest("POST", path)
        except (Refused, Invalid, Permanent, NotFound) as error:
            return Observed(REFUSED, {"message": error.message})
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)
