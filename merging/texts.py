"""Questions of the merge flow to people: each names the pull request, the facts and the choices. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from convergence.texts import Question, short

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MOST_LISTED = 20
NAMED_CHECKS = 3  # in the one sentence; all are listed beside it


@dataclass(frozen=True, slots=True)
class Case:
    """What a question is about: the pull request and everything that its reader needs to decide."""

    key: str
    url: str
    title: str
    head: str | None
    base_ref: str
    verdict: str = ""
    verdict_reason: str = ""
    failing: Sequence[tuple[str, str]] = ()  # name of the check, address of its run
    attempts: Sequence[str] = ()
    counters: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # name: (now, most)
    landed_sha: str = ""
    words: str = ""  # the forge's own, or what was found


def _checks_failing(case: Case) -> str:
    names = ", ".join(name for name, _ in case.failing[:NAMED_CHECKS]) or "a required check"
    more = f" and {len(case.failing) - NAMED_CHECKS} more" if len(case.failing) > NAMED_CHECKS else ""
    return f"{names}{more} failed on {short(case.head)}. Fix it, then merge again, or abandon the pull request?"


def _conflict(case: Case) -> str:
    return f"{short(case.head)} conflicts with {case.base_ref}. Resolve it, then merge again, or abandon?"


def _draft(case: Case) -> str:  # noqa: ARG001 - one shape for all
    return "it is a draft, which GitHub does not merge. Mark it ready for review, or abandon it here?"


def _stalled(case: Case) -> str:
    why = case.verdict_reason.replace("_", " ") or "nothing settled"
    return f"GitHub has not said for long whether it may merge ({why}). Look again, or abandon?"


def _retries_spent(case: Case) -> str:
    return f"every try to merge {short(case.head)} failed, the last one with: {_last(case)}. Try again, or abandon?"


def _refused(case: Case) -> str:
    return f"GitHub calls {short(case.head)} ready, but refuses to merge it: {_last(case)}. Try again, or abandon?"


def _forbidden(case: Case) -> str:
    return f"GitHub does not allow this token to merge it: {_last(case)}. Give the permission and retry, or abandon?"


def _dead_end(case: Case) -> str:
    return f"its base {case.base_ref} was merged already, so what lands there reaches nobody. Retarget it, or abandon?"


def _returned(case: Case) -> str:
    most = case.counters.get("returns", (0, 0))[1]
    return (
        f"it went back to review {most} times in a row, and {short(case.head)} needs one again. Allow it, or abandon?"
    )


def _unreachable(case: Case) -> str:  # noqa: ARG001 - one shape for all
    return "GitHub has not shown it, or its branch, for ten minutes. Restore access and retry, or abandon it?"


def _landing(case: Case) -> str:
    return (
        f"merged as {short(case.landed_sha)}, but {case.base_ref} does not contain that commit. Look again, or abandon?"
    )


QUESTIONS: dict[str, Callable[[Case], str]] = {
    "checks_failing": _checks_failing,
    "conflict": _conflict,
    "draft": _draft,
    "stalled": _stalled,
    "merge_retries_spent": _retries_spent,
    "merge_refused": _refused,
    "merge_forbidden": _forbidden,
    "dead_end_base": _dead_end,
    "returned_too_often": _returned,
    "unreachable": _unreachable,
    "landing_unverified": _landing,
}
WITHDRAWN_WHEN = {
    "checks_failing": "it becomes ready to merge",
    "conflict": "it becomes ready to merge",
    "draft": "it is marked ready for review",
    "stalled": "it becomes ready to merge",
    "merge_retries_spent": "its verdict changes, or the base moves and it is ready",
    "merge_refused": "its verdict changes, or the base moves and it is ready",
    "merge_forbidden": "it is merged or closed",
    "dead_end_base": "it is retargeted to another base",
    "returned_too_often": "it is merged or closed",
    "unreachable": "GitHub shows it again, with its branch",
    "landing_unverified": "the landed commit is seen on the base",
}


def merge_question(reason: str, case: Case) -> Question:
    """Return the one sentence and, beside it, what was tried, what each choice does and what withdraws the question."""
    return Question(reason, f"{case.key}: {QUESTIONS[reason](case)}", _context(reason, case))


def _last(case: Case) -> str:
    return " ".join(case.words.split()).rstrip(".")[:120] or "no reason given"


def _context(reason: str, case: Case) -> str:
    verdict = f"{case.verdict}, {case.verdict_reason}" if case.verdict_reason else case.verdict or "unknown"
    facts = [
        f"- Pull request: {_quoted(case.title)} {case.url}",
        f"- Head {short(case.head)} onto {_quoted(case.base_ref)}; verdict: {verdict}",
        *(f"- {name}: {now} of {most}" for name, (now, most) in case.counters.items()),
    ]
    parts = ["\n".join(facts)]
    if case.words:
        parts.append(f"GitHub says: {_quoted(case.words)}")
    if case.failing:
        listed = [f"- {_quoted(name)} {url}".rstrip() for name, url in case.failing[:MOST_LISTED]]
        parts.append("\n".join(["Failing checks:", *listed]))
    if case.attempts:
        parts.append("\n".join(["Last tries to merge:", *(f"- {line}" for line in case.attempts)]))
    parts.append(
        "Retry: looks at everything anew, with its counters set back, and merges as soon as it is ready.\n"
        "Abandon: the product lets go of the pull request; it stays as it is on GitHub.\n"
        f"Nobody needs to answer once {WITHDRAWN_WHEN[reason]}."
    )
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    """Text from outside on one line, as code, so that nothing in it is markup."""
    plain = " ".join(text.replace("`", "'").split())
    return f"`{plain}`" if plain else "(blank)"


def merge_form(reason: str) -> dict[str, Any]:
    """Return the form of a question; ``{"answer": "…"}`` alone is a plain retry."""
    retry = "Look for the landed commit again." if reason == "landing_unverified" else "Look anew and merge when ready."
    choices = [
        {"id": "retry", "label": "Try again", "description": retry, "tone": "primary"},
        {
            "id": "abandon",
            "label": "Abandon",
            "description": "The product lets go of the pull request; it stays as it is on GitHub.",
            "tone": "danger",
        },
    ]
    return {
        "fields": [
            {"id": "resolution", "kind": "choice", "label": "What now", "default": "retry", "choices": choices},
            {
                "id": "answer",
                "kind": "long_text",
                "label": "Answer",
                "help": "What you decided or did, for the record.",
                "requiredWhen": {"resolution": ["retry"]},
            },
        ]
    }
