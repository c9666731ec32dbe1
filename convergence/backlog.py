"""Everything open of a pull request, as the review agent gets it: words of trusted authors, quoted. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from convergence.decisions.agent_result import cut
from convergence.quoting import quoted
from convergence.reviewers.contract import COUNTING_STATES
from convergence.trust import Standing
from runs.contract.canonical import canonical_bytes
from runs.contract.spec import LARGEST_INPUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from convergence.decisions.advisories import Advised
    from convergence.decisions.reviews import KnownReview
    from convergence.forge.facts import Comment, PullFacts, Review, Thread
    from convergence.trust import People

LARGEST_COMMENT = 8 * 1024  # bytes
LARGEST_BACKLOG = 192 * 1024  # bytes of quoted text in all
LARGEST_WHOLE = LARGEST_INPUT - 16 * 1024  # canonical bytes of everything; the rest is for the other variables
EMPTY: Mapping[str, Any] = {
    "reviews": [],
    "threads": [],
    "advisories": [],
    "leftOut": {"authors": [], "comments": 0},
    "truncated": False,
}


@dataclass(slots=True)
class _Room:
    """What is still allowed, and what had to be left out."""

    left: int = LARGEST_BACKLOG
    whole: int = LARGEST_WHOLE
    truncated: bool = False
    authors: set[str] = field(default_factory=set)
    comments: int = 0

    def take(self, text: str, url: str) -> str:
        """The text within the limits; what is cut says so and names its address."""
        limit = min(LARGEST_COMMENT, self.left)
        short = cut(text, limit, f"\n[cut; the whole text: {url}]")
        self.left = max(0, self.left - len(short.encode()))
        self.truncated = self.truncated or short is not text
        return short

    def fits(self, entry: Mapping[str, Any]) -> bool:
        """Whether the entry as it is sent, names, addresses and escapes included, still has room; then it is taken."""
        size = len(canonical_bytes(entry)) + 1
        if size > self.whole:
            self.truncated = True
            return False
        self.whole -= size
        return True

    def leave_out(self, login: str) -> None:
        self.authors.add(login)
        self.comments += 1


def build_backlog(
    facts: PullFacts,
    people: People,
    known: Mapping[str, KnownReview],
    *,
    advisories: Iterable[Advised] = (),
    beside: int = 0,
) -> dict[str, Any]:
    """Return the ``backlog`` variable: unresolved threads, bodies of reviews that no round had, what was left out.

    ``known`` are the recorded reviews by forge id, ``advisories`` all suppressed ones without acknowledgement.
    Words of untrusted authors never appear, only that they exist.
    ``beside`` are the canonical bytes of what the agent is given with it. What finds no room waits for a later round.
    """
    room = _Room(whole=LARGEST_WHOLE - beside)
    waiting = [
        review
        for review in (facts.reviews.items if facts.reviews else ())
        if str(review.id) in known and not known[str(review.id)].consumed and review.state in COUNTING_STATES
    ]
    threads = [told for thread in open_threads(facts) if (told := _thread(thread, people, room)) is not None]
    reviews = [
        told for review in waiting if (told := _review(review, known[str(review.id)], facts, people, room)) is not None
    ]
    incomplete = not (facts.threads and facts.threads.complete and facts.reviews and facts.reviews.complete)
    return {
        "reviews": reviews,
        "threads": threads,
        "advisories": [told for each in advisories if room.fits(told := _advisory(each, facts, room))],
        "leftOut": {"authors": sorted(room.authors), "comments": room.comments},
        "truncated": room.truncated or incomplete,
    }


def open_threads(facts: PullFacts) -> tuple[Thread, ...]:
    """The unresolved threads that were read."""
    return tuple(thread for thread in (facts.threads.items if facts.threads else ()) if not thread.resolved)


def advisory_ids(backlog: Mapping[str, Any]) -> frozenset[str]:
    """The suppressed advisories that a turn was given."""
    return frozenset(str(advisory["id"]) for advisory in backlog.get("advisories", []))


def thread_ids(backlog: Mapping[str, Any]) -> frozenset[str]:
    """The threads that a turn was given."""
    return frozenset(str(thread["id"]) for thread in backlog.get("threads", []))


def _thread(thread: Thread, people: People, room: _Room) -> dict[str, Any] | None:
    comments = thread.comments.items
    told: dict[str, Any] = {
        "id": thread.id,
        "path": thread.path,
        "line": thread.line if thread.line is not None else thread.original_line,
        "outdated": thread.outdated,
        "url": comments[0].url if comments else "",
        "comments": [],
    }
    if not room.fits(told):
        return None
    said = [_comment(comment, people, room) for comment in comments]
    return {**told, "comments": [comment for comment in said if room.fits(comment)]}


def _comment(comment: Comment, people: People, room: _Room) -> dict[str, Any]:
    standing = people.standing(comment.author, comment.association)
    login = comment.author.login if comment.author else ""
    told: dict[str, Any] = {
        "author": login,
        "trusted": standing is not Standing.OTHER,
        "at": comment.created_at.isoformat(),
        "url": comment.url,
    }
    if standing is Standing.OTHER:
        room.leave_out(login)
        return told
    if standing is Standing.OWN:
        told["own"] = True
    text = room.take(comment.body, comment.url)
    return {
        **told,
        "body": quoted(text, author=login, standing=standing, at=comment.created_at, url=comment.url),
    }


def _advisory(each: Advised, facts: PullFacts, room: _Room) -> dict[str, Any]:
    text = room.take(each.text, facts.url)
    return {
        "id": each.id,
        "path": each.path,
        "line": each.line,
        "text": quoted(text, author=each.reviewer, standing=Standing.REVIEWER, url=facts.url),
        "acknowledged": each.acknowledged,
    }


def _review(review: Review, known: KnownReview, facts: PullFacts, people: People, room: _Room) -> dict[str, Any] | None:
    standing = people.standing(review.author, review.association)
    url = f"{facts.url}#pullrequestreview-{review.id}"
    body = room.take(review.body or "", url)
    told = {
        "id": str(review.id),
        "reviewer": known.reviewer,
        "state": review.state,
        "headSha": known.counts_for or (review.commit_sha or ""),
        "ofHead": bool(known.counts_for) and known.counts_for == facts.head_sha,
        "body": quoted(body, author=known.author, standing=standing, at=review.submitted_at, url=url) if body else "",
    }
    return told if room.fits(told) else None
