"""Sentences of the console: why a state waits, what an edge did, and what is wrong with a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# One line of the list for each state of the flows; `{head}` is the short head.
PULL_REASONS = {
    "capture_head": "Its head is being read",
    "review_round": "The review agent has its turn",
    "check_progress": "What the turn changed is being read",
    "await_review": "For a review of {head}",
    "converge_gate": "The gate reads every open thread",
    "scope_check": "An agent asks whether it delivers what it closes",
    "await_answer": "For an answer",
    "converged": "Nothing is open; people merge it",
    "merged": "Landed on its base",
    "abandoned": "Ended without a merge",
    "waiting_deps": "For the pull requests that it depends on",
    "waiting_merge": "For checks, reviews and rules of its base",
    "repolling": "It stalls; each probe reads everything again",
    "merging": "The merge call is on its way",
    "waiting_lane": "For a neighbour of its lane to land",
    "updating_branch": "For its base to be in its branch",
    "fixing_ci": "For its checks to be repaired",
    "rebasing": "For its conflict to be resolved",
    "queued": "For the merge queue",
    "verifying_landing": "For its commit to be seen on the base",
    "escalated": "For an answer",
    "returned": "A foreign push sent it back to review",
}

# What happens when a state's timer fires.
TIMER_EFFECTS = {
    "capture_head": "the head is read again",
    "check_progress": "the head is read again",
    "review_round": "a person is asked",
    "await_review": "a person is asked",
    "converge_gate": "a person is asked",
    "scope_check": "it goes on without the check",
    "waiting_merge": "the stall is probed",
    "repolling": "the stall is probed again",
    "updating_branch": "the branch is read back",
    "fixing_ci": "the agent is stopped and a person is asked",
    "rebasing": "the agent is stopped and a person is asked",
    "merging": "the outcome is read back",
    "queued": "a person is asked",
    "verifying_landing": "a person is asked",
}

# A transition as the end of a sentence that begins with the subject.
EDGES = {
    "submitted": "was submitted",
    "merged_elsewhere": "was merged by somebody else",
    "closed_elsewhere": "was closed by somebody else",
    "cancelled": "was cancelled",
    "unreachable": "cannot be read any more; a person is asked",
    "entry_captured": "began a turn of the review agent",
    "claimed_converged": "has nothing left to do, says the agent",
    "answer_reverted": "asks again, since the answer was taken back",
    "answer_recalled": "goes on with an answer that was given before",
    "asked_input": "asked a question",
    "asked_blocked": "is blocked and asked a question",
    "turn_addressed": "had its turn",
    "run_refused": "asks what to do about a refused run",
    "run_cancelled": "asks what to do about a cancelled run",
    "turn_lost": "lost its turn",
    "agent_sla_passed": "waited too long for its agent; a person is asked",
    "round_cap_reached": "used all of its rounds; a person is asked",
    "churn_detected": "goes in circles; a person is asked",
    "progressed": "was pushed to and waits for a review",
    "husk_retried": "has its turn again, since nobody finished it",
    "husk_exhausted": "lost its turn too often; a person is asked",
    "no_advance": "was not changed by its turn; a person is asked",
    "empty_review_arrived": "got an empty review",
    "review_arrived": "got a review",
    "stale_no_more": "needs no further review",
    "reviewer_unavailable_passed": "goes on without its reviewer",
    "reviewer_unavailable": "has no reviewer; a person is asked",
    "review_stalled": "got no review in time; a person is asked",
    "gate_passed": "converged",
    "scope_asked": "is asked whether it delivers what it closes",
    "gate_stale": "needs a review of its newest head",
    "ack_repeated": "has its turn again to acknowledge what is left",
    "ack_budget_spent": "left comments unacknowledged too often; a person is asked",
    "gate_blocked": "has open threads; a person is asked",
    "gate_unverifiable": "could not be verified; a person is asked",
    "scope_outdated": "changed while its scope was checked",
    "scope_answer_recalled": "goes on with an answer that was given before",
    "scope_blocked": "may leave something undelivered; a person is asked",
    "scope_passed": "converged",
    "answered_waive": "goes on, since a person let it pass",
    "answered_abandon": "was abandoned by an answer",
    "answered": "goes on with an answer",
    "started": "began its way to the base",
    "returned": "goes back to review",
    "returned_too_often": "was sent back too often; a person is asked",
    "dependencies_clear": "waits for nothing else",
    "draft": "is a draft; a person is asked",
    "checks_failing": "has failing checks; a person is asked",
    "conflict": "conflicts with its base; a person is asked",
    "base_is_dead_end": "would land on a dead end; a person is asked",
    "answered_drop": "goes on without what it depended on",
    "merge_begun": "is being merged",
    "stall_probed": "stalls and is read again",
    "stall_probed_again": "still stalls and is read again",
    "stalled": "stalls; a person is asked",
    "merge_landed": "was merged; its landing is being proven",
    "refusal_counted": "was refused by the forge and will be merged again",
    "refused_too_often": "was refused by the forge too often; a person is asked",
    "merge_outcome_lost_too_often": "lost the answer of its merge too often; a person is asked",
    "merge_retried": "will be merged again",
    "merge_retries_spent": "could not be merged; a person is asked",
    "merge_not_now": "could not be merged just now",
    "merge_dead_end": "would land on a dead end; a person is asked",
    "merge_forbidden": "may not be merged by this credential; a person is asked",
    "merge_found_closed": "was found closed",
    "merge_outcome_lost": "is looked at again, since the answer was lost",
    "lane_free": "need not wait for its lane any more",
    "queue_entered": "stands in the merge queue",
    "fresh_run_begun": "has its checks begun anew",
    "agent_question_stands": "is still blocked; the agent's question is asked",
    "checks_rerun": "has its failed checks run again",
    "ci_fix_begun": "has its failing checks repaired",
    "rebase_begun": "is brought together with its base",
    "landing_is_manual": "is ready; a person is asked to merge it",
    "approval_missing": "is ready; a person is asked to approve its head",
    "lane_held": "waits for a neighbour of its lane",
    "branch_update_begun": "gets its base into its branch",
    "branch_updates_spent": "fell behind its base too often; a person is asked",
    "stall_rebased": "stalls and is brought together with its base",
    "branch_updated": "holds its base now",
    "branch_not_updated": "could not be given its base just now",
    "branch_update_refused": "may not be updated; an agent brings it together with its base",
    "branch_update_impossible": "may not be updated; a person is asked",
    "branch_update_lost": "is looked at again, since its update was not seen",
    "agent_blocked_unproven": "is blocked, says the agent; it is looked at once more",
    "agent_asked": "has a question of its agent",
    "agent_waits_on_pull": "waits for another pull request, says the agent",
    "agent_ended": "was worked on by its agent",
    "merge_queued": "entered the merge queue",
    "merge_behind": "is behind its base, which is brought into its branch",
    "dequeued": "was taken out of the merge queue; a person is asked",
    "taken_back": "is taken back out of the merge queue, as it needs a review again",
    "evicted": "was dropped by the merge queue",
    "evicted_too_often": "was dropped by the merge queue too often; a person is asked",
    "queue_stalled": "stood in the merge queue for too long; a person is asked",
    "answered_approve": "was approved for its base",
    "landing_proven": "landed",
    "landing_proven_late": "landed after all",
    "landing_unverified": "was not seen on its base; a person is asked",
    "answered_look_again": "is looked for on its base again",
    "reason_gone": "needs no answer any more",
    "dependency_appeared": "waits for another pull request",
    "dependency_dead": "depends on a pull request that was closed; a person is asked",
    "dependency_cyclic": "depends on itself through others; a person is asked",
}

WARNINGS = {"head_may_be_read_only": "Head may be read-only"}

OUTCOMES = {
    "merged": "It landed.",
    "converged": "It converged: nothing actionable is left.",
    "abandoned": "It ended without a merge.",
}

FAULTS = {
    "required": "This is needed.",
    "unknown_field": "This is not a field of the form.",
    "wrong_kind": "This has the wrong form.",
    "not_a_choice": "Choose one of the answers offered.",
    "not_applicable": "This does not apply to that choice.",
}


def edge_sentence(edge: str) -> str:
    """What an edge did, as the end of a sentence; an unknown edge is shown as itself."""
    return EDGES.get(edge, edge.replace("_", " "))


def fault_sentence(field: Mapping[str, Any], fault: str, typed: str) -> str:
    """What is wrong with one field of an answer, and what it should be."""
    if field.get("kind") == "number" and fault in {"wrong_kind", "out_of_range"}:
        return f"{field['label']} is {_number_rule(field)}. You typed {typed or 'nothing'}."
    if fault == "out_of_range":
        most = field.get("maxLength", 280 if field.get("kind") == "text" else 20_000)
        return f"At most {most:,} characters. You typed {len(typed):,}."
    return FAULTS.get(fault, fault.replace("_", " ").capitalize() + ".")


def _number_rule(field: Mapping[str, Any]) -> str:
    noun = "a whole number" if field.get("integer") else "a number"
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None and high is not None:
        return f"{noun} from {low} to {high}"
    if low is not None:
        return f"{noun}, {low} or more"
    return f"{noun}, {high} or less" if high is not None else noun


def number_help(field: Mapping[str, Any]) -> str:
    """The range of a number field, for its help line."""
    return _number_rule(field).capitalize() + (f", in {field['unit']}" if field.get("unit") else "")
