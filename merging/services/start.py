"""Beginning a merge flow when convergence hands over, and what makes up for one that is missing."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef

from convergence.flow import ConvergenceState, PullState
from convergence.models import ConvergenceFlow, PullRequest, PullRequestGeneration
from convergence.services.move import pull_show
from merging.flow import MERGE_MACHINE
from merging.models import MergeFlow, OwnHead
from runs.clock import now as clock_now
from runs.flows.move import flow_actor, flow_start
from runs.policy import policy

if TYPE_CHECKING:
    from datetime import datetime

    from runs.models.flow_row import FlowRow

_log = logging.getLogger(__name__)
CONVERGED_SOURCE = "converged"
HANDED_OVER = "converged"  # outcome of a generation that was to be merged; review-only ones say so
SWEEP_BATCH = 50


def merge_start(row: FlowRow, *, actor: str, now: datetime) -> MergeFlow | None:
    """Begin the merge flow of a converged submission in the caller's transaction; None when it is not to be merged.

    Judged here once: later changes of the setting neither start nor stop it. The limits are those of this moment; the
    head that the gate judged is the first own head.
    """
    convergence = ConvergenceFlow.rows().select_related("pull__repository").get(pk=row.pk)
    pull = convergence.pull
    generation = PullRequestGeneration.objects.get(pull=pull, number=convergence.generation)
    if not (settings.FACTORY.auto_merge and generation.auto_merge) or pull.generation != convergence.generation:
        return None
    edge = MERGE_MACHINE.edge("started")
    flow, _ = flow_start(
        MergeFlow,
        edge,
        subject=pull.subject,
        generation=convergence.generation,
        actor=actor,
        now=now,
        pull=pull,
        repository_id=pull.repository.forge_id,
        base_ref=pull.base_ref,
        converged_at=convergence.ended_at or now,
        ci_fix_max=settings.FACTORY.max_ci_fix_rounds,
        rebase_max=settings.FACTORY.max_rebase_rounds,
        merge_retry_max=settings.FACTORY.max_merge_retries,
        eviction_max=settings.FACTORY.max_merge_retries,
        stall_max=settings.FACTORY.max_merge_stall_rounds,
        returns=generation.returns,
        return_max=policy().merging_for(pull.repository.full_name).max_returns,
    )
    if convergence.gate_head:
        OwnHead.objects.create(flow=flow, sha=convergence.gate_head, source=CONVERGED_SOURCE)
    pull_show(pull, MERGE_MACHINE.states[edge.target].shows, now)
    return flow


def merges_missing_start() -> int:
    """Begin what a converged pull request that was to be merged lacks; return how many. One transaction each."""
    begun = 0
    for convergence in merges_missing():
        with transaction.atomic():
            pull = PullRequest.objects.select_for_update().get(pk=convergence.pull_id)
            if pull.state != PullState.CONVERGED or MergeFlow.rows().filter(
                subject=convergence.subject, generation=convergence.generation
            ):
                continue
            if (
                merge_start(convergence, actor=flow_actor(MERGE_MACHINE, convergence.subject), now=clock_now())
                is not None
            ):
                begun += 1
                _log.warning("the merge flow of %s was missing and has begun", convergence.subject)
    return begun


def merges_missing() -> list[ConvergenceFlow]:
    """Converged submissions of the present generation that were handed over and have no merge flow.

    The oldest first, at most a batch. A submission that was not to be merged when it converged says so in its outcome,
    and is none of them.
    """
    handed_over = PullRequestGeneration.objects.filter(
        pull_id=OuterRef("pull_id"), number=OuterRef("generation"), auto_merge=True, outcome=HANDED_OVER
    )
    flows = MergeFlow.rows().filter(subject=OuterRef("subject"), generation=OuterRef("generation"))
    found = ConvergenceFlow.rows().filter(
        ~Exists(flows),
        Exists(handed_over),
        state=ConvergenceState.CONVERGED,
        pull__state=PullState.CONVERGED,
        pull__generation=F("generation"),
    )
    return list(found.order_by("ended_at", "id")[:SWEEP_BATCH])
