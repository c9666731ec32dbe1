"""Beginning a submission: a new generation of a pull request with its flow at the entry of round 1."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings

from convergence.flow import CONVERGENCE_MACHINE
from convergence.models import ConvergenceFlow, PullRequest, PullRequestGeneration
from convergence.services.escalations import escalation_end
from convergence.services.identity import missing_forgotten
from convergence.services.move import pull_show
from runs.flow import LIVE
from runs.flows.move import flow_actor, flow_start
from runs.models import Run
from runs.queue.cancel import run_cancel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

TOKEN_BYTES = 24
MOST_ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a submission asks for, already within its bounds."""

    max_rounds: int
    auto_merge: bool
    actor: str
    warnings: Sequence[str] = ()
    returns: int = 0


def rounds_clamped(value: int | None) -> int:
    """The number of rounds within 1 to 100; nothing or too little takes the setting."""
    if value is None or value < 1:
        return int(settings.FACTORY.max_rounds)
    return min(value, MOST_ROUNDS)


def generation_start(pull: PullRequest, wanted: Wanted, now: datetime) -> ConvergenceFlow:
    """Begin the next generation in the caller's transaction, which holds the pull request's row.

    Whatever an older generation left behind is ended: its open question and its live runs.
    """
    escalation_end(pull, answered=False, reason="submitted again", now=now)
    for run in Run.objects.filter(subject=pull.subject, state__in=[*LIVE]):
        run_cancel(run=run, code="generation_replaced", actor=flow_actor(CONVERGENCE_MACHINE, pull.subject))
    number = pull.generation + 1
    PullRequest.objects.filter(pk=pull.pk).update(generation=number)
    pull.generation = number
    missing_forgotten(pull)
    PullRequestGeneration.objects.create(
        pull=pull,
        number=number,
        abandon_token=secrets.token_urlsafe(TOKEN_BYTES),
        max_rounds=wanted.max_rounds,
        auto_merge=wanted.auto_merge,
        submitted_by=wanted.actor,
        submitted_at=now,
        correlation_id=f"pull-request:{pull.key}:g{number}",
        returns=wanted.returns,
        warnings=list(wanted.warnings),
    )
    edge = CONVERGENCE_MACHINE.edge("submitted")
    row, _ = flow_start(
        ConvergenceFlow,
        edge,
        subject=pull.subject,
        generation=number,
        actor=wanted.actor,
        now=now,
        pull=pull,
        max_rounds=wanted.max_rounds,
        ack_retry_max=settings.FACTORY.max_ack_retries,
    )
    pull_show(pull, CONVERGENCE_MACHINE.states[edge.target].shows, now)
    return row
