"""Why a pull request waits on its way to the base, and what would move it: from rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.services.escalations import escalation_current
from merging.decisions.mergeability import COMPUTING
from merging.flow import MERGE_WAKES, MergeState
from merging.models import MergeFlow
from merging.services.move import BASE_BUSY
from merging.texts import WITHDRAWN_WHEN
from runs.flows.registry import Waiting, Wake

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from runs.models.flow_row import FlowRow

S = MergeState
READING = "computing"
SENTENCES = {
    "dependencies": "waits for the first look at it",
    READING: "GitHub has not settled whether it may merge",
    "unverifiable": "its checks or heads could not be read completely",
    "unclassified": "GitHub answers with a merge state that is not known",
    "checks_pending": "required checks run",
    "review_required": "the base branch wants a review",
    "branch_rules": "the base branch has a rule that is not met",
    "queue": "it stands in GitHub's merge queue",
    BASE_BUSY: "another pull request is landing on the same base",
    "retry_pause": "rests after a try that failed",
    "merging": "is being merged",
    "landing": "merged, and not yet seen on the base",
    "human_answer": "a person is asked",
}


def merge_waiting_for(row: FlowRow) -> Waiting:
    """Answer from the row and its last look alone; the facts are exactly those that move the state."""
    flow = row if isinstance(row, MergeFlow) else MergeFlow.rows().get(pk=row.pk)
    reason = _reason(flow)
    return Waiting(
        reason=reason,
        sentence=_sentence(flow, reason),
        since=flow.entered_at,
        due_at=flow.timer_at,
        would_move_on=[_WAKES[fact](flow) for fact in MERGE_WAKES.get(flow.state, ())],
        last_look_at=flow.last_look_at,
        last_look_error=flow.last_look_error,
        next_look_at=flow.due_at,
        paused_by="forge_unavailable" if flow.last_look_error.startswith("forge_") else None,
    )


def _reason(flow: MergeFlow) -> str:
    if flow.state == S.WAITING_DEPS:
        return "dependencies"
    if flow.state == S.MERGING:
        return "merging"
    if flow.state == S.VERIFYING_LANDING:
        return "landing"
    if flow.state == S.ESCALATED:
        return "human_answer"
    return flow.held_reason or flow.verdict_reason or COMPUTING


def _sentence(flow: MergeFlow, reason: str) -> str:
    if reason == "human_answer":
        asked = escalation_current(flow.pull)
        return asked.task.question if asked else SENTENCES[reason]
    if reason == "landing":
        landed = flow.attempts.filter(outcome="merged").order_by("-id").first()
        if landed is not None and landed.landed_sha:
            return f"merged as {landed.landed_sha[:7]}, and not yet seen on {flow.base_ref}"
    return SENTENCES.get(reason, reason.replace("_", " "))


def _dependencies(flow: MergeFlow) -> Wake:  # noqa: ARG001 - one shape for all
    return Wake("dependencies", "not looked at yet", "a reading of the pull request; it has no dependencies")


def _verdict(flow: MergeFlow) -> Wake:
    now = f"{flow.verdict}: {flow.verdict_reason}".strip(": ").replace("_", " ") if flow.verdict else "not read yet"
    if flow.held_reason == BASE_BUSY:
        return Wake("verdict", now, f"ready, with {flow.base_ref} free of another merge")
    return Wake("verdict", now, "a settled reading: ready to merge; draft, conflict or a failed check asks a person")


def _timer(flow: MergeFlow) -> Wake:
    then = {
        S.WAITING_MERGE: "then the stall is probed",
        S.REPOLLING: "then the stall is probed again, at last a person is asked",
        S.MERGING: "then the outcome is read back",
        S.VERIFYING_LANDING: "then a person is asked",
    }[S(flow.state)]
    return Wake("timer", _at(flow.timer_at), f"{_at(flow.timer_at)}, {then}")


def _outcome(flow: MergeFlow) -> Wake:
    sent = flow.attempts.filter(outcome="", sent_at__isnull=False).order_by("-id").first()
    now = f"sent at {_at(sent.sent_at)}" if sent else "not sent yet"
    return Wake("outcome", now, "what the merge call came to, as read back")


def _landing(flow: MergeFlow) -> Wake:
    return Wake("landing", "not seen", f"the landed commit on {flow.base_ref}")


def _answer(flow: MergeFlow) -> Wake:
    asked = escalation_current(flow.pull)
    return Wake("answer", "open" if asked else "none", f"an answer to task {asked.task_id}" if asked else "an answer")


def _reason_gone(flow: MergeFlow) -> Wake:
    asked = escalation_current(flow.pull)
    reason = asked.reason if asked else ""
    return Wake("reason_gone", reason.replace("_", " "), WITHDRAWN_WHEN.get(reason, "its cause gone"))


def _pull_request(flow: MergeFlow) -> Wake:
    head = flow.verdict_head[:7] or "unread"
    return Wake("pull_request", f"open at {head}", "merged or closed by anybody, or a head that was not reviewed")


def _at(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC" if instant else "not set"


_WAKES: dict[str, Callable[[MergeFlow], Wake]] = {
    "dependencies": _dependencies,
    "verdict": _verdict,
    "timer": _timer,
    "outcome": _outcome,
    "landing": _landing,
    "answer": _answer,
    "reason_gone": _reason_gone,
    "pull_request": _pull_request,
}
