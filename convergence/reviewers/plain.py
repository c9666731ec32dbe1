"""Reviewers whose bodies are free text: bots of any make, people and teams. Nothing is read into their words."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from convergence.reviewers.asking import TEAM, asked_by, pending_in, target_of
from convergence.reviewers.contract import COUNTING_STATES, Advisories, Pending, RequestWrite, ReviewerKind

if TYPE_CHECKING:
    from collections.abc import Collection

    from convergence.forge.facts import PullFacts, Review

SUFFIX = "[bot]"
USER = "User"
EMPTY_STATES = frozenset({"APPROVED", "COMMENTED"})


class FreeText:
    """What adapters share that parse no body: a review is empty only where its author wrote nothing."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The name that policy gives it."""
        return self._name

    def counts(self, review: Review) -> bool:
        """Whether the review speaks for a commit; a dismissed or pending one does not."""
        return review.state in COUNTING_STATES

    def advisories(self, body: str) -> Advisories:  # noqa: ARG002 - free text lists none in a known form
        """None: findings of free text stand in threads."""
        return Advisories(announced=0, parsed=())

    def empty(self, review: Review) -> bool:
        """Whether nothing was written."""
        return review.state in EMPTY_STATES and review.body is not None and not review.body.strip()


class Bot(FreeText):
    """A bot under its logins, asked by login, by a comment, or not at all because it reviews by itself."""

    kind: ClassVar[ReviewerKind] = ReviewerKind.BOT
    unavailable_after_422: ClassVar[bool] = True

    def __init__(self, name: str, *, logins: Collection[str], login: str = "", comment: str = "") -> None:
        """At most one of ``login`` and ``comment`` says how it is asked."""
        super().__init__(name)
        self._apps = {each.lower().removesuffix(SUFFIX) for each in logins}
        self._people = {each.lower() for each in logins if not each.lower().endswith(SUFFIX)}
        self._login, self._comment = login, comment

    def matches(self, login: str | None, typename: str) -> bool:
        """Whether it is one of the logins; a person is one only where the policy spells it without ``[bot]``."""
        if login is None:
            return False
        if typename == USER and not login.lower().endswith(SUFFIX):
            return login.lower() in self._people
        return login.lower().removesuffix(SUFFIX) in self._apps

    def request(self, pull: PullFacts, attempt: int) -> RequestWrite | None:
        """Ask as the policy says; there is no second way."""
        if attempt != 1:
            return None
        if self._comment:
            return RequestWrite("comment", {"pull": target_of(pull), "body": self._comment})
        if self._login:
            bare = self._login.lower().removesuffix(SUFFIX)
            return asked_by(pull, self._login, spellings={*self._apps, *(f"{app}{SUFFIX}" for app in self._apps), bare})
        return None

    def pending(self, snapshot: PullFacts) -> Pending:
        """Whether a review by one of the logins is awaited."""
        return pending_in(snapshot, lambda request: self.matches(request.login, request.typename))


class Person(FreeText):
    """One person by login."""

    kind: ClassVar[ReviewerKind] = ReviewerKind.PERSON
    unavailable_after_422: ClassVar[bool] = False

    def __init__(self, name: str, *, login: str) -> None:
        super().__init__(name)
        self._login = login

    def matches(self, login: str | None, typename: str) -> bool:
        """Whether it is this person; a bot of the same name is not."""
        return login is not None and login.lower() == self._login.lower() and typename in ("", USER)

    def request(self, pull: PullFacts, attempt: int) -> RequestWrite | None:
        """Ask by login."""
        return asked_by(pull, self._login, spellings=[self._login]) if attempt == 1 else None

    def pending(self, snapshot: PullFacts) -> Pending:
        """Whether this person's review is awaited."""
        return pending_in(snapshot, lambda request: self.matches(request.login, request.typename))


class Team(FreeText):
    """A team of an organisation; a review by any of its members is its review."""

    kind: ClassVar[ReviewerKind] = ReviewerKind.TEAM
    unavailable_after_422: ClassVar[bool] = False

    def __init__(self, name: str, *, team: str, members: Collection[str] = ()) -> None:
        """``team`` is ``organisation/slug``; ``members`` are logins as read last."""
        super().__init__(name)
        self._team = team
        self._members = {login.lower() for login in members}

    def matches(self, login: str | None, typename: str) -> bool:
        """Whether it is a member."""
        return login is not None and login.lower() in self._members and typename in ("", USER)

    def request(self, pull: PullFacts, attempt: int) -> RequestWrite | None:
        """Ask the whole team."""
        return asked_by(pull, self._team, spellings=[self._team], ways=[TEAM]) if attempt == 1 else None

    def pending(self, snapshot: PullFacts) -> Pending:
        """Whether the team's review is awaited."""
        return pending_in(snapshot, lambda request: (request.login or "").lower() == self._team.lower())
