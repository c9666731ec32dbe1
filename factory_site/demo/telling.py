"""The words of the demo's terminal: one sentence for a transition, its tone, and the table at the end. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

COLOURS = {"good": "32", "you": "33", "off": "2", "bad": "31", "head": "1"}

# Edge → sentence; an edge with None is a step on the way that the next line tells better.
SENTENCES: Mapping[str, tuple[str, str] | None] = {
    "submitted": None,
    "entry_captured": ("round {round} begins: an agent is asked (turn {turn})", ""),
    "claimed_converged": ("the agent finds nothing left to do", ""),
    "asked_input": None,  # the question itself is told
    "asked_blocked": None,
    "turn_addressed": None,
    "turn_lost": ("the agent died before it could finish", "bad"),
    "progressed": ("new commits are on the branch; a review is asked for", ""),
    "husk_retried": ("another agent takes its place", ""),
    "empty_review_arrived": ("the review has no complaints", ""),
    "review_arrived": ("the review has remarks", ""),
    "stale_no_more": None,
    "scope_asked": ("an agent asks whether it delivers what it closes", ""),
    "scope_passed": ("converged: reviewed, and nothing open", "good"),
    "scope_outdated": ("it changed meanwhile; the gate looks again", ""),
    "ack_repeated": ("comments that the reviewer suppressed are left to acknowledge", ""),
    "answer_recalled": ("asked again what a person has answered; the answer is used", ""),
    "scope_answer_recalled": ("asked again what a person has answered; the answer is used", ""),
    "answered_waive": ("a person lets it pass", ""),
    "gate_passed": ("converged: reviewed, and nothing open", "good"),
    "gate_stale": ("the head changed; it needs a new review", ""),
    "answered": None,  # the answer itself is told
    "answered_abandon": ("abandoned, as answered", "off"),
    "answered_look_again": None,
    "cancelled": ("cancelled", "off"),
    "closed_elsewhere": ("closed by somebody on GitHub", "off"),
    "merged_elsewhere": ("merged by somebody on GitHub", "good"),
    "started": None,
    "dependencies_clear": ("waits until it may merge", ""),
    "reason_gone": ("its question has settled itself; nobody needs to answer", ""),
    "returned": ("goes back to review", ""),
    "merge_begun": ("is being merged", ""),
    "merge_landed": None,
    "merge_retried": ("GitHub refused for now; it is tried again", ""),
    "merge_not_now": ("not ready to merge after all", ""),
    "landing_proven": ("merged, and seen on its base", "good"),
    "landing_proven_late": ("merged, and seen on its base", "good"),
}


@dataclass(frozen=True, slots=True)
class Paper:
    """Where words are written: with colour only for a person's terminal."""

    colour: bool

    def toned(self, text: str, tone: str) -> str:
        """The text in the colour of its tone."""
        code = COLOURS.get(tone)
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code else text


def sentence(edge: str, to: str, *, number: int, turn: int) -> tuple[str, str] | None:
    """Words and tone of a transition in this round and turn, None for a step that needs no line.

    An edge that asks a person is told by its question, so it has no line either.
    """
    if edge not in SENTENCES:
        return None if to in {"await_answer", "escalated"} else (edge.replace("_", " "), "")
    found = SENTENCES[edge]
    return found and (found[0].format(round=number, turn=turn), found[1])


def question(text: str, key: str, most: int) -> str:
    """The question without the name that stands beside it already, in one line of at most so many characters."""
    plain = re.sub(rf"^{re.escape(key)}(?: \([^)]*\))?: ", "", " ".join(text.split()))
    return plain if len(plain) <= most else plain[: most - 1].rsplit(" ", 1)[0] + " …"


def clock(seconds: float) -> str:
    """Minutes and seconds since the start."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of aligned columns, two blanks between them."""
    lines = [list(titles), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(titles))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
