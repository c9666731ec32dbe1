"""Questions of the merge flow to people: each names the pull request, the facts and the choices. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
    inputs: str = ""  # what the verdict was made of
    failing: Sequence[tuple[str, str]] = ()  # name of the check, address of its run
    attempts: Sequence[str] = ()
    counters: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # name: (now, most)
    dependencies: Sequence[str] = ()  # those that the question is about
    landed_sha: str = ""
    words: str = ""  # the forge's own, or what was found
    doc: str = ""  # where the repository says how it wants things merged
    agent: str = ""  # the agent that asks, or was last at work
    asked: str = ""  # what that agent asks


def _checks_failing(case: Case) -> str:
    names = ", ".join(name for name, _ in case.failing[:NAMED_CHECKS]) or "a required check"
    more = f" and {len(case.failing) - NAMED_CHECKS} more" if len(case.failing) > NAMED_CHECKS else ""
    return f"{names}{more} failed on {short(case.head)}. Fix it, then merge again, or abandon the pull request?"


def _conflict(case: Case) -> str:
    return f"{short(case.head)} conflicts with {case.base_ref}. Resolve it, then merge again, or abandon?"


def _agent_question(case: Case) -> str:
    return case.asked


def _agent_sla(case: Case) -> str:
    return f"{case.agent or 'the agent'} was not done in its time and was stopped. Let it try again, or abandon?"


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


def _manual(case: Case) -> str:
    return (
        f"{short(case.head)} is ready, and {case.base_ref} is merged by people alone. Merge it on GitHub, or abandon?"
    )


def _approval(case: Case) -> str:
    return f"{case.base_ref} needs a person's approval of each head. Shall {short(case.head)} be merged into it?"


def _returned(case: Case) -> str:
    most = case.counters.get("returns", (0, 0))[1]
    return (
        f"it went back to review {most} times in a row, and {short(case.head)} needs one again. Allow it, or abandon?"
    )


def _dependency_closed(case: Case) -> str:
    named = ", ".join(case.dependencies[:NAMED_CHECKS]) or "a pull request"
    return f"it waits for {named}, which was closed without merging. Drop the dependency, keep waiting, or abandon?"


def _dependency_cycle(case: Case) -> str:
    named = ", ".join(case.dependencies[:NAMED_CHECKS]) or "another"
    return f"it waits for {named}, which waits for it in turn. Drop a dependency, or abandon it?"


def _queue_stalled(case: Case) -> str:
    return f"{short(case.head)} has stood in the merge queue of {case.base_ref} for too long. Look again, or abandon?"


def _evicted(case: Case) -> str:
    return f"the merge queue dropped it again and again, at last with: {_last(case)}. Enter it again, or abandon?"


def _dequeued(case: Case) -> str:
    return f"it was taken out of the merge queue ({_last(case)}), so somebody meant it. Enter it again, or abandon?"


def _unreachable(case: Case) -> str:  # noqa: ARG001 - one shape for all
    return "GitHub has not shown it, or its branch, for ten minutes. Restore access and retry, or abandon it?"


def _landing(case: Case) -> str:
    return (
        f"merged as {short(case.landed_sha)}, but {case.base_ref} does not contain that commit. Look again, or abandon?"
    )


QUESTIONS: dict[str, Callable[[Case], str]] = {
    "checks_failing": _checks_failing,
    "conflict": _conflict,
    "agent_question": _agent_question,
    "agent_sla": _agent_sla,
    "draft": _draft,
    "stalled": _stalled,
    "merge_retries_spent": _retries_spent,
    "merge_refused": _refused,
    "merge_forbidden": _forbidden,
    "dead_end_base": _dead_end,
    "manual_landing": _manual,
    "approval_required": _approval,
    "returned_too_often": _returned,
    "dependency_closed": _dependency_closed,
    "dependency_cycle": _dependency_cycle,
    "queue_stalled": _queue_stalled,
    "evicted_too_often": _evicted,
    "dequeued": _dequeued,
    "unreachable": _unreachable,
    "landing_unverified": _landing,
}
READY_AGAIN = "it becomes ready to merge"
ENDED = "it is merged or closed"
VERDICT_CHANGED = "its verdict changes, or the base moves and it is ready"
WITHDRAWN_WHEN = {
    "checks_failing": READY_AGAIN,
    "conflict": READY_AGAIN,
    "agent_question": READY_AGAIN,
    "agent_sla": READY_AGAIN,
    "draft": "it is marked ready for review",
    "stalled": READY_AGAIN,
    "merge_retries_spent": VERDICT_CHANGED,
    "merge_refused": VERDICT_CHANGED,
    "merge_forbidden": ENDED,
    "dead_end_base": "it is retargeted to another base",
    "manual_landing": "somebody merges it",
    "approval_required": "its head moves",
    "returned_too_often": ENDED,
    "dependency_closed": "the dependency is reopened, merged or no longer declared",
    "dependency_cycle": "the dependency is merged or no longer declared",
    "queue_stalled": ENDED,
    "evicted_too_often": READY_AGAIN,
    "dequeued": "it stands in the merge queue again",
    "unreachable": "GitHub shows it again, with its branch",
    "landing_unverified": "the landed commit is seen on the base",
}
MEANINGS = {  # what each choice does, beside the question
    "retry": "Retry: looks at everything anew, with its counters set back, and merges as soon as it is ready.",
    "abandon": "Abandon: the product lets go of the pull request; it stays as it is on GitHub.",
    "approve": "Approve: this head is merged; another head is asked about again.",
    "reject": "Reject: the product lets go of the pull request; it stays as it is on GitHub.",
    "drop_dependency": "Drop the dependency: it merges without waiting for the one that you choose.",
}
ADDED = {  # choices beside retry and abandon, by reason
    "approval_required": ("approve", "reject"),
    "dependency_closed": ("drop_dependency",),
    "dependency_cycle": ("drop_dependency",),
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
        *([f"- Read: {case.inputs}"] if case.inputs else []),
        *(f"- {name}: {now} of {most}" for name, (now, most) in case.counters.items()),
        *([f"- How this repository merges: {_quoted(case.doc)}"] if case.doc else []),
        *([f"- Last at work: {case.agent}"] if case.agent else []),
    ]
    parts = ["\n".join(facts)]
    if case.words:
        parts.append(f"GitHub says: {_quoted(case.words)}")
    if case.dependencies:
        parts.append("\n".join(["Waits for:", *(f"- {_quoted(each)}" for each in case.dependencies[:MOST_LISTED])]))
    if case.failing:
        listed = [f"- {_quoted(name)} {url}".rstrip() for name, url in case.failing[:MOST_LISTED]]
        parts.append("\n".join(["Failing checks:", *listed]))
    if case.attempts:
        parts.append("\n".join(["Last tries to merge:", *(f"- {line}" for line in case.attempts)]))
    choices = [MEANINGS[name] for name in ("retry", *ADDED.get(reason, ()), "abandon")]
    parts.append("\n".join([*choices, f"Nobody needs to answer once {WITHDRAWN_WHEN[reason]}."]))
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    """Text from outside on one line, as code, so that nothing in it is markup."""
    plain = " ".join(text.replace("`", "'").split())
    return f"`{plain}`" if plain else "(blank)"
