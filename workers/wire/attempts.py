"""What a worker says about the attempt it holds: heartbeats and trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.contract.canonical import document_hash
from runs.contract.codes import Phase
from runs.contract.instants import format_instant
from runs.contract.wire import HEARTBEAT_WAIT
from runs.queue.attempts.fence import Presented
from runs.queue.attempts.heartbeat import Heartbeat, Lease, attempt_heartbeat
from runs.queue.attempts.trace import trace_append
from runs.queue.claim_answer import budget_left
from runs.queue.wakeup import wait_for_control
from workers.services.credentials import token_prove
from workers.services.registry import worker_beat
from workers.wire.answers import answer
from workers.wire.endpoint import endpoint, still_valid
from workers.wire.waiting import WAITING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponseBase

    from workers.wire.endpoint import Caller


def presented_by(caller: Caller, run_id: str, body: Mapping[str, Any]) -> Presented:
    """What the request says about its attempt, with worker and node from the credential."""
    return Presented(run_id, body["attempt"], body["fencingToken"], caller.worker_id, caller.node)


@endpoint("POST", body="heartbeat")
def heartbeat(request: HttpRequest, caller: Caller, body: Mapping[str, Any], run_id: str) -> HttpResponseBase:
    """Apply one heartbeat at once; its answer is held up to ``waitSeconds`` while there is no news."""
    del request
    presented = presented_by(caller, run_id, body)
    beat = Heartbeat(
        sequence=body["sequence"],
        phase=Phase(body["phase"]),
        body_hash=document_hash({name: value for name, value in body.items() if name != "waitSeconds"}),
        usage=body.get("usage"),
        at_deadline=body.get("atDeadline", False),
        verify_reason=body.get("reasonCode", ""),
    )
    lease = attempt_heartbeat(presented, beat)
    WAITING.displace(("heartbeat", lease.attempt_id))
    worker_beat(worker_id=caller.worker_id, draining=body.get("draining"))
    token_prove(caller.token)
    seconds = min(float(body.get("waitSeconds", 0)), HEARTBEAT_WAIT)
    has_news = lease.cancel_requested or beat.at_deadline
    if seconds > 0 and not has_news and _waited_for_news(lease, seconds):
        still_valid(caller.token)
        lease = attempt_heartbeat(presented, beat)  # its sequence is known by now: it reads and changes nothing
    return answer(_lease_answer(lease))


@endpoint("POST", body="trace")
def trace(request: HttpRequest, caller: Caller, body: Mapping[str, Any], run_id: str) -> HttpResponseBase:
    """Store live trace rows; each (attempt, seq) once."""
    del request
    stored = trace_append(presented_by(caller, run_id, body), body["rows"])
    return answer({"nextSeq": stored.next_seq, "full": stored.full})


def _waited_for_news(lease: Lease, seconds: float) -> bool:
    """Whether something ended the wait before its time: a cancel, an extension, a newer heartbeat, a shutdown."""
    with WAITING.place(("heartbeat", lease.attempt_id)) as ended:
        if ended is None:
            return False
        news = wait_for_control(lease.attempt_id, lease.control_seq, seconds, ended)
        return news or ended.is_set()


def _lease_answer(lease: Lease) -> dict[str, Any]:
    body: dict[str, Any] = {
        "leaseExpiresAt": format_instant(lease.lease_expires_at),
        "agentDeadlineAt": format_instant(lease.agent_deadline_at) if lease.agent_deadline_at else None,
        "heartbeatDueAt": format_instant(lease.heartbeat_due_at),
        "cancel": {"requested": lease.cancel_requested, "reason": lease.cancel_reason or None},
    }
    if lease.deadline_recorded:
        body["deadlineRecorded"] = True
    if lease.budget_micro_usd is not None or lease.budget_tokens is not None:
        body["budgetLeft"] = budget_left(lease)
    return body
