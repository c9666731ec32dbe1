"""`workers list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.api.workers import worker_json
from factory_site.console.wording.words import ago, countdown
from factory_site.shell.command_verbs import limit_of, list_flags
from runs.clock import now
from workers.liveness import WorkerState
from workers.selectors.workers import WorkerRow, workers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs

HELP = "workers, the newest boot first; those that said goodbye with --all"
TITLES = ("WORKER", "NODE", "STATE", "OFFER", "RUN", "SEEN", "DUE")


def declare(parser: CommandParser) -> None:
    """Declare what narrows the list."""
    parser.add_argument("--node", default="", metavar="NAME", help="only of this node")
    parser.add_argument("--all", action="store_true", help="also those that stopped")
    list_flags(parser)


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Print the list; for busy ones the time that is left before their heartbeat is due."""
    at = now()
    shown = workers(limit=limit_of(options), node=options["node"], with_stopped=options["all"])
    if options["json"]:
        command.show_json({"items": [worker_json(row) for row in shown]})
        return
    command.show_rows(TITLES, [_cells(row, at) for row in shown], "no worker; start some with: manage.py supervise")


def offer_text(row: WorkerRow) -> str:
    """Adapters and kinds of workspaces that it takes."""
    offered = [*row.offer.get("adapters", []), *row.offer.get("workspaceKinds", [])]
    return ",".join(offered)


def _cells(row: WorkerRow, at: datetime) -> tuple[Any, ...]:
    due = countdown(row.heartbeat_due_at, at, for_people=False) if row.heartbeat_due_at else None
    more = {WorkerState.BLOCKED: f": {row.blocked_reason}", WorkerState.BUSY: ", draining" if row.draining else ""}
    state = f"{row.state}{more.get(row.state, '')}"
    return (row.worker_id, row.node, state, offer_text(row), row.run_id, ago(row.last_seen_at, at), due)
