"""What a reason code of a run means, and what to do about it; a code without a sentence is shown as itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """One code in words; ``step`` is blank where nothing is to be done."""

    code: str
    sentence: str
    step: str = ""


_SENTENCES: dict[str, tuple[str, str]] = {
    # on the way
    "flow_step": ("A flow asked for it", ""),
    "operator_start": ("A person started it", ""),
    "claimed": ("A worker took it and prepares its workspace", ""),
    "started": ("The agent works", ""),
    "agent_exited": ("The agent has ended; its work is being checked", ""),
    "late_completion": ("The agent was stopped at its deadline; what it left is being checked", ""),
    "agent_deadline": ("The agent's time is over", ""),
    "retry_environment": ("Tried again after a fault of its surroundings", ""),
    "retry_agent_error": ("Tried again after a failure of the agent", ""),
    # why a queued run waits
    "awaiting_approval": ("Waits for an approval", ""),
    "backoff": ("Failed and is tried again after a pause", ""),
    "exclusive": ("Waits for another run on the same thing", ""),
    "unplaceable": ("No live worker can take it", "Open Placement on the run's page: it names what is missing."),
    "no_free_worker": ("Every fitting worker is busy", "Start another worker to go faster."),
    "next_in_line": ("The next free worker takes it", ""),
    "subject_budget": ("Its subject has spent its budget", "Raise it under Workers, Pauses and limits."),
    "run_budget": ("It has spent its own budget", "Raise it under Workers, Pauses and limits."),
    "paused_global": ("Everything is paused", "Lift the pause under Workers, Pauses and limits."),
    "paused_repository": ("Its repository is paused", "Lift the pause under Workers, Pauses and limits."),
    "paused_agent": ("Its agent is paused", "Lift the pause under Workers, Pauses and limits."),
    "weight_class_full": ("As many runs of its weight run as may", "Nothing: it goes when one of them ends."),
    "repository_full": ("As many runs of its repository run as may", "Nothing: it goes when one of them ends."),
    "agent_full": ("As many runs of its agent run as may", "Nothing: it goes when one of them ends."),
    "day_budget": ("Today's budget is used up", "Raise it, or wait for 00:00 UTC."),
    # ended well
    "ok": ("Its result was accepted", ""),
    "result_defaulted": ("The agent left no valid result; the empty one was accepted", "Read the trace."),
    # surroundings
    "worker_lost": ("The worker was lost: no sign of life in time", "See the worker's page for its last sign of life."),
    "lease_expired": ("The worker held it beyond its time", "See whether the worker's machine was asleep."),
    "worker_crashed": ("The worker died and found the run when it came back", "Read the worker's own log."),
    "adapter_error": ("The program that drives the agent failed", "Read the console log."),
    "adapter_unavailable": ("The agent's program is not there on the worker", "Install it, or log in to it, there."),
    "workspace_provisioning_error": (
        "The workspace could not be made",
        "Check the repository's address and the worker's access to it.",
    ),
    "input_unavailable": ("An input could not be fetched", "Check that the worker reaches the control plane."),
    "drain_timeout": ("The worker left before the run had ended", "Nothing: another worker takes it."),
    "usage_limited": ("The agent's account has reached its limit", "Wait for the limit, or use another account."),
    "released_by_operator": ("A person took it back from its worker", "Nothing: another worker takes it."),
    # the agent
    "agent_exit": ("The agent ended with an error", "Read the first error and the last lines here."),
    "contract_violation": ("The agent's result does not keep its contract", "Compare the result with its schema."),
    "verification_failed": ("What the agent left did not pass its checks", "Read the log of the failed check."),
    # for good
    "timeout": ("The agent was not done in its time", "Raise the time in the agent's definition, or split the work."),
    "deadline_passed": ("Its deadline passed while it ran", "Raise the time in the agent's definition."),
    "budget_exceeded": ("It cost more than it may", "Raise its budget in policy.yaml."),
    "policy_denied": ("The policy does not allow it", "Compare the definition with policy.yaml."),
    "workspace_integrity": ("The workspace was changed in a way that cannot be trusted", "Read the trace."),
    "baseline_red": ("The checks already failed before the agent began", "Mend the base branch first."),
    "subject_changed": ("What it worked on had changed meanwhile", "Nothing: its flow looks again."),
    # refused
    "missing_input": ("The agent refused: an input is missing", "Give what it names, then start it again."),
    "permission_denied": ("The agent refused: it lacks a permission", "Grant what it names."),
    "needs_human": ("The agent refused: a person has to decide", "Answer its question."),
    "unsupported_capability": ("The agent refused: it cannot do this kind of work", "Choose another agent."),
    "agent_definition_mismatch": ("The worker got another definition than was named", "Load the definitions again."),
    "unsupported_spec": ("The worker is too old for this run", "Update the package on the worker's machine."),
    "sandbox_unsupported": ("The worker cannot isolate the agent as asked", "Run it on another worker."),
    "command_unresolved": ("The worker does not know the command", "Name it in the worker's settings."),
    # cancelled
    "operator_cancel": ("A person cancelled it", ""),
    "flow_cancelled": ("Its flow was cancelled", ""),
    "flow_moved_on": ("Its flow went on without it", ""),
    "generation_replaced": ("A newer submission replaced it", ""),
    "subject_ended": ("What it worked on has ended", ""),
    "answer_reverted": ("The answer it worked with was undone", ""),
    "agent_sla": ("It waited too long for its turn", ""),
    "workflow_deadline": ("Its workflow ran out of time", ""),
    "gate_lost_trust": ("Its gate lost trust", ""),
    "proposal_rejected": ("Its proposal was rejected", ""),
    "proposal_expired": ("Its proposal expired", ""),
    "proposal_superseded": ("A newer proposal replaced it", ""),
    # what a fenced write wanted
    "fenced": ("A late write of an older attempt was turned away", ""),
}
_HARNESS = "harness_"


def reason_of(code: str) -> Reason:
    """The code in words."""
    found = _SENTENCES.get(code)
    if found:
        return Reason(code, *found)
    if code.startswith(_HARNESS):
        said = code.removeprefix(_HARNESS).replace("_", " ")
        return Reason(code, f"The worker cannot give the agent what it needs: {said}", "Run it on another worker.")
    return Reason(code, code.replace("_", " ").capitalize() or "Unknown")


CAUSES = {"environment": "environment", "agent_error": "agent", "fatal": "not tried again"}
