"""What convergence tells the kernel about itself when the process starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.decisions.review_claims import CONTRACT, review_claims
from convergence.effects.acknowledge import acknowledge
from convergence.effects.review_request import request_review
from convergence.effects.threads import reply, resolve
from convergence.flow import CONVERGENCE_MACHINE, ConvergenceState
from convergence.forge_access import forge_pass
from convergence.looks.look import convergence_look
from convergence.models import ConvergenceFlow, PullRequest
from convergence.retention import register_review_rules
from convergence.selectors.lookup import pull_subject
from convergence.selectors.waiting import waiting_for
from convergence.services.cancel import convergence_cancel
from convergence.services.escalations import REVIEW_ANSWER
from convergence.services.memory import answer_undone
from convergence.wakeups import github_wake
from runs.flows.looks import subjects_wake
from runs.flows.registry import FlowType, register_flow
from runs.humans.tasks import TaskKind, register_kind
from runs.intake.deliveries import register_waker
from runs.outbox.dispatch import Delivery, register_listener
from runs.periodic import register_pass
from runs.queue.attempts.semantics import register_semantic_check
from runs.subjects import register_resolver

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runs.models.flow_row import FlowRow

FORGE_SECONDS = 600.0  # what it does is due by the day, or a minute after it failed
STOPPED = frozenset({ConvergenceState.ABANDONED, ConvergenceState.MERGED})


def effects_allowed(row: FlowRow, generation: int) -> bool:
    """Whether an effect of this generation may still leave: it is the newest, and nothing ended the pull request."""
    if row.generation != generation or row.state in STOPPED:
        return False
    pull = PullRequest.objects.filter(convergence_flows=row.pk, generation=generation)
    return pull.exclude(state__in=[*STOPPED]).exists()


def runs_over(deliveries: Sequence[Delivery]) -> Mapping[str, Any]:
    """Runs ended: whatever drives their subjects looks at once. Losing this changes nothing but latency."""
    payloads = [delivery.payload for delivery in deliveries]
    subjects = {str((payload.get("flow") or {}).get("subject") or payload.get("subject") or "") for payload in payloads}
    return {"woken": subjects_wake(subjects - {""})}


def register() -> None:
    """Register flow type, contract and kind of question, the consumers of ended runs and the waker of webhooks."""
    register_flow(
        FlowType(
            name=CONVERGENCE_MACHINE.name,
            model=ConvergenceFlow,
            look=convergence_look,
            cancel=convergence_cancel,
            waiting_for=waiting_for,
            fence=effects_allowed,
            effects={
                "request_review": request_review,
                "reply": reply,
                "resolve": resolve,
                "acknowledge": acknowledge,
            },
        )
    )
    register_semantic_check(CONTRACT, review_claims)
    register_kind(TaskKind(REVIEW_ANSWER, "Review question", undo=answer_undone))
    register_listener("run.completed", runs_over)
    register_listener("run.ended", runs_over)
    register_waker("github", github_wake)
    register_resolver(pull_subject)
    register_review_rules()
    register_pass("forge", seconds=FORGE_SECONDS, body=forge_pass)
