"""Why a pull request waits on its way to the base, and what would move it: from rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from convergence.services.escalations import escalation_current
from merging.decisions.dependencies import Standing
from merging.decisions.mergeability import COMPUTING
from merging.flow import AGENT_STATES, MERGE_WAKES, MergeState
from merging.models import MergeFlow
from merging.selectors.dependencies import dependencies_of
from merging.selectors.lanes import lane_ahead
from merging.services.lanes import LANE_AHEAD
from merging.services.move import BASE_BUSY
from merging.wakes import WAKES, instant, run_of
from runs.flows.registry import Waiting
from runs.queue.limits.pauses import pause_over

if TYPE_CHECKING:
    from collections.abc import Callable

    from runs.models.flow_row import FlowRow

S = MergeState
READING = "computing"
SENTENCES = {
    "dependencies": "waits for other pull requests",
    READING: "GitHub has not settled whether it may merge",
    "unverifiable": "its checks or heads could not be read completely",
    "unclassified": "GitHub answers with a merge state that is not known",
    "protocol_invalid": "what its base declares about merging cannot be understood, and never could",
    "checks_pending": "checks run that must be green",
    "checks_failing": "checks fail, and are about to run again",
    "queue_checks_failing": "checks failed in the merge queue",
    "check_missing": "a declared check has no run on this head",
    "review_required": "the base branch wants a review",
    "branch_rules": "the base branch has a rule that is not met",
    "queue": "it stands in GitHub's merge queue",
    "paused": "merges of this repository are paused",
    "held_trial_merge": "its plan holds it until the trial merge",
    BASE_BUSY: "another pull request is landing on the same base",
    LANE_AHEAD: "a neighbour of its lane lands first",
    "retry_pause": "rests after a try that failed",
    "lane": "lands after a neighbour of its lane",
    "updating_branch": "its base is being brought into its branch",
    "agent_queued": "an agent is to repair it, and waits for a worker",
    "agent_running": "an agent repairs it",
    "merging": "is being merged",
    "landing": "merged, and not yet seen on the base",
    "human_answer": "a person is asked",
}
STATE_REASONS = {
    S.WAITING_DEPS: "dependencies",
    S.WAITING_LANE: "lane",
    S.UPDATING_BRANCH: "updating_branch",
    S.MERGING: "merging",
    S.QUEUED: "queue",
    S.VERIFYING_LANDING: "landing",
    S.ESCALATED: "human_answer",
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
        would_move_on=[WAKES[fact](flow) for fact in MERGE_WAKES.get(flow.state, ())],
        last_look_at=flow.last_look_at,
        last_look_error=flow.last_look_error,
        next_look_at=flow.due_at,
        paused_by="forge_unavailable" if flow.last_look_error.startswith("forge_") else None,
    )


def _reason(flow: MergeFlow) -> str:
    if flow.state in AGENT_STATES:
        run = run_of(flow)
        return "agent_running" if run is not None and run.first_claimed_at else "agent_queued"
    return STATE_REASONS.get(S(flow.state)) or flow.held_reason or flow.verdict_reason or COMPUTING


def _sentence(flow: MergeFlow, reason: str) -> str:
    if reason == "human_answer":
        asked = escalation_current(flow.pull)
        return asked.task.question if asked else SENTENCES[reason]
    if reason == "landing":
        landed = flow.attempts.filter(outcome="merged").order_by("-id").first()
        if landed is not None and landed.landed_sha:
            return f"merged as {landed.landed_sha[:7]}, and not yet seen on {flow.base_ref}"
    found = _DETAILED.get(reason)
    return (found(flow) if found else "") or SENTENCES.get(reason, reason.replace("_", " "))


def _dependencies_sentence(flow: MergeFlow) -> str:
    waits = [row for row in dependencies_of(flow.pull) if row.standing != Standing.CLEAR]
    if not waits:
        return "waits for the first look at it" if flow.last_look_at is None else ""
    return f"waits for {len(waits)} pull request{'s' if len(waits) > 1 else ''}"


def _lane_sentence(flow: MergeFlow) -> str:
    first = lane_ahead(flow.pull)
    return f"lands after {', '.join(first)}" if first else ""


def _checks_sentence(flow: MergeFlow) -> str:
    names = flow.verdict_inputs.get("runningNames") or []
    return f"{len(names)} check{'s' if len(names) > 1 else ''} run: {', '.join(names[:3])}" if names else ""


def _missing_sentence(flow: MergeFlow) -> str:
    missing = [each["name"] for each in flow.verdict_inputs.get("declared", []) if each["state"] == "missing"]
    return f"declared check {', '.join(missing[:3])} has no run on this head" if missing else ""


def _queue_sentence(flow: MergeFlow) -> str:
    return f"stands in the merge queue at position {flow.queue_position}" if flow.queue_position else ""


def _paused_sentence(flow: MergeFlow) -> str:
    pause = pause_over(repository=flow.pull.repository.full_name)
    who = pause.actor.removeprefix("operator:") if pause else ""
    return f"merges are paused by {who}: {pause.reason}" if pause else ""


def _agent_sentence(flow: MergeFlow) -> str:
    run = run_of(flow)
    if run is None:
        return ""
    name = run.agent_ref.partition("@")[0]
    if run.first_claimed_at:
        return f"{name} works since {instant(run.first_claimed_at)} ({run.run_id})"
    return f"{name} is queued since {instant(run.created_at)} ({run.run_id})"


_DETAILED: dict[str, Callable[[MergeFlow], str]] = {
    "dependencies": _dependencies_sentence,
    "lane": _lane_sentence,
    "checks_pending": _checks_sentence,
    "check_missing": _missing_sentence,
    "queue": _queue_sentence,
    "paused": _paused_sentence,
    "agent_queued": _agent_sentence,
    "agent_running": _agent_sentence,
}
