"""Which runs exist for a node: those of which it holds or has held an attempt."""

from __future__ import annotations

from runs.contract.errors import NotFound
from runs.models import Attempt


def node_check(run_id: str, *, node: str) -> None:
    """Let a run pass that this node knows; ``NotFound`` (``not_found``) for others, before anything else is said."""
    if not Attempt.objects.filter(run__run_id=run_id, node=node).exists():
        raise NotFound("not_found", f"node {node} holds no attempt of {run_id[:64]}")
