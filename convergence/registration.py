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
from convergence.selectors.lookup import pull_subject
from convergence.selectors.waiting import waiting_for
from convergence.services.cancel import convergence_cancel
from convergence.services.escalations import REVIEW_ANSWER
from convergence.services.memory import answer_undone
from convergence.wakeups import github_wake
from runs.flows.looks import subject_wake
from runs.flows.registry import FlowType, register_flow
from runs.humans.tasks import TaskKind, register_kind
from runs.intake.deliveries import register_waker
from runs.outbox.dispatch import Delivery, register_consumer
from runs.periodic import register_pass
from runs.queue.attempts.semantics import register_semantic_check
from runs.subjects import register_resolver

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runs.models.flow_row import FlowRow

FORGE_SECONDS = 600.0  # what it does is due by the day, or a minute after it failed
STOPPED = frozenset({ConvergenceState.ABANDONED, ConvergenceState.MERGED})


def effects_allowed(row: FlowRow, generation: int) -> bool:
    """Whether an effect of this generation may still leave: it is the newest, and nothing ended the pull request."""
    if row.generation != generation or row.state in STOPPED:
        return False
    pull = PullRequest.objects.filter(convergence_flows=row.pk, generation=generation)
    return pull.exclude(state__in=[*STOPPED]).exists()


def run_over(delivery: Delivery) -> Mapping[str, Any]:
    """A run ended: whatever drives its subject looks at once. Losing this changes nothing but latency."""
    flow = delivery.payload.get("flow") or {}
    subject = str(flow.get("subject") or delivery.payload.get("subject") or "")
    return {"woken": subject_wake(subject) if subject else 0}


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
    register_consumer("run.completed", run_over)
    register_consumer("run.ended", run_over)
    register_waker("github", github_wake)
    register_resolver(pull_subject)
    register_pass("forge", seconds=FORGE_SECONDS, body=forge_pass)
