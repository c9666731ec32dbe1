"""The pull requests of a scenario, as the director follows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FINAL = frozenset({"converged", "merged", "abandoned"})


@dataclass(slots=True)
class Played:
    """One pull request of the scenario: what it is expected to come to, and what was told of it so far."""

    key: str
    branch: str
    title: str
    expect: str
    answers: list[Mapping[str, Any]]
    submit: Mapping[str, Any]
    lands: bool  # it goes on to a merge once it has converged
    submitted: bool = False
    told: int = 0
    state: str = ""
    rounds: int = 0
    turn: int = 0
    ended_after: float | None = None
    landed: int | None = None  # id of the transition that proved it; they ascend over all pull requests

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens: converging is an end only where nobody merges."""
        return self.state in FINAL and not (self.state == "converged" and self.lands)


def pulls_of(script: Mapping[str, Any]) -> Iterable[Played]:
    """The scenario's pull requests with the numbers that its repositories give them."""
    numbers = {each["name"]: each.get("last_number", 0) for each in script["repositories"]}
    for issue in script.get("issues", []):
        numbers[issue["repo"]] += 1
    for entry in script["pulls"]:
        repository, submit = entry["repo"], entry.get("submit", {})
        numbers[repository] += 1
        yield Played(
            key=f"{repository}#{numbers[repository]}",
            branch=entry.get("branch", ""),
            title=entry["title"],
            expect=entry["expect"],
            answers=list(entry.get("answers", [])),
            submit=submit,
            lands=submit.get("autoMerge", True),
        )
