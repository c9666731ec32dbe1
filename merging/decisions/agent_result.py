"""What a repairing agent returned, read leniently: an unusable answer means "look at what is true"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from merging.decisions.dependencies import Reference, references_of
from merging.decisions.words import word
from merging.facts import AgentEnd
from runs.flow import RunState

if TYPE_CHECKING:
    from runs.queue.flow_steps import RunOutcome

FIXED, REATTEMPT, REBASED, WAITING_ON_PR, BLOCKED = "fixed", "reattempt", "rebased", "waiting_on_pr", "blocked"
STATUSES = {"fix-ci": frozenset({FIXED, REATTEMPT, WAITING_ON_PR, BLOCKED})}
STATUSES["rebase"] = frozenset({REBASED, WAITING_ON_PR, BLOCKED})
NEEDS_HUMAN = "needs_human"
LONGEST_SUMMARY = 2_000  # characters
LONGEST_QUESTION = 4_000
CUT = "\n[cut]"


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """How a run ended, for the table; ``head`` is the commit that the worker itself read in the workspace."""

    end: AgentEnd = AgentEnd.ENDED
    status: str = ""
    question: str = ""
    summary: str = ""
    pushed: bool = False
    head: str = ""
    references: tuple[Reference, ...] = ()


def agent_answer(run: RunOutcome, *, agent: str, started_at: str, repository: str, server_url: str) -> AgentAnswer:
    """Read how the run at rest ended. ``started_at`` is the head that it began with.

    Whether it pushed is the worker's evidence where there is one, else the agent's word.
    """
    if run.state == RunState.REFUSED and run.reason_code == NEEDS_HUMAN:
        return AgentAnswer(end=AgentEnd.ASKS, question=_decision_question(run))
    artifact = run.artifact if run.completed and not run.defaulted else None
    result: Mapping[str, Any] = artifact if isinstance(artifact, Mapping) else {}
    workspace = run.evidence.get("workspace")
    seen: Mapping[str, Any] = workspace if isinstance(workspace, Mapping) else {}
    head = seen.get("headSha") if seen.get("pushed") else None
    pushed = bool(head and head != started_at) if seen else result.get("pushed") is True
    status = word(result.get("status"))
    status = status if status in STATUSES[agent] else ""
    ends = {WAITING_ON_PR: AgentEnd.WAITS, BLOCKED: AgentEnd.BLOCKED}
    named = references_of(result.get("dependsOn"), repository=repository, server_url=server_url)
    return AgentAnswer(
        end=ends.get(status, AgentEnd.ENDED),
        status=status,
        question=_text(result.get("question"), LONGEST_QUESTION),
        summary=_text(result.get("summary"), LONGEST_SUMMARY),
        pushed=pushed,
        head=str(head or ""),
        references=named.references if status == WAITING_ON_PR else (),
    )


def _decision_question(run: RunOutcome) -> str:
    decision = run.result.get("decision") if run.result else None
    return _text(decision.get("question"), LONGEST_QUESTION) if isinstance(decision, Mapping) else ""


def _text(value: Any, most: int) -> str:
    """The agent's text; a NUL character, which no column of PostgreSQL holds, becomes the replacement character."""
    text = value.replace("\0", "\ufffd").strip() if isinstance(value, str) else ""
    return text if len(text) <= most else text[:most] + CUT
