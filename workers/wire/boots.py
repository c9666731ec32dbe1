"""Hello and bye: a boot of a worker comes, learns the rules, and goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.contract.instants import parse_instant
from workers.allowances import NODE_LABEL, offer_check
from workers.services.credentials import allowances_of
from workers.services.registry import Boot, worker_bye, worker_hello
from workers.wire.answers import answer
from workers.wire.endpoint import endpoint
from workers.wire.policy import rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponseBase

    from workers.wire.endpoint import Caller

OFFER_KEYS = ("labels", "adapters", "anyAdapter", "adapterOverride", "workspaceKinds", "repositories")


def offered(caller: Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    """The offer of a hello or claim in its wire form, within the credential, with the label that the server adds.

    Raises ``Refused`` (``capability_escalation``) before anything is stored.
    """
    offer: dict[str, Any] = {key: body.get(key) for key in OFFER_KEYS}
    offer_check(node=caller.node, allowed=allowances_of(caller.token.credential), offer=offer)
    offer["labels"] = {**offer["labels"], NODE_LABEL: caller.node}
    return offer


@endpoint("POST", body="hello", versioned=True)
def hello(request: HttpRequest, caller: Caller, body: Mapping[str, Any]) -> HttpResponseBase:
    """Register this boot and answer with the rules of this server."""
    del request
    boot = Boot(
        worker_id=caller.worker_id,
        node=caller.node,
        host=body["host"],
        pid=body["pid"],
        version=body["workerVersion"],
        offer=offered(caller, body),
        pool=body.get("pool") or "",
        slot=body.get("slot"),
        health=body.get("health") or {},
        blocked_reason=body.get("blockedReason") or "",
        quarantined=body.get("quarantined", 0),
        clock=parse_instant(body["time"]) if "time" in body else None,
    )
    worker_hello(boot)
    return answer({"workerId": caller.worker_id, "node": caller.node, **rules()})


@endpoint("POST", body="bye")
def bye(request: HttpRequest, caller: Caller, body: Mapping[str, Any]) -> HttpResponseBase:
    """Mark this boot stopped; an attempt that it still holds becomes due now."""
    del request
    worker_bye(worker_id=caller.worker_id, reason=body["reason"])
    return answer({})
