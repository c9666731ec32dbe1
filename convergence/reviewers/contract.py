"""What every reviewer adapter answers; the flow and the forge know reviewers only through this."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from convergence.forge.facts import PullFacts, Review

COUNTING_STATES = frozenset({"COMMENTED", "APPROVED", "CHANGES_REQUESTED"})  # dismissed and pending speak for no commit


class ReviewerKind(StrEnum):
    """Who stands behind a reviewer."""

    BOT = "bot"
    PERSON = "person"
    TEAM = "team"


class Pending(StrEnum):
    """Is a review by this reviewer awaited on GitHub."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Advisory:
    """A finding listed in a review's body instead of a thread; ``line`` where the body names one."""

    path: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Advisories:
    """``announced`` is the number that the body claims; another number of ``parsed`` makes the gate unreadable."""

    announced: int
    parsed: tuple[Advisory, ...]

    @property
    def readable(self) -> bool:
        """Whether every announced advisory was found."""
        return self.announced == len(self.parsed)


@dataclass(frozen=True, slots=True)
class RequestWrite:
    """The write that asks for a review: an operation of ``convergence.forge.writes`` and its JSON arguments."""

    operation: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


class Reviewer(Protocol):
    """One configured reviewer. No method does I/O; all are pure."""

    @property
    def name(self) -> str:
        """Return the name that policy and pages use."""

    @property
    def kind(self) -> ReviewerKind:
        """Return who stands behind it."""

    @property
    def unavailable_after_422(self) -> bool:
        """Whether a 422 on a request marks it unavailable (else it is a configuration error)."""

    def matches(self, login: str | None, typename: str) -> bool:
        """Whether this author or requested reviewer is me, in any of GitHub's spellings."""

    def request(self, pull: PullFacts, attempt: int) -> RequestWrite | None:
        """Return the ``attempt``-th way (from 1) of asking for a review, or ``None`` where there is none."""

    def pending(self, snapshot: PullFacts) -> Pending:
        """Whether I am among the requested reviewers; unknown where the list is unread or incomplete without me."""

    def counts(self, review: Review) -> bool:
        """Whether the review's state speaks for a commit; which commit is not judged here."""

    def advisories(self, body: str) -> Advisories:
        """Return the suppressed findings of a review body."""

    def empty(self, review: Review) -> bool:
        """Whether the body was parsed and holds zero findings; threads are not judged here."""
