"""The queue as tests drive it: enqueue a step, claim it, speak for its attempt."""

import itertools
import uuid
from datetime import timedelta

from runs.clock import now
from runs.contract.canonical import document_hash
from runs.contract.codes import Phase
from runs.contract.placement import Offer
from runs.contract.wire import RESULT_VERSION
from runs.definitions.sync import definitions_sync
from runs.models import Attempt, Run
from runs.queue.attempts.fence import Presented
from runs.queue.attempts.heartbeat import Heartbeat, attempt_heartbeat
from runs.queue.attempts.publish import attempt_publish
from runs.queue.attempts.reaper import Grace
from runs.queue.claim import ClaimedRun, ClaimRequest, run_claim
from runs.queue.enqueue import run_enqueue
from runs.queue.flow_steps import FlowStep, StepRequest, flow_step_spec

OFFER = Offer(
    adapters=frozenset({"command"}),
    any_adapter="command",
    workspace_kinds=frozenset({"ephemeral", "worktree"}),
    repositories=frozenset({"*"}),
)
_numbers = itertools.count(1)


def load_definitions():
    definitions_sync(actor="operator:test@cli")


def variables():
    return {
        "prKey": "acme/shop#12",
        "prUrl": "https://forge.example/acme/shop/pull/12",
        "repo": "acme/shop",
        "prNumber": 12,
        "title": "Total",
        "headRef": "feat/total",
        "headSha": "",
        "baseRef": "main",
        "round": 1,
        "turn": 1,
        "maxRounds": 20,
        "backlog": {"reviews": [], "threads": []},
        "abandonUrl": "https://factory.example/hooks/abandon?token=x",
    }


def step_spec(*, entry=None, subject="pull-request:8412077:12", branch="feat/total", **changes):
    """A specification of a review step; every call without ``entry`` is a step of its own."""
    flow = FlowStep("convergence", subject, 1, "reviewing", entry or next(_numbers))
    request = StepRequest(
        agent_id="pr-review",
        flow=flow,
        variables=variables(),
        correlation_id="flow:convergence:pull-request:8412077:12",
        repository="acme/shop",
        workspace={"kind": "worktree", "repository": "acme/shop", "branch": branch, "baseRef": "main"},
    )
    return {**flow_step_spec(request), **changes}


def enqueue(**changes) -> Run:
    return run_enqueue(spec=step_spec(**changes), actor="flow:convergence:pull-request:8412077:12").run


def worker(number=1, node="lab"):
    return f"{node}.20260830T121502Z.{number:06x}"


def claim_request(worker_id=None, *, key=None, offer=OFFER):
    worker_id = worker_id or worker(next(_numbers))
    return ClaimRequest(
        offer=offer,
        worker_id=worker_id,
        node=worker_id.partition(".")[0],
        worker_version="0.1.0+00000000",
        claim_key=key or str(uuid.uuid4()),
        claim_hash="sha256:" + "0" * 64,
    )


def claim(worker_id=None, *, offer=OFFER) -> Attempt:
    claimed = run_claim(claim_request(worker_id, offer=offer))
    assert isinstance(claimed, ClaimedRun)
    return claimed.attempt


def presented(attempt: Attempt, /, **changes) -> Presented:
    fields = {
        "run_id": attempt.run.run_id,
        "attempt": attempt.number,
        "token": attempt.token,
        "worker_id": attempt.worker_id,
        "node": attempt.node,
    }
    return Presented(**{**fields, **changes})


def beat(attempt, phase, sequence, **fields):
    body_hash = document_hash({"sequence": sequence, "phase": str(phase), **{k: str(v) for k, v in fields.items()}})
    return attempt_heartbeat(presented(attempt), Heartbeat(sequence, Phase(phase), body_hash, **fields))


def execution(**changes):
    return {
        "adapter": "command",
        "model": None,
        "exitCode": 0,
        "signal": None,
        "timedOut": False,
        "late": False,
        "durationMs": 1000,
        "usage": {"inputTokens": 100, "outputTokens": 10, "costUsd": 0.25},
        **changes,
    }


def completed_body(attempt, artifact=None, *, reason="ok", **changes):
    artifact = {"status": "addressed"} if artifact is None else artifact
    return {
        "attempt": attempt.number,
        "fencingToken": attempt.token,
        "terminalState": "completed",
        "reasonCode": reason,
        "result": {
            "schemaVersion": RESULT_VERSION,
            "runId": attempt.run.run_id,
            "attempt": attempt.number,
            "terminalState": "completed",
            "reasonCode": reason,
            "outputContract": attempt.run.spec_row.document["outputContract"],
            "artifact": artifact,
            "artifactHash": document_hash(artifact),
            "evidence": None,
            "evidenceHash": None,
            "verification": {"status": "passed", "checks": ["form"]},
            "artifacts": [],
        },
        "artifactRefs": [],
        "execution": execution(),
        **changes,
    }


def refused_body(attempt, code="needs_human"):
    body = completed_body(attempt)
    result = {
        **body["result"],
        "terminalState": "refused",
        "reasonCode": code,
        "artifact": None,
        "artifactHash": None,
        "verification": {"status": "refused", "checks": ["form"]},
    }
    return {**body, "terminalState": "refused", "reasonCode": code, "result": result}


def failed_body(attempt, code="agent_exit", **changes):
    return {
        "attempt": attempt.number,
        "fencingToken": attempt.token,
        "terminalState": "timed_out" if code == "timeout" else "failed",
        "reasonCode": code,
        "detail": {"exitCode": 1},
        "retryAt": None,
        "artifactRefs": [],
        "execution": execution(exitCode=1),
        **changes,
    }


def publish(attempt, body, *, key=None):
    return attempt_publish(
        presented(attempt), key=key or str(uuid.uuid4()), request_hash=document_hash(body), body=body
    )


def make_due(attempt, *, silent=False, expired=False):
    """Let the attempt's silence or its deadline lie in the past, as if time had gone by."""
    past = now() - timedelta(seconds=1)
    changes: dict[str, object] = {}
    if silent:
        changes["heartbeat_due_at"] = past
    if expired:
        changes |= {"agent_deadline_at": None, "deadline_at": past}
    Attempt.objects.filter(pk=attempt.pk).update(**changes)


def release_backoff(run):
    """Let the pause after a failure be over."""
    Run.objects.filter(pk=run.pk, hold="backoff").update(available_at=now() - timedelta(seconds=1))


def seasoned_reaper():
    """The grace of a reaper that has run for long: silence counts."""
    return Grace(judged_from=now() - timedelta(hours=1))
