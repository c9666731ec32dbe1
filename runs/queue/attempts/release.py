"""Making attempts due now: their worker or node said good-bye, so the reaper need not wait for the silence."""

from __future__ import annotations

from runs.clock import now
from runs.models import Attempt


def attempt_release_worker(worker_id: str) -> int:
    """Make the unfinished attempt of this boot due now; how many there were. The reaper takes it back."""
    return Attempt.objects.filter(worker_id=worker_id, finished_at=None).update(heartbeat_due_at=now())


def attempt_release_node(node: str) -> int:
    """Make all unfinished attempts of a node due now, whose last credential was revoked; how many there were."""
    return Attempt.objects.filter(node=node, finished_at=None).update(heartbeat_due_at=now())
