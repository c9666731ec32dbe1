"""The one terminal submission of an attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.contract.canonical import document_hash
from runs.queue.attempts.publish import attempt_publish
from workers.wire.answers import answer
from workers.wire.attempts import presented_by
from workers.wire.endpoint import endpoint, idempotency_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponseBase

    from workers.wire.endpoint import Caller


@endpoint("POST", body="result")
def result(request: HttpRequest, caller: Caller, body: Mapping[str, Any], run_id: str) -> HttpResponseBase:
    """Accept the attempt's outcome, once; a repeated key is answered as it was the first time."""
    key = idempotency_key(request)
    accepted = attempt_publish(
        presented_by(caller, run_id, body),
        key=key,
        request_hash=document_hash({"runId": run_id, "workerId": caller.worker_id, "result": body}),
        body=body,
    )
    # The instants of the first answer stay in its rows; the server's time is today's, for it is what clocks go by.
    return answer({name: value for name, value in accepted.items() if name != "serverTime"})
