"""Bring the base into the head branch, at exactly the head that was judged; done when the new head holds the base."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from convergence.forge.client import ForgeClient
from convergence.forge.facts import Profile, PullState
from convergence.forge.reading import read_pull
from convergence.forge.singles import compare
from convergence.forge.writes.contract import READ_BACK_SECONDS, Observed, Target, text
from runs.contract.errors import Invalid, NotFound, Permanent, Refused

DONE, POINTLESS, REFUSED = "done", "pointless", "refused"
NOTHING_TO_DO = ("head", "no new commits", "conflict", "closed")  # the next verdict says what to do instead


@dataclass(frozen=True, slots=True)
class UpdateBranch:
    """``head_sha`` is the head of the decision; GitHub refuses another."""

    target: Target
    head_sha: str

    looks_first = True
    resends = False

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - the new head is the mark
        """Return the write of stored arguments."""
        return cls(target=Target.from_json(arguments.get("pull")), head_sha=text(arguments, "head_sha"))

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` with the new head; ``pointless`` when it is not open, moved, or holds the base already."""
        facts = read_pull(client, Profile.ALIVE, self.target.ref)
        if facts.state is not PullState.OPEN or not facts.head_sha or not facts.base_sha:
            return Observed(POINTLESS, {"message": "it is not open, or a branch is gone"})
        holds = compare(client, self.target.owner, self.target.name, facts.base_sha, facts.head_sha).behind_by == 0
        if facts.head_sha == self.head_sha:
            return Observed(POINTLESS, {"message": "the branch holds its base already"}) if holds else None
        if sent and holds:
            return Observed(DONE, {"head_sha": facts.head_sha})
        return Observed(POINTLESS, {"message": "the head moved"})

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Send with the expected head; a refusal means what its words say."""
        try:
            client.rest("PUT", f"{self.target.pull_path}/update-branch", json={"expected_head_sha": self.head_sha})
        except (Refused, Invalid) as error:
            words = error.message.lower()
            outcome = POINTLESS if any(phrase in words for phrase in NOTHING_TO_DO) else REFUSED
            return Observed(outcome, {"message": error.message})
        except (Permanent, NotFound) as error:
            return Observed(REFUSED, {"message": error.message})
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """The next verdict says what to do."""
        return Observed(POINTLESS, {"message": "not seen"}) if looks > len(READ_BACK_SECONDS) else None
