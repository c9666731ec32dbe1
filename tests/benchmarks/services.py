"""Claim and result as service calls: `python -m tests.benchmarks.services NUMBER PAIRS` makes so many, as a worker.

It says that it is ready, waits for a line on its standard input, and prints the instants of its first and last pair.
"""

import json
import sys
import time
import uuid
from typing import Any

from tests.benchmarks.load import result_body

WORKER = "bench.20260101T000000Z.{:06x}"
WARM = 20  # pairs before it is ready: a server of weeks has planned its statements
ZERO_HASH = "sha256:" + "0" * 64


def claim(worker_id: str = "") -> Any:
    """The attempt of a run that this leases; by default to a worker of its own, which never comes back."""
    from runs.contract.placement import Offer
    from runs.queue.claim import ClaimedRun, ClaimRequest, run_claim

    offer = Offer(
        adapters=frozenset({"command", "fake"}),
        any_adapter="fake",
        workspace_kinds=frozenset({"ephemeral"}),
        repositories=frozenset({"*"}),
    )
    request = ClaimRequest(
        offer=offer,
        worker_id=worker_id or WORKER.format(uuid.uuid4().int % 16**6),
        node="bench",
        worker_version="0.1.0",
        claim_key=str(uuid.uuid4()),
        claim_hash=ZERO_HASH,
    )
    claimed = run_claim(request)
    assert isinstance(claimed, ClaimedRun), "nothing was leased although runs are queued"
    return claimed.attempt


def pair(worker_id: str) -> None:
    """Claim one run and publish its result, with every rule."""
    from runs.contract.canonical import document_hash
    from runs.queue.attempts.fence import Presented
    from runs.queue.attempts.publish import attempt_publish

    attempt = claim(worker_id)
    run_id = attempt.run.run_id
    body = result_body({"runId": run_id, "attempt": attempt.number, "fencingToken": attempt.token})
    attempt_publish(
        Presented(run_id, attempt.number, attempt.token, attempt.worker_id, attempt.node),
        key=str(uuid.uuid4()),
        request_hash=document_hash(body),
        body=body,
    )


def main(number: str, pairs: str) -> None:
    import django

    django.setup()
    worker_id = WORKER.format(int(number))
    for _ in range(WARM):
        pair(worker_id)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    begun = time.monotonic()
    for _ in range(int(pairs)):
        pair(worker_id)
    sys.stdout.write(json.dumps([begun, time.monotonic()]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
