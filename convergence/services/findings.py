"""The trajectory of findings: recorded at the entry of each round, read for churn and for pages."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from django.db.models import Count, Q

from convergence.decisions.acks import is_ack_thread, is_declined
from convergence.decisions.churn import Entry, Recurring
from convergence.decisions.findings import Closed, Found, Trend, findings_moved
from convergence.decisions.reviews import changes_requested
from convergence.fingerprint import fingerprint
from convergence.models import Finding, FindingKind, FindingStatus, Round
from convergence.trust import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from convergence.decisions.advisories import Advised
    from convergence.decisions.reviews import KnownReview
    from convergence.forge.facts import PullFacts, Review, Thread
    from convergence.models import PullRequest
    from convergence.trust import People

MAY_FIND = frozenset({Standing.REVIEWER, Standing.TRUSTED})
MAY_DECLINE = frozenset({Standing.TRUSTED, Standing.OWN})
LONGEST_TEXT = 400


def findings_now(
    facts: PullFacts, people: People, reviews: Sequence[KnownReview], advisories: Iterable[Advised]
) -> tuple[Found, ...]:
    """Every finding as it stands in a reading: threads, suppressed advisories, requests for changes."""
    threads = [_thread(thread, people) for thread in (facts.threads.items if facts.threads else ())]
    bodies = {str(review.id): review for review in (facts.reviews.items if facts.reviews else ())}
    return (
        *(thread for thread in threads if thread is not None),
        *(_advisory(each) for each in advisories),
        *(_changes(each, bodies.get(each.forge_id), facts.url) for each in changes_requested(reviews)),
    )


def findings_record(pull: PullRequest, current: Round, now: Sequence[Found]) -> None:
    """Record how each finding stands at the entry of the round, in the caller's transaction; once for a round."""
    rows = {(row.kind, row.forge_id): row for row in Finding.objects.filter(pull=pull, generation=current.generation)}
    before = [
        Found(row.kind, row.forge_id, row.fingerprint, row.closed_as, row.author, row.path, row.text, row.url)
        for row in rows.values()
    ]
    Round.objects.filter(pk=current.pk).update(entry_read=True)
    for moved in findings_moved(before, now):
        row = rows.get(moved.found.key) or _begun(pull, current, moved.found)
        FindingStatus.objects.get_or_create(
            finding=row, round=current, defaults={"trend": moved.trend, "how": moved.how}
        )
        Finding.objects.filter(pk=row.pk).update(
            is_open=moved.found.is_open,
            closed_as=moved.found.closed_as,
            reopened_count=row.reopened_count + (moved.trend is Trend.REOPENED),
        )


def entries_of(pull: PullRequest, generation: int) -> tuple[Entry, ...]:
    """What was open at the entry of each round of the generation, the oldest first; unread entries are left out."""
    counted = {trend: Count("findings", filter=Q(findings__trend=trend)) for trend in Trend}
    rounds = (
        Round.objects.filter(pull=pull, generation=generation, entry_read=True)
        .annotate(**{f"{trend}_count": count for trend, count in counted.items()})
        .order_by("number")
    )
    told = []
    for each in rounds.values_list("number", *(f"{trend}_count" for trend in Trend)):
        number, new, repeat, reopened, gone = each
        told.append(Entry(number, new + repeat + reopened, new, repeat, reopened, gone))
    return tuple(told)


def recurring_of(pull: PullRequest, generation: int) -> tuple[Recurring, ...]:
    """The points of the generation that were reopened, each fingerprint once."""
    points: dict[str, list[Finding]] = defaultdict(list)
    for row in Finding.objects.filter(pull=pull, generation=generation, reopened_count__gt=0).order_by("id"):
        points[row.fingerprint].append(row)
    return tuple(
        Recurring(
            mark,
            sum(row.reopened_count for row in rows),
            sum(row.reopened_told for row in rows),
            f"{rows[-1].path}: {rows[-1].text}",
        )
        for mark, rows in points.items()
    )


def churn_told(pull: PullRequest, generation: int) -> None:
    """Note that a person was asked about everything that was reopened so far, in the caller's transaction."""
    for row in Finding.objects.filter(pull=pull, generation=generation, reopened_count__gt=0):
        Finding.objects.filter(pk=row.pk).update(reopened_told=row.reopened_count)


def _begun(pull: PullRequest, current: Round, found: Found) -> Finding:
    row, _ = Finding.objects.get_or_create(
        pull=pull,
        generation=current.generation,
        kind=found.kind,
        forge_id=found.forge_id,
        defaults={
            "fingerprint": found.fingerprint,
            "author": found.author,
            "path": found.path[:LONGEST_TEXT],
            "text": found.text[:LONGEST_TEXT],
            "url": found.url,
        },
    )
    return row


def _thread(thread: Thread, people: People) -> Found | None:
    """A thread by a reviewer or a trusted person; resolved, it is declined where somebody of ours said so."""
    first = thread.comments.items[0] if thread.comments.items else None
    stranger = first is None or people.standing(first.author, first.association) not in MAY_FIND
    if first is None or stranger or is_ack_thread(thread, people):
        return None
    declined = any(
        is_declined(comment.body) and people.standing(comment.author, comment.association) in MAY_DECLINE
        for comment in thread.comments.items[1:]
    )
    closed = (Closed.DECLINED if declined else Closed.FIXED) if thread.resolved else ""
    return Found(
        FindingKind.THREAD,
        thread.id,
        fingerprint(first.body, thread.path),
        closed,
        first.author.login if first.author else "",
        thread.path,
        _first_words(first.body),
        first.url,
    )


def _advisory(each: Advised) -> Found:
    closed = (Closed.DECLINED if each.declined else Closed.FIXED) if each.acknowledged else ""
    return Found(FindingKind.ADVISORY, each.id, each.id, closed, each.reviewer, each.path, _first_words(each.text))


def _changes(review: KnownReview, read: Review | None, url: str) -> Found:
    """A request for changes that stands; it vanishes with the next opinion of its author."""
    said = (read.body if read else "") or f"changes requested by {review.author}"
    address = f"{url}#pullrequestreview-{review.forge_id}"
    return Found(
        FindingKind.CHANGES, review.forge_id, fingerprint(said, ""), "", review.author, "", _first_words(said), address
    )


def _first_words(text: str) -> str:
    return " ".join(text.replace("\0", "\ufffd").split())[:LONGEST_TEXT]
