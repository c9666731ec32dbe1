"""Markers by which a suppressed advisory is acknowledged, and the threads that hold them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from convergence.fingerprint import fingerprint
from convergence.trust import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from convergence.forge.facts import Comment, Thread
    from convergence.trust import People

MAY_ACKNOWLEDGE = frozenset({Standing.TRUSTED, Standing.OWN})
MARKER = re.compile(r"^(?P<before>[^\n]*?)\b(?:factory|nano)-ack:[ \t]*(?P<rest>[^\n]*)", re.IGNORECASE | re.MULTILINE)
BY_ID = re.compile(r"#(?P<id>[0-9a-f]{16})\b", re.IGNORECASE)
BY_TEXT = re.compile(r"`?(?P<path>[^\n`]+?)`?(?::\d+(?:-\d+)?)?[ \t]+::[ \t]+(?P<text>\S[^\n]*)")
DECLINED = re.compile(r"^\W*declined\b", re.IGNORECASE)
QUOTED = ">"


def marked_ids(body: str) -> frozenset[str]:
    """The advisories that the markers of a comment name, by id or by path and text; a bare ``path:line`` names none.

    A text may go on over the lines after the marker, so that both its first line and the whole are taken. What the
    comment quotes of others is left out.
    """
    found: set[str] = set()
    marks = list(MARKER.finditer(body))
    ends = [*(mark.start() for mark in marks[1:]), len(body)]
    for mark, end in zip(marks, ends, strict=False):  # without a mark there is only the end
        if mark["before"].lstrip().startswith(QUOTED):
            continue
        by_id, by_text = BY_ID.match(mark["rest"]), BY_TEXT.match(mark["rest"])
        if by_id:
            found.add(by_id["id"].lower())
        elif by_text:
            path = by_text["path"].strip()
            found.add(fingerprint(by_text["text"], path))
            found.add(fingerprint(by_text["text"] + body[mark.end() : end], path))
    return frozenset(found)


def acknowledged(threads: Iterable[Thread], people: People) -> Mapping[str, bool]:
    """Ids of acknowledged advisories; true where the advisory was declined.

    Only a resolved thread acknowledges, by a comment of a trusted person or of the product itself.
    """
    found: dict[str, bool] = {}
    for thread in threads:
        if not thread.resolved:
            continue
        for comment in thread.comments.items:
            if _may_acknowledge(comment, people):
                found |= dict.fromkeys(marked_ids(comment.body), is_declined(comment.body))
    return found


def is_ack_thread(thread: Thread, people: People) -> bool:
    """Whether the thread is paperwork: its first comment holds a marker, by somebody who may acknowledge."""
    first = thread.comments.items[0] if thread.comments.items else None
    return first is not None and _may_acknowledge(first, people) and bool(marked_ids(first.body))


def is_declined(body: str) -> bool:
    """Whether the comment says that the point is declined."""
    return DECLINED.match(body) is not None


def _may_acknowledge(comment: Comment, people: People) -> bool:
    return people.standing(comment.author, comment.association) in MAY_ACKNOWLEDGE
