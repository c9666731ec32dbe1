"""The facts that would move a waiting merge on: how each stands now, and what it needs to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.services.escalations import escalation_current
from merging.decisions.dependencies import Standing
from merging.flow import MergeState
from merging.looks.ready import HELD_TRIAL_MERGE, PAUSED
from merging.selectors.dependencies import dependencies_of
from merging.selectors.lanes import lane_ahead
from merging.services.move import BASE_BUSY
from merging.texts import WITHDRAWN_WHEN
from runs.flows.registry import Wake
from runs.models import Run

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from merging.models import MergeFlow

S = MergeState
NEEDS = {  # what a verdict that waits needs to be, by its reason
    "review_required": "an approval; the stall probe asks again later",
    "branch_rules": "the rule met; the stall probe asks again later",
    "check_missing": "a run of the declared check; a fresh run of the head where the base allows it",
    "checks_pending": "the end of the checks that run",
    "protocol_invalid": "a declaration on the base that can be understood",
}
HELD_NEEDS = {  # what a ready one waits for
    PAUSED: "ready, with the pause lifted",
    HELD_TRIAL_MERGE: "ready, with its plan's hold released",
}
SETTLED = "a settled reading; failed checks and conflicts are repaired, a draft asks a person"


def run_of(flow: MergeFlow) -> Run | None:
    """The newest run of the flow's agents."""
    return Run.objects.filter(run_id=flow.run_id).first() if flow.run_id else None


def _dependencies(flow: MergeFlow) -> Wake:
    waits = [row for row in dependencies_of(flow.pull) if row.standing != Standing.CLEAR]
    now = ", ".join(f"{row.reference} {row.note or row.standing}".replace("_", " ") for row in waits[:10])
    return Wake("dependencies", now or "not looked at yet", "each of them merged, or dropped by a person")


def _lane(flow: MergeFlow) -> Wake:
    first = ", ".join(lane_ahead(flow.pull))
    return Wake("lane", f"{first} first" if first else "free", "it landed, escalated or abandoned, or a person's pass")


def _run(flow: MergeFlow) -> Wake:
    run = run_of(flow)
    now = f"{run.state}, {run.reason_code}".rstrip(", ") if run else "not started"
    return Wake("run", now, "the agent's result")


def _queue(flow: MergeFlow) -> Wake:
    now = f"position {flow.queue_position}" if flow.queue_position else "entered"
    return Wake("queue", now, "landed, or out of the queue")


def _verdict(flow: MergeFlow) -> Wake:
    now = f"{flow.verdict}: {flow.verdict_reason}".strip(": ").replace("_", " ") if flow.verdict else "not read yet"
    if flow.held_reason == BASE_BUSY:
        return Wake("verdict", now, f"ready, with {flow.base_ref} free of another merge")
    need = HELD_NEEDS.get(flow.held_reason) or NEEDS.get(flow.verdict_reason) or SETTLED
    return Wake("verdict", now, need)


def _timer(flow: MergeFlow) -> Wake:
    then = {
        S.WAITING_MERGE: "then the stall is probed",
        S.REPOLLING: "then the stall is probed again, at last a person is asked",
        S.UPDATING_BRANCH: "then the branch is read back",
        S.FIXING_CI: "then the agent is stopped and a person is asked",
        S.REBASING: "then the agent is stopped and a person is asked",
        S.MERGING: "then the outcome is read back",
        S.QUEUED: "then a person is asked",
        S.VERIFYING_LANDING: "then a person is asked",
    }[S(flow.state)]
    return Wake("timer", instant(flow.timer_at), f"{instant(flow.timer_at)}, {then}")


def _outcome(flow: MergeFlow) -> Wake:
    if flow.state == S.UPDATING_BRANCH:
        return Wake("outcome", "asked for", "the base in the branch, as read back")
    sent = flow.attempts.filter(outcome="", sent_at__isnull=False).order_by("-id").first()
    now = f"sent at {instant(sent.sent_at)}" if sent else "not sent yet"
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
    head = (flow.verdict_head or flow.pull.head_sha)[:7] or "unread"
    return Wake("pull_request", f"open at {head}", "merged or closed by anybody, or a head that was not reviewed")


def instant(at: datetime | None) -> str:
    """An instant as people read it."""
    return f"{at:%Y-%m-%d %H:%M:%S} UTC" if at else "not set"


WAKES: dict[str, Callable[[MergeFlow], Wake]] = {
    "dependencies": _dependencies,
    "lane": _lane,
    "run": _run,
    "queue": _queue,
    "verdict": _verdict,
    "timer": _timer,
    "outcome": _outcome,
    "landing": _landing,
    "answer": _answer,
    "reason_gone": _reason_gone,
    "pull_request": _pull_request,
}
