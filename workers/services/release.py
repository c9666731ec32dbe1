"""Taking a run back from one of the registered workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runs.contract.errors import NotFound
from runs.models import Attempt
from runs.queue.operating.release import run_release
from runs.reading.detail import run_find
from workers.models import Worker

if TYPE_CHECKING:
    from runs.models import Run


def worker_release(*, worker_id: str, run_id: str, actor: str, force: bool = False, reason: str = "") -> Run:
    """Take the run back from this worker now.

    A worker whose row was forgotten is still known by the attempt that it holds. Raises NotFound `unknown_worker` and
    `unknown_run`, and Refused `not_held` and `worker_alive`.
    """
    node = worker_id.partition(".")[0]
    known = Worker.objects.filter(worker_id=worker_id).exists()
    if not known and not Attempt.objects.filter(node=node, worker_id=worker_id).exists():
        raise NotFound("unknown_worker", f"There is no worker {worker_id[:120]}.")
    return run_release(run=run_find(run_id), worker_id=worker_id, actor=actor, force=force, reason=reason)
