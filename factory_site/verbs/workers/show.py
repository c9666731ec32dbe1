"""`workers show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.api.workers import worker_json
from factory_site.shell.command_verbs import instant
from factory_site.verbs.workers.listing import offer_text
from runs.contract.errors import NotFound
from workers.selectors.workers import worker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

    from factory_site.shell.command_verbs import Verbs
    from workers.selectors.workers import WorkerRow

HELP = "one worker: what it offers, holds and says of its machine"


def drain_text(row: WorkerRow) -> str:
    """Who asked it to leave and why; that it leaves, if it said so itself."""
    if row.drain_requested_at is None:
        return "after this run" if row.draining and row.run_id else ""
    why = f": “{row.drain_reason}”" if row.drain_reason else ""
    return f"asked {instant(row.drain_requested_at)} by {row.drain_requested_by.removeprefix('operator:')}{why}"


def declare(parser: CommandParser) -> None:
    """Declare which."""
    parser.add_argument("id", metavar="WORKER")
    parser.add_argument("--json", action="store_true", help="print what the API lists")


def perform(command: Verbs, options: Mapping[str, Any]) -> None:
    """Print it; raises NotFound (`unknown_worker`)."""
    row = worker(options["id"])
    if row is None:
        raise NotFound("unknown_worker", f"there is no worker {options['id']}")
    if options["json"]:
        command.show_json(worker_json(row))
        return
    missing = {**row.health.get("adaptersMissing", {}), **row.health.get("kindsMissing", {})}
    command.show_fields(
        {
            "worker": row.worker_id,
            "node": row.node,
            "host": row.host,
            "pool": f"{row.pool}, slot {row.slot}" if row.pool else "",
            "pid": row.pid,
            "version": row.version,
            "state": f"{row.state} ({row.blocked_reason})" if row.blocked_reason else str(row.state),
            "leaves": drain_text(row),
            "offer": offer_text(row),
            "lacks": ", ".join(f"{name}: {reason}" for name, reason in sorted(missing.items())),
            "run": f"{row.run_id} attempt {row.attempt}" if row.run_id else "",
            "heartbeat due": instant(row.heartbeat_due_at) if row.heartbeat_due_at else "",
            "refused results": row.quarantined or "",
            "started": instant(row.started_at),
            "seen": instant(row.last_seen_at),
            "stopped": f"{instant(row.stopped_at)} {row.stop_reason}" if row.stopped_at else "",
        }
    )
