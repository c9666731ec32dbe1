"""Whose words count: configured reviewers, trusted people, the product itself, and anybody else. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from convergence.forge.facts import Author
    from convergence.reviewers.contract import Reviewer


class Standing(StrEnum):
    """What an author's words may do."""

    REVIEWER = "reviewer"  # goes into prompts, wakes the wait
    TRUSTED = "trusted"  # the same, and may ask for changes
    OWN = "own"  # goes into prompts, wakes nothing
    OTHER = "other"  # only author, time and address are told


@dataclass(frozen=True, slots=True)
class People:
    """The reviewers of one repository and the trust of the policy; logins are compared without case."""

    reviewers: tuple[Reviewer, ...] = ()
    associations: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()
    blocked: frozenset[str] = frozenset()
    own: str = ""

    def reviewer(self, author: Author | None) -> Reviewer | None:
        """The configured reviewer that this author is, in whatever spelling."""
        if author is None:
            return None
        return next((each for each in self.reviewers if each.matches(author.login, author.typename)), None)

    def standing(self, author: Author | None, association: str) -> Standing:
        """What the author's words may do; a deleted account is anybody."""
        if author is None:
            return Standing.OTHER
        if self.reviewer(author) is not None:
            return Standing.REVIEWER
        login = author.login.lower()
        if self.own and login == self.own.lower():
            return Standing.OWN
        if author.typename == "Bot" and login not in self.authors:
            return Standing.OTHER  # what a bot means that nobody configured is not guessed, whatever it may do here
        if login in self.blocked:
            return Standing.OTHER
        if association in self.associations or login in self.authors:
            return Standing.TRUSTED
        return Standing.OTHER
