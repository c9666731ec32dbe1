"""GitHub Copilot as a reviewer: three spellings of one account, and findings that it hides in its review's body.

Only the login with ``[bot]`` registers a request; without the suffix GitHub answers 422, and ``Copilot`` is accepted
and does nothing. A pending request is shown as ``Copilot``, a review's author without the suffix in GraphQL.
"""

import re
from typing import ClassVar

from convergence.forge.facts import PullFacts, Review
from convergence.reviewers.advisories import suppressed_advisories
from convergence.reviewers.asking import BY_LOGIN, REST, asked_by, pending_in
from convergence.reviewers.contract import COUNTING_STATES, Advisories, Pending, RequestWrite, ReviewerKind

BOT_LOGIN = "copilot-pull-request-reviewer[bot]"
SPELLINGS = (BOT_LOGIN, "copilot-pull-request-reviewer", "Copilot")

CLEAN = re.compile(r"\bgenerated no(?: new)? comments\b", re.IGNORECASE)


class Copilot:
    """The adapter; stateless."""

    kind: ClassVar[ReviewerKind] = ReviewerKind.BOT
    unavailable_after_422: ClassVar[bool] = True

    def __init__(self, name: str = "copilot") -> None:
        self._name = name

    @property
    def name(self) -> str:
        """The name that policy gives it."""
        return self._name

    def matches(self, login: str | None, typename: str) -> bool:
        """Whether it is Copilot, in any spelling; a person who took the name is not."""
        if login is None or login.lower() not in {spelling.lower() for spelling in SPELLINGS}:
            return False
        return typename != "User" or login.lower() == BOT_LOGIN

    def request(self, pull: PullFacts, attempt: int) -> RequestWrite | None:
        """Ask by REST first; the second way is the mutation by login, where the host serves it."""
        if attempt not in (1, 2):
            return None
        ways = [REST, BY_LOGIN] if attempt == 1 else [BY_LOGIN]
        return asked_by(pull, BOT_LOGIN, spellings=SPELLINGS, ways=ways)

    def pending(self, snapshot: PullFacts) -> Pending:
        """Whether a review by Copilot is awaited."""
        return pending_in(snapshot, lambda request: self.matches(request.login, request.typename))

    def counts(self, review: Review) -> bool:
        """Whether the review speaks for a commit; a dismissed or pending one does not."""
        return review.state in COUNTING_STATES

    def advisories(self, body: str) -> Advisories:
        """Return the comments that Copilot suppressed and lists in its body."""
        return suppressed_advisories(body)

    def empty(self, review: Review) -> bool:
        """Whether Copilot says that it found nothing; a body in other words is never empty."""
        if review.state not in ("APPROVED", "COMMENTED") or review.body is None:
            return False
        found = suppressed_advisories(review.body)
        if found.announced or found.parsed:
            return False
        return not review.body.strip() or CLEAN.search(review.body) is not None
