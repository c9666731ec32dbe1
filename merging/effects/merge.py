"""The merge effect: read again, note, call once with the expected head, read back, then move."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from convergence.forge.facts import Profile
from convergence.forge.governor.purposes import Purpose
from convergence.forge.reading import read_pull
from convergence.forge.writes.perform import perform
from convergence.forge_access import forge_client, pull_ref, pull_target
from convergence.services.identity import pull_seen
from merging.cases import case_of
from merging.decisions.protocol import MERGIFY_COMMENT
from merging.decisions.timing import retry_pause
from merging.effects.anew import stop_anew
from merging.effects.fence import DROPPED, asked_row, still_asked
from merging.effects.plan import MERGE_QUEUE, MERGIFY_QUEUE, Stop, plan_of, stop_of
from merging.facts import COUNTED, Facts, Reason
from merging.flow import MERGE_MACHINE, MergeState
from merging.looks.protocol import protocol_of
from merging.models import MergeAttempt, MergeFlow
from merging.services.attempts import attempt_begin, attempt_end, attempt_note, attempt_on_wire
from merging.services.move import Step, merge_move
from merging.texts import merge_question
from runs.clock import now as clock_now
from runs.contract.errors import NotFound, Permanent, Transient
from runs.flows.move import Effect
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts
    from convergence.forge.writes.contract import Observed
    from runs.flows.registry import EffectCall

OPERATIONS = {MERGE_QUEUE: "enqueue", MERGIFY_QUEUE: "enqueue_by_comment"}
OLDEST_FACTS = timedelta(seconds=10)  # a merge is decided on nothing older
UNREAD_SECONDS = 60.0  # until the reading is tried again that a credential or a missing object kept from succeeding


def merge_effect(call: EffectCall) -> Mapping[str, Any]:
    """Merge exactly the head of the decision; return what was observed.

    Raises ``Transient`` while nothing is known. Repeated after a crash it looks before it acts: a call that may have
    been sent is never sent again.
    """
    row = asked_row(call, MergeState.MERGING)
    if row is None:
        return DROPPED
    client = forge_client(Purpose.MERGE)
    attempt = attempt_on_wire(row)
    if attempt is not None:
        return _send(client, call, row, attempt, None, earlier=True)
    head = str(call.arguments["head"])
    try:
        read = read_pull(client, Profile.MERGE, pull_ref(row.pull))
        pull_seen(row.pull, read, clock_now())  # a repository that was renamed meanwhile is written to by its new name
        protocol = protocol_of(client, read, clock_now())
        stop = stop_of(client, read, protocol, head=head)
        stop = stop or stop_anew(client, row, read, protocol, base=str(call.arguments["base"]))
        plan = plan_of(client, read, protocol, head=head) if stop is None else None
    except (Permanent, NotFound) as error:
        raise Transient(error.code, error.message, retry_after=UNREAD_SECONDS, details=error.details) from error
    if stop is not None or plan is None:
        return _stopped(call, row, read, stop or Stop(Reason.NOT_READY), head)
    now = clock_now()
    if now - read.observed_at > OLDEST_FACTS:
        raise Transient("facts_too_old", "reading took too long to decide upon; read again", retry_after=1.0)
    attempt = attempt_begin(row, plan, entry_log=call.log, now=now)
    if attempt is None:
        return DROPPED
    texts = {"title": plan.title, "body": plan.body, "comment": plan.comment}
    return _send(client, call, row, attempt, texts, earlier=False)


def _send(
    client: ForgeClient,
    call: EffectCall,
    row: MergeFlow,
    attempt: MergeAttempt,
    texts: Mapping[str, str | None] | None,
    *,
    earlier: bool,
) -> Mapping[str, Any]:
    """Make the call, or read back the one that was made before."""
    arguments = {
        "pull": pull_target(row.pull),
        "head_sha": attempt.expected_head,
        "method": attempt.method,
        "comment": MERGIFY_COMMENT,
        **(texts or {}),
    }
    operation = OPERATIONS.get(attempt.method, "merge")
    try:
        observed = perform(client, operation, arguments, attempt.key, earlier_try=earlier, memory=attempt.memory)
    except Transient as error:
        if earlier:
            raise  # it may have landed: read back again
        return _ended(call, row, attempt, Reason.TRANSIENT, {"message": error.message}, rest=error.retry_after)
    except (Permanent, NotFound) as error:
        raise Transient(error.code, error.message, retry_after=UNREAD_SECONDS, details=error.details) from error
    if observed.again_after is not None:
        MergeAttempt.objects.filter(pk=attempt.pk).update(memory=dict(observed.memory))
        raise Transient("not_observed_yet", "the merge is not seen yet", retry_after=observed.again_after)
    return _ended(call, row, attempt, _reason(observed), observed.detail)


def _reason(observed: Observed) -> Reason:
    return Reason(str(observed.detail["reason"]))


def _stopped(call: EffectCall, row: MergeFlow, read: PullFacts, stop: Stop, head: str) -> Mapping[str, Any]:
    """End a try before its call: the attempt's row and the edge in one transaction."""
    now = clock_now()
    with joined_transaction():
        if not still_asked(call, row, MergeState.MERGING):
            return DROPPED
        landed = (read.merge_commit_sha or "") if stop.reason is Reason.ALREADY_MERGED else ""
        attempt_note(row, stop.reason, head=head, now=now, message=stop.message, landed_sha=landed)
        _move(row, stop.reason, head=head, message=stop.message, read=read, now=now, refused=stop.refused)
    return {"reason": str(stop.reason)}


def _ended(
    call: EffectCall,
    row: MergeFlow,
    attempt: MergeAttempt,
    reason: Reason,
    detail: Mapping[str, Any],
    *,
    rest: float = 0.0,
) -> Mapping[str, Any]:
    """Write what was read back and take its edge in one transaction; a row that moved on keeps its state."""
    now = clock_now()
    message = str(detail.get("message") or detail.get("error") or "")
    with joined_transaction():
        asked = still_asked(call, row, MergeState.MERGING)
        attempt_end(
            attempt,
            reason,
            now=now,
            message=message,
            landed_sha=str(detail.get("merge_commit_sha") or ""),
        )
        if asked:
            head, method = attempt.expected_head, attempt.method
            _move(row, reason, head=head, message=message, read=None, now=now, rest=rest, method=method)
    return {"reason": str(reason), "attempt": attempt.key}


def _move(
    row: MergeFlow,
    reason: Reason,
    *,
    head: str,
    message: str,
    read: PullFacts | None,
    now: datetime,
    rest: float = 0.0,
    method: str = "",
    refused: bool = True,
) -> None:
    counted = reason in COUNTED
    retries = min(row.merge_retries, row.merge_retry_max) + 1
    facts = Facts(attempt=reason, retries=retries, retry_max=row.merge_retry_max)
    edge = MERGE_MACHINE.advance(row.state, "outcome", facts)
    if edge is None:
        raise LookupError(f"no edge for the outcome {reason}")
    columns: dict[str, Any] = {}
    if counted:
        pause = retry_pause(retries)
        columns = {"merge_retries": retries, "refused_head": ""}
        if edge.target == MergeState.WAITING_MERGE:
            columns["retry_at"] = now + max(pause, timedelta(seconds=rest))
    if reason is Reason.NOT_READY:
        columns["refused_head"] = head if refused else ""
    if reason is Reason.QUEUED:
        columns |= {"queue_seen": method == MERGE_QUEUE, "queue_position": None}
    behind = edge.target == MergeState.UPDATING_BRANCH
    question = merge_question(edge.reason, case_of(row, row.pull, read, message)) if edge.reason else None
    merge_move(
        row,
        edge,
        pull=row.pull,
        actor="flow",
        now=now,
        step=Step(
            columns=columns,
            effects=(Effect("update_branch", {"head": head}),) if behind else (),
            due_at=columns.get("retry_at"),
            guards={"reason": str(reason), "retries": retries if counted else row.merge_retries},
            question=question,
            outcome="closed" if reason is Reason.CLOSED else "",
        ),
    )
