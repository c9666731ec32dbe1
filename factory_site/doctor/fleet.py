"""Checks of workers and their machines."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from factory_site.doctor.report import EXAMPLES, Finding, Level
from runs.models import Attempt
from workers.liveness import liveness
from workers.models import CredentialToken, Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOST_SHOWN = timedelta(hours=1)
BLOCKED_AFTER = timedelta(minutes=2)
NODE_WINDOW, NODE_FAILURES = timedelta(minutes=10), 5
EXPIRING = timedelta(days=14)
SKEW = 60_000  # milliseconds
DRAIN_STUCK = timedelta(hours=2)
MOST = 200
OUTDATED = "worker_outdated"
MENDS = {
    "credential_refused": "manage.py credentials rotate NODE",
    "worker_outdated": "update the package on NODE",
    "unkillable_process": "see what it waits for, or reboot NODE",
    "disk_full": "free some space on NODE: manage.py work --list-kept",
    "no_adapter": "install or log in to an agent's program on NODE",
}


def workers_lost(at: datetime) -> list[Finding]:
    """Workers that fell silent within the hour and that no later boot of their node replaced."""
    silent = Worker.objects.filter(
        stopped_at__isnull=True, last_seen_at__lte=at - liveness(), last_seen_at__gt=at - LOST_SHOWN
    )
    alive = set(
        Worker.objects.filter(stopped_at__isnull=True, last_seen_at__gt=at - liveness()).values_list("node", "slot")
    )
    rows = [row for row in silent.order_by("-last_seen_at")[:MOST] if (row.node, row.slot) not in alive]
    if not rows:
        return []
    first = rows[0]
    text = f"worker {first.worker_id} was last heard {first.last_seen_at:%H:%M:%S} UTC"
    names = tuple(row.worker_id for row in rows[:EXAMPLES])
    start = "supervise" if first.pool else "work"
    mend = f"manage.py {start} on {first.node}"
    return [Finding("worker_lost", len(rows), rows[-1].last_seen_at, text, names, mend)]


def workers_blocked(at: datetime) -> list[Finding]:
    """Workers that live and do not claim."""
    rows = Worker.objects.filter(stopped_at__isnull=True, last_seen_at__gt=at - liveness()).exclude(blocked_reason="")
    found = []
    late = Q(started_at__lt=at - BLOCKED_AFTER) | Q(blocked_reason=OUTDATED)
    for row in rows.filter(late).order_by("id")[:MOST]:
        code = OUTDATED if row.blocked_reason == OUTDATED else "worker_blocked"
        text = f"worker {row.worker_id} does not claim: {row.blocked_reason.replace('_', ' ')}"
        if code == OUTDATED:
            text = f"worker {row.worker_id} runs {row.version or 'an unknown version'}, the server asks for a newer one"
        mend = MENDS.get(row.blocked_reason, f"manage.py workers show {row.worker_id}").replace("NODE", row.node)
        found.append(Finding(code, 1, row.started_at, text, (row.worker_id,), mend))
    return found


def workers_leaving(at: datetime) -> list[Finding]:
    """Workers that have been leaving for hours and still hold a run."""
    leaving = Q(draining=True) | Q(drain_requested_at__isnull=False)
    rows = Worker.objects.filter(leaving, stopped_at__isnull=True, last_seen_at__gt=at - liveness())
    names = {row.worker_id for row in rows[:MOST]}
    held = Attempt.objects.select_related("run").filter(finished_at__isnull=True, worker_id__in=names)
    found = []
    for attempt in held.filter(claimed_at__lt=at - DRAIN_STUCK).order_by("claimed_at")[:MOST]:
        text = f"worker {attempt.worker_id} still leaves, on run {attempt.run.run_id}"
        found.append(
            Finding(
                "drain_stuck",
                1,
                attempt.claimed_at,
                text,
                (attempt.worker_id,),
                f"manage.py runs show {attempt.run.run_id}",
            )
        )
    return found


def results_quarantined(at: datetime) -> list[Finding]:
    """Results that lie on a machine because the control plane refused them, as its live workers report.

    The workers of a pool share a home, and each reports all of it: the one that started last counts.
    """
    rows = Worker.objects.filter(stopped_at__isnull=True, last_seen_at__gt=at - liveness()).order_by("id")[:MOST]
    newest = {(row.node, row.pool): row for row in rows}
    found = []
    for node in sorted({node for node, _ in newest}):
        holding = [row for row in newest.values() if row.node == node and row.quarantined]
        number = sum(row.quarantined for row in holding)
        if number:
            results = "1 result on" if number == 1 else f"{number} results on"
            text = f"{results} {node} {'was' if number == 1 else 'were'} refused"
            names = tuple(row.worker_id for row in holding[:EXAMPLES])
            found.append(
                Finding("quarantine", number, None, text, names, f"manage.py work --list-quarantine on {node}")
            )
    return found


def nodes_failing(at: datetime) -> list[Finding]:
    """Nodes on which runs fail with one and the same fault of their surroundings."""
    newest = Attempt.objects.filter(pk__gt=0).order_by("-id").values_list("node", "reason_code", "cause", "finished_at")
    seen = Counter(
        (node, code)
        for node, code, cause, ended in newest[:MOST]
        if cause == "environment" and ended and ended > at - NODE_WINDOW
    )
    return [
        Finding(
            "node_failing",
            number,
            at - NODE_WINDOW,
            f"node {node} fails runs with {code.replace('_', ' ')}: {number} times in 10 min",
            (node,),
            f"manage.py workers list --node {node}, and read the failed run's first error",
        )
        for (node, code), number in seen.items()
        if number >= NODE_FAILURES
    ]


def credentials_ending(at: datetime) -> list[Finding]:
    """Credentials of workers that end within two weeks and have no successor."""
    valid = CredentialToken.objects.valid(at).select_related("credential")
    later = set(valid.exclude(expires_at__lt=at + EXPIRING).values_list("credential_id", flat=True))
    return [
        Finding(
            "credential_expiring",
            1,
            None,
            f"the credential of {token.credential.node} ends on {token.expires_at:%Y-%m-%d}",
            (token.credential.node,),
            f"manage.py credentials rotate {token.credential.node}",
        )
        for token in valid.filter(expires_at__lt=at + EXPIRING).order_by("expires_at")[:MOST]
        if token.credential_id not in later
    ]


def clocks_off(at: datetime) -> list[Finding]:
    """Workers whose clocks are off by more than a minute; nothing is decided by them."""
    rows = Worker.objects.filter(stopped_at__isnull=True, last_seen_at__gt=at - liveness())
    return [
        Finding(
            "clock_skew",
            1,
            None,
            f"the clock of {row.node} is off by {abs(row.clock_skew_ms or 0) // 1000} s",
            (row.worker_id,),
            f"set the time on {row.node}",
            Level.NOTICE,
        )
        for row in rows.exclude(clock_skew_ms__range=(-SKEW, SKEW)).filter(clock_skew_ms__isnull=False)[:MOST]
    ]


CHECKS: tuple[Callable[[datetime], Sequence[Finding]], ...] = (
    workers_lost,
    workers_blocked,
    workers_leaving,
    results_quarantined,
    nodes_failing,
    credentials_ending,
    clocks_off,
)
