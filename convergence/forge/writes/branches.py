"""Delete a branch that points at exactly the commit that landed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote

from convergence.forge.client import ForgeClient
from convergence.forge.singles import branch_tip
from convergence.forge.writes.contract import Observed, text
from convergence.forge.writes.threads import DONE, given_up
from runs.contract.errors import Invalid, NotFound, Permanent, Refused


@dataclass(frozen=True, slots=True)
class DeleteBranch:
    """``sha`` is the commit that landed; a branch that points elsewhere stays."""

    owner: str
    name: str
    branch: str
    sha: str

    looks_first = True
    resends = True

    @classmethod
    def from_json(cls, arguments: Mapping[str, Any], key: str) -> Self:  # noqa: ARG003 - nothing is left to mark
        """Return the write of stored arguments."""
        return cls(
            owner=text(arguments, "owner"),
            name=text(arguments, "name"),
            branch=text(arguments, "branch"),
            sha=text(arguments, "sha"),
        )

    def observe(self, client: ForgeClient, memory: dict[str, Any], *, sent: bool) -> Observed | None:  # noqa: ARG002
        """``done`` without the branch; ``moved`` when it points elsewhere."""
        tip = branch_tip(client, self.owner, self.name, self.branch)
        if tip is None:
            return Observed(DONE)
        return None if tip == self.sha else Observed("moved", {"tip": tip})

    def send(self, client: ForgeClient, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Delete it; a refusal is noted."""
        try:
            client.rest("DELETE", f"repos/{self.owner}/{self.name}/git/refs/heads/{quote(self.branch)}")
        except (Refused, Invalid, Permanent, NotFound) as error:
            return Observed("refused", {"message": error.message})
        return None

    def unseen(self, looks: int, memory: dict[str, Any]) -> Observed | None:  # noqa: ARG002
        """Give up after the last read-back."""
        return given_up(looks)
