"""Questions and sentences for people: each names the pull request, the facts and the choices. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHORT_SHA = 7
Waives = tuple[tuple[str, str], ...]  # kind and id of each listed thing
QUESTION_REASONS = frozenset({"needs_input", "churn", "scope"})  # the others are blockers


@dataclass(frozen=True, slots=True)
class Question:
    """A full question with its reason; ``context`` is Markdown that stands beside it."""

    reason: str
    text: str
    context: str = ""
    waives: tuple[tuple[str, str], ...] = ()  # kind and id of what an answer may let pass, at ``waive_head``
    waive_head: str = ""

    @property
    def kind(self) -> str:
        """Whether somebody asks, or something blocks."""
        return "question" if self.reason in QUESTION_REASONS else "blocker"

    @property
    def may_waive(self) -> bool:
        """Whether an answer may let pass what the question lists; nothing is let pass at an unknown head."""
        return bool(self.waives and self.waive_head)


@dataclass(frozen=True, slots=True)
class Place:
    """What every question names: the pull request, its round and its head."""

    key: str
    url: str
    round: int
    max_rounds: int
    head: str | None

    @property
    def words(self) -> str:
        """``owner/repo#12 (round 3 of 20, head 9f3c2e1)``."""
        return f"{self.key} (round {self.round} of {self.max_rounds}, head {short(self.head)})"


def short(sha: str | None) -> str:
    """A commit as people read it."""
    return sha[:SHORT_SHA] if sha else "unknown"


def agent_question(place: Place, reason: str, text: str, summary: str) -> Question:
    """The agent's own words; the pull request stands beside them."""
    return Question(reason, text, _joined(f"Asked by the agent on {place.words}: {place.url}", summary))


def round_cap(place: Place, open_threads: Sequence[str], rounds: Iterable[str]) -> Question:
    """All rounds are used."""
    return Question(
        "round_cap",
        f"{place.words}: all {place.max_rounds} rounds are used and the review still goes on. "
        "Shall the agent try again (with how many extra rounds), or is the pull request to be abandoned?",
        _joined(_listing("Findings by round", rounds), _listing("Open now", open_threads)),
    )


def churn(place: Place, reason: str, rounds: Iterable[str], point: str) -> Question:
    """The rounds lead nowhere."""
    told = (
        "one finding came back twice after it was settled"
        if reason == "ping_pong"
        else "the open findings do not get fewer"
    )
    return Question(
        "churn",
        f"{place.words}: {told}. "
        "Tell the agent what to do about it and it goes on (with how many extra rounds), or abandon the pull request.",
        _joined(_listing("Findings by round", rounds), f"Keeps coming back: {point}" if point else ""),
    )


def no_advance(place: Place, raw_status: str, attempts: Iterable[str]) -> Question:
    """The agent ended without moving the branch."""
    said = f" It reported {raw_status!r}." if raw_status else ""
    return Question(
        "no_advance",
        f"{place.words}: the agent ended without pushing anything.{said} "
        "Tell it what to do differently and it tries again, or abandon the pull request.",
        _listing("Attempts", attempts),
    )


def husk_exhausted(place: Place, attempts: Iterable[str]) -> Question:
    """The agent died each time."""
    return Question(
        "husk_exhausted",
        f"{place.words}: the agent died before it could finish, three times in a row. "
        "Look at its workers, then let it try again, or abandon the pull request.",
        _listing("Attempts", attempts),
    )


def review_stalled(
    place: Place, reviewers: Sequence[str], requests: Iterable[str], waited: str, waives: Waives = ()
) -> Question:
    """Nobody reviews the head."""
    names = ", ".join(reviewers) or "any reviewer"
    return Question(
        "review_stalled",
        f"{place.words}: no review by {names} came within {waited}. "
        "Start another round with the agent, or abandon the pull request? A review that arrives meanwhile is not lost.",
        _listing("Requests", requests),
        waives,
        place.head or "",
    )


def reviewer_unavailable(place: Place, refusals: Iterable[str], waives: Waives = ()) -> Question:
    """No configured reviewer can be requested."""
    return Question(
        "reviewer_unavailable",
        f"{place.words}: no configured reviewer can be requested here. "
        "Start another round with the agent, or abandon the pull request?",
        _listing("GitHub says", refusals),
        waives,
        place.head or "",
    )


def unaddressed_comments(place: Place, items: Sequence[str], waives: Waives = ()) -> Question:
    """The agent calls it done while something is open."""
    return Question(
        "unaddressed_comments",
        f"{place.words}: the agent says that nothing is left to do, but {len(items)} "
        f"{'point is' if len(items) == 1 else 'points are'} open. "
        "Settle them and let it go on, say what the agent is to do, or abandon the pull request.",
        _listing("Open", items),
        waives,
        place.head or "",
    )


def ack_budget_spent(place: Place, items: Sequence[str], repeats: int, waives: Waives = ()) -> Question:
    """Only paperwork is left, and the agent does not do it."""
    often = {0: "was not asked again", 1: "was asked once more"}.get(repeats, f"was asked {repeats} times more")
    return Question(
        "ack_budget_spent",
        f"{place.words}: nothing is left to do but to acknowledge {len(items)} "
        f"{'comment' if len(items) == 1 else 'comments'} that the reviewer suppressed; the agent {often}. "
        "Let them pass, tell the agent what to do, or abandon the pull request.",
        _listing("Not acknowledged", items),
        waives,
        place.head or "",
    )


def scope(place: Place, reason: str) -> Question:
    """The classifier's own words; the pull request stands beside them."""
    context = f"Asked by the scope check on {place.words}: {place.url}"
    return Question("scope", reason, context)


def asked_anew(place: Place, reason: str, text: str, taken_back: str) -> Question:
    """A question whose answer was taken back."""
    return Question(reason, text, f"{taken_back} It is asked anew on {place.words}: {place.url}")


def given_before(question: Question, who: str, answer: str) -> Question:
    """The question with the answer that was given to it in this round already."""
    told = f"The answer that {who} gave to this question was used in this round already:\n\n> {answer}"
    return replace(question, context=_joined(told, question.context))


def gate_unverifiable(place: Place, reason: str) -> Question:
    """The gate could not be read."""
    return Question(
        "gate_unverifiable",
        f"{place.words}: the reviews and threads cannot be read to their end ({reason}), so nobody can say whether it "
        "is done. Try again, or abandon the pull request?",
    )


def agent_sla(place: Place, worker: str, started: str) -> Question:
    """The agent takes too long."""
    return Question(
        "agent_sla",
        f"{place.words}: the agent on {worker or 'an unknown worker'} has worked since {started} and did not end in "
        "time; its run was cancelled. Try again, or abandon the pull request?",
    )


def run_refused(place: Place, reason: str, detail: str) -> Question:
    """The run could not be done."""
    told = f": {detail}" if detail else ""
    return Question(
        "run_refused",
        f"{place.words}: the agent's run ended with {reason or 'no reason'}{told}. "
        "Mend the cause and try again, or abandon the pull request.",
    )


def run_cancelled(place: Place, actor: str) -> Question:
    """A person cancelled the run, but not the pull request."""
    return Question(
        "run_cancelled",
        f"{place.words}: the agent's run was cancelled by {actor or 'an operator'}. "
        "Start it again, or abandon the pull request?",
    )


def unreachable(place: Place, answer: str) -> Question:
    """GitHub does not show the pull request or its branch any more."""
    return Question(
        "unreachable",
        f"{place.words}: GitHub has not shown it, or its branch, for more than ten minutes ({answer}). "
        "If a permission was lost, give it back and try again; else abandon the pull request.",
    )


def abandon_note(url: str) -> str:
    """What an agent is told about asking whether its work is still wanted."""
    return (
        "Before every push and every other write outside the checkout, ask whether this work is still wanted:\n"
        f"    GET {url}\n"
        'Stop at once, without pushing, when the answer says `"abandoned": true`, on any error, and on any status '
        "but 200."
    )


def answer_note(question: str, answer: str) -> str:
    """Question and answer as the agent reads them in the turn after."""
    return f"You asked, or the product asked for you:\n\n{question}\n\nA person answered:\n\n{answer}"


def ack_comment(advisory: str, verdict: str, note: str) -> str:
    """The comment by which the product acknowledges a suppressed advisory for its agent."""
    return f"{_joined(f'{verdict.capitalize()}.', note)}\n\nfactory-ack: #{advisory}"


def _joined(*parts: str) -> str:
    """The parts that say something, as paragraphs."""
    return "\n\n".join(part for part in parts if part)


def _listing(title: str, items: Iterable[str]) -> str:
    lines = [f"- {item}" for item in items]
    return "\n".join([f"{title}:", *lines]) if lines else ""


def rests_sentence(*, submitted_for_review: bool) -> str:
    """Why a converged pull request is not merged by the product, and what a person may do."""
    if submitted_for_review:
        why, instead = "It was submitted for review only", "resubmit it with its merge allowed"
    else:
        why, instead = "FACTORY_AUTO_MERGE was off when it converged", "turn the setting on and resubmit it"
    return f"{why}, so people merge it. Merge it on the forge, or {instead}."
