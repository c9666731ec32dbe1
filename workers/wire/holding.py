"""Which runs exist for a node: those of which it holds or has held an attempt."""

from __future__ import annotations

from runs.contract.errors import NotFound
from runs.models import Attempt, Run
from runs.rows import row_find


def node_check(run_id: str, *, node: str) -> None:
    """Let a run pass that this node knows; ``NotFound`` (``not_found``) for others, before anything else is said."""
    run = row_find(Run, run_id=run_id)
    if run is None or row_find(Attempt, run_id=run.pk, node=node) is None:
        raise NotFound("not_found", f"node {node} holds no attempt of {run_id[:64]}")
