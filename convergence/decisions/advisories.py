"""The suppressed advisories of a pull request: which there are, which the gate asks about, which are settled. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from convergence.decisions.acks import acknowledged
from convergence.fingerprint import fingerprint
from convergence.reviewers.contract import COUNTING_STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from convergence.decisions.reviews import KnownReview
    from convergence.forge.facts import PullFacts
    from convergence.reviewers.contract import Advisories
    from convergence.trust import People

ALL = "all"  # of the generation, instead of those of the newest review


@dataclass(frozen=True, slots=True)
class Advised:
    """One suppressed advisory; ``id`` is the fingerprint of path and text, ``line`` only tells where it was."""

    id: str
    path: str
    line: int | None
    text: str
    reviewer: str
    acknowledged: bool = False
    declined: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A configured reviewer's review with what its body lists."""

    review: KnownReview
    found: Advisories


@dataclass(frozen=True, slots=True)
class AdvisoryFacts:
    """``every`` advisory of the generation for the agent, those that the gate judges, and where they do not add up."""

    every: tuple[Advised, ...] = ()
    judged: tuple[Advised, ...] = ()
    unreadable: str = ""


def advisory_facts(
    facts: PullFacts, people: People, known: Mapping[str, KnownReview], *, head: str | None, policy: str
) -> AdvisoryFacts:
    """Read the bodies of the configured reviewers' reviews; ``known`` are the recorded ones by forge id."""
    settled = acknowledged(facts.threads.items if facts.threads else (), people)
    listed = _listed(facts, people, known)
    chosen = listed if policy == ALL else _newest(listed, head)
    wrong = [each for each in chosen if not each.found.readable]
    unreadable = ""
    if wrong:
        first = wrong[0]
        unreadable = (
            f"the review of {first.review.reviewer} announces {first.found.announced} suppressed comments, "
            f"of which {len(first.found.parsed)} can be read"
        )
    return AdvisoryFacts(every=_told(listed, settled), judged=_told(chosen, settled), unreadable=unreadable)


def _listed(facts: PullFacts, people: People, known: Mapping[str, KnownReview]) -> list[Listed]:
    """The reviews in the order in which they were submitted."""
    found = []
    for review in facts.reviews.items if facts.reviews else ():
        reviewer, record = people.reviewer(review.author), known.get(str(review.id))
        if reviewer is not None and record is not None and record.state in COUNTING_STATES:
            found.append(Listed(record, reviewer.advisories(review.body or "")))
    return sorted(found, key=lambda each: (each.review.submitted_at, each.review.forge_id))


def _newest(listed: Sequence[Listed], head: str | None) -> list[Listed]:
    """Each reviewer's newest review of the head; where nobody has one, each reviewer's newest of all."""
    of_head = [each for each in listed if head is not None and each.review.counts_for == head]
    return list({each.review.reviewer: each for each in of_head or listed}.values())


def _told(listed: Iterable[Listed], settled: Mapping[str, bool]) -> tuple[Advised, ...]:
    """Each advisory once, as it was listed last."""
    found: dict[str, Advised] = {}
    for each in listed:
        for advisory in each.found.parsed:
            mark = fingerprint(advisory.text, advisory.path)
            found[mark] = Advised(
                id=mark,
                path=advisory.path,
                line=advisory.line,
                text=advisory.text,
                reviewer=each.review.reviewer,
                acknowledged=mark in settled,
                declined=settled.get(mark, False),
            )
    return tuple(found.values())
