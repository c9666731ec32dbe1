"""Claiming one run, waiting for it if there is none."""

from __future__ import annotations

import socket
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import document_hash
from runs.contract.placement import offer_of
from runs.queue.claim import ClaimedRun, ClaimRequest, run_claim
from runs.queue.claim_answer import claim_answer
from runs.queue.claimable import claimable
from runs.queue.wakeup import wait_for_claim
from workers.services.credentials import token_prove
from workers.services.drain import worker_may_claim
from workers.services.registry import worker_seen
from workers.wire.answers import answer
from workers.wire.boots import offered
from workers.wire.endpoint import endpoint, idempotency_key, still_valid
from workers.wire.policy import claim_wait_limit
from workers.wire.versions import version_check
from workers.wire.waiting import WAITING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponseBase

    from workers.wire.endpoint import Caller

LONGEST_VERSION = 80  # characters that an attempt keeps


@dataclass(frozen=True, slots=True)
class Nothing:
    """An empty answer: why, and after how many milliseconds the next claim makes sense."""

    reason: str
    retry_after_ms: int


AT_ONCE_MS = 500
DISPLACED = Nothing("none_ready", 0)
SLOTS_FULL = Nothing("slots_full", 1000)
LEAVING = Nothing("draining", AT_ONCE_MS)
STOPPING = Nothing("stopping", 500)


@endpoint("POST", body="claim", versioned=True)
def claim(request: HttpRequest, caller: Caller, body: Mapping[str, Any]) -> HttpResponseBase:
    """Lease one run to this worker; held up to ``waitSeconds`` while there is none."""
    key = idempotency_key(request)
    version_check(body["workerVersion"])
    offer = offered(caller, body)
    stays = worker_seen(worker_id=caller.worker_id, node=caller.node, version=body["workerVersion"], offer=offer)
    wanted = ClaimRequest(
        offer=offer_of(offer),
        worker_id=caller.worker_id,
        node=caller.node,
        worker_version=body["workerVersion"][:LONGEST_VERSION],
        claim_key=key,
        claim_hash=_request_hash(caller, body),
        spec_versions=tuple(body["specVersions"]) if stays else (),  # only a repeated key is still answered with a run
    )
    WAITING.displace(("claim", caller.node, key))
    found = run_claim(wanted)
    token_prove(caller.token)
    if isinstance(found, ClaimedRun):
        return answer({"claim": claim_answer(found.attempt)})
    seconds = min(float(body.get("waitSeconds", 0)), claim_wait_limit()) if stays else 0
    at_once = Nothing(found.reason, AT_ONCE_MS) if stays else LEAVING
    waited = _wait(request, caller, wanted, seconds) if seconds > 0 else at_once
    if isinstance(waited, ClaimedRun):
        return answer({"claim": claim_answer(waited.attempt)})
    return answer({"claim": None, "reason": waited.reason, "retryAfterMs": waited.retry_after_ms})


def _wait(request: HttpRequest, caller: Caller, wanted: ClaimRequest, seconds: float) -> ClaimedRun | Nothing:
    ends = time.monotonic() + seconds
    with WAITING.place(("claim", caller.node, wanted.claim_key)) as ended:
        if ended is None:
            return SLOTS_FULL
        while (left := ends - time.monotonic()) > 0:
            woken = wait_for_claim(wanted.offer, wanted.node, left, ended)
            if ended.is_set():
                return STOPPING if WAITING.stopping else DISPLACED
            if not woken or _has_left(request):
                break
            still_valid(caller.token)
            if not worker_may_claim(caller.worker_id):
                return LEAVING
            found = run_claim(wanted)
            if isinstance(found, ClaimedRun):
                return found
    return Nothing(claimable(wanted.offer, node=wanted.node).reason, 0)


def _request_hash(caller: Caller, body: Mapping[str, Any]) -> str:
    """What has to be the same when a key is repeated: everything but how long the answer may take."""
    content = {name: value for name, value in body.items() if name != "waitSeconds"}
    return document_hash({"workerId": caller.worker_id, "claim": content})


def _has_left(request: HttpRequest) -> bool:
    """Whether the worker has closed its connection meanwhile: a run leased to it would wait for the reaper."""
    connection = request.META.get("gunicorn.socket")
    if not isinstance(connection, socket.socket) or isinstance(connection, ssl.SSLSocket):
        return False  # no other server tells, and what TLS has read ahead cannot be seen
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
