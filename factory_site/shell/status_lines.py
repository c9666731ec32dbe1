"""The first lines of `manage.py status`: the control plane, the queue, workers. Pure but for the words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from factory_site.console.wording.words import ago, without_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MEGABYTE = 1_000_000
SEPARATOR = " · "
WIDTH = 10


def line(name: str, text: str) -> str:
    """One line with its name in a column of its own."""
    return f"{name.ljust(WIDTH)}{text}"


def control_text(document: Mapping[str, Any], address: str, health: Mapping[str, Any] | None, at: datetime) -> str:
    """Where it serves which version on which database, and when lost attempts were last looked for."""
    control = document["control"]
    begin = f"serving at {address}, version {health['version']}" if health else f"DOWN at {address}: manage.py serve"
    reaper = f"reaper {ago(control['reaperAt'], at)}" if control["reaperAt"] else "reaper never"
    return f"{begin}, database {control['database']} {_size(control['databaseBytes'])}, {reaper}"


def queue_text(document: Mapping[str, Any], at: datetime) -> str:
    """What is ready, rests, is held back and runs; how long the oldest ready run has waited."""
    queue = document["queue"]
    held = f" ({', '.join(f'{hold} {count}' for hold, count in queue['held'].items())})" if queue["held"] else ""
    parts = [
        f"ready {queue['ready']}",
        f"backoff {queue['backoff']}",
        f"held {sum(queue['held'].values())}{held}",
        f"running {queue['running']}",
    ]
    if queue["oldestReadyAt"]:
        parts.append(f"oldest ready {without_seconds(at - queue['oldestReadyAt'])}")
    return SEPARATOR.join(parts)


def workers_text(counts: Mapping[str, int]) -> str:
    """Workers that live, are lost, or live and do not claim."""
    live = sum(number for state, number in counts.items() if state != "lost")
    return SEPARATOR.join((f"{live} live", f"{counts.get('lost', 0)} lost", f"{counts.get('blocked', 0)} blocked"))


def anomalies_text(document: Mapping[str, Any]) -> str:
    """How many, and the command that tells them."""
    number = len(document["anomalies"])
    return f"{number} (manage.py doctor)" if number else "none"


def _size(size: int) -> str:
    return f"{size / MEGABYTE:,.0f} MB" if size >= MEGABYTE else "under 1 MB"
