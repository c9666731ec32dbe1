"""Checks of the machines of workers, by what each last said of itself: adapters, isolation, room, kept workspaces."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Max

from factory_site.doctor.report import EXAMPLES, Finding, Level
from runs.contract.instants import parse_instant
from workers.models import CredentialToken, Pool, Worker
from workers.selectors.pools import SUPERVISOR_DEAD
from workers.selectors.workers import alive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST = 200
GIGABYTE = 1_000_000_000
ADAPTER_MISSING_FOR = timedelta(minutes=5)
KEPT_BYTES, KEPT_FOR = 20 * GIGABYTE, timedelta(days=7)
ROTATION_OPEN = timedelta(hours=24)


def adapters_missing(at: datetime) -> list[Finding]:
    """Adapters that a node does not offer, with the reason."""
    missing = {
        (row.node, name): (row, reason)
        for row in _newest_of_each_node()
        if row.started_at < at - ADAPTER_MISSING_FOR
        for name, reason in row.health.get("adaptersMissing", {}).items()
    }
    return [
        Finding(
            "adapter_unavailable",
            1,
            row.started_at,
            f"node {node} no longer offers {name}: {reason.replace('_', ' ')}",
            (node,),
            f"install or log in to {name} on {node}, then restart its worker: manage.py work",
        )
        for (node, name), (row, reason) in missing.items()
    ]


def isolation_low(at: datetime) -> list[Finding]:
    """Nodes whose agents are less isolated than was asked for. A notice: the only level of this version is `none`."""
    del at
    found = []
    for row in _newest_of_each_node():
        isolation = row.health.get("isolation", {})
        lacks = isolation.get("lacks", [])
        if lacks:
            words = ", ".join(each.replace("_", " ") for each in lacks)
            text = f"agents on {row.node} run with isolation {isolation.get('level', 'none')}: {words}"
            mend = f"agree to it on {row.node}: manage.py work --isolation none"
            found.append(Finding("isolation_low", 1, row.started_at, text, (row.node,), mend, Level.NOTICE))
    return found


def rooms_low(at: datetime) -> list[Finding]:
    """Machines whose workers take nothing because their disk is full."""
    del at
    found = []
    for row in _newest_of_each_node():
        if row.blocked_reason == "disk_full":
            free = row.health.get("disk", {}).get("freeBytes", 0)
            text = f"the worker home on {row.node} has {free / GIGABYTE:.1f} GB left"
            mend = f"manage.py work --list-kept on {row.node}; free space on {row.node}"
            found.append(Finding("disk_low", 1, None, text, (row.node,), mend))
    return found


def workspaces_kept(at: datetime) -> list[Finding]:
    """Machines on which kept workspaces are large or old."""
    found = []
    for row in _newest_of_each_node():
        kept = row.health.get("kept", {})
        size, oldest = kept.get("bytes", 0), kept.get("oldestAt")
        since = parse_instant(oldest) if oldest else None
        if size > KEPT_BYTES or (since is not None and at - since > KEPT_FOR):
            when = f", the oldest since {since:%Y-%m-%d}" if since else ""
            text = f"{row.node} keeps {size / GIGABYTE:.1f} GB of workspaces{when}"
            mend = f"manage.py work --list-kept on {row.node}"
            found.append(Finding("workspace_kept", kept.get("count", 1), since, text, (row.node,), mend))
    return found


def processes_unkillable(at: datetime) -> list[Finding]:
    """Processes that SIGKILL does not end, as live workers and supervisors of their machines report them."""
    found: dict[str, set[int]] = defaultdict(set)
    for row in alive(Worker.objects.order_by("-id"))[:MOST]:
        found[row.node].update(row.health.get("unkillable", []))
    for pool in Pool.objects.filter(seen_at__gt=at - SUPERVISOR_DEAD).order_by("-seen_at")[:MOST]:
        found[pool.node].update(pool.unkillable)
    return [_unkillable(node, sorted(pids)) for node, pids in sorted(found.items()) if pids]


def _unkillable(node: str, pids: list[int]) -> Finding:
    names = tuple(str(pid) for pid in pids[:EXAMPLES])
    said = f"pid {names[0]} on {node} survives" if len(pids) == 1 else f"pids {', '.join(names)} on {node} survive"
    looked_at = f"ps -o pid,stat,wchan,args -p {','.join(names)}"
    mend = f"see on {node} what it waits for: {looked_at}; if it stays, reboot {node}"
    return Finding("unkillable_process", len(pids), None, f"{said} SIGKILL", names, mend)


def rotations_open(at: datetime) -> list[Finding]:
    """Nodes that have had two valid tokens for a day: the new one is not in use yet."""
    rows = (
        CredentialToken.objects.valid(at)
        .order_by()
        .values("credential__node")
        .annotate(number=Count("pk"), newest=Max("created_at"))
        .filter(number__gt=1, newest__lt=at - ROTATION_OPEN)
    )
    return [
        Finding(
            "rotation_open",
            1,
            row["newest"],
            f"{row['credential__node']} still uses its old token",
            (row["credential__node"],),
            f"install the new file on {row['credential__node']}, or: manage.py credentials rotate "
            f"{row['credential__node']}",
        )
        for row in rows.order_by("credential__node")[:MOST]
    ]


def _newest_of_each_node() -> list[Worker]:
    """The live worker of each node that started last; what it says holds for the machine."""
    newest: dict[str, Worker] = {}
    for row in alive(Worker.objects.order_by("-id"))[:MOST]:
        newest.setdefault(row.node, row)
    return list(newest.values())


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (
    adapters_missing,
    isolation_low,
    rooms_low,
    workspaces_kept,
    processes_unkillable,
    rotations_open,
)
