"""What this app reads of the operators' policy and of the process's settings, in one place."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.conf import settings

from runs.contract.stamp import VERSION
from runs.contract.wire import CLAIM_WAIT
from runs.policy import policy
from workers.authorship import git_author

MIN_WORKER_VERSION = "0.1.0"  # the oldest worker that this server still leases runs to


def wait_slots() -> int:
    """How many requests this process may hold; it has sixteen threads more than this."""
    return policy().web.wait_slots


def trusted_proxies() -> tuple[str, ...]:
    """Whose word about the scheme counts; nobody's unless the operators say so."""
    return policy().web.trusted_proxies


def pool_bounds(node: str, pool: str) -> tuple[int, int] | None:
    """Least and most workers that the operator wants of this pool, None if it goes by its own bounds."""
    bounds = policy().bounds_for(node, pool)
    return (bounds.min, bounds.max) if bounds is not None else None


def claim_wait_limit() -> float:
    """Seconds that a claim may be held: 25, or a third of the liveness if that is less."""
    return min(CLAIM_WAIT, settings.FACTORY.liveness_seconds / 3)


def rules() -> dict[str, Any]:
    """The part of the answer to a hello that is the same for every worker of this server."""
    return {
        "heartbeatEveryMs": settings.FACTORY.heartbeat_seconds * 1000,
        "livenessSeconds": settings.FACTORY.liveness_seconds,
        "maxWaitSeconds": claim_wait_limit(),
        "minWorkerVersion": MIN_WORKER_VERSION,
        "serverVersion": VERSION,
        "git": asdict(git_author()),
    }
