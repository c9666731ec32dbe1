"""Huey as a waker: it starts passes on time and keeps nothing that matters.

Due dates live in `PeriodicTask`; a lost or doubled huey task costs latency, never work.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from huey import SqliteHuey, crontab
from huey.serializer import SignedSerializer

from runs.clock import now
from runs.models import PeriodicTask
from runs.nudge import register_starter
from runs.periodic import passes, periodic_due, periodic_nudged, periodic_run

huey = SqliteHuey(
    name="factory",
    filename=str(settings.FACTORY.home / "huey.sqlite3"),  # a file of its own: inside `atomic()` it would deadlock
    immediate=False,
    results=False,
    serializer=SignedSerializer(secret=settings.SECRET_KEY),
)


@huey.task()
def beat(name: str) -> None:
    """Run the pass if this start is won, and schedule the next one; a chain that lost its start ends here."""
    if periodic_run(name):
        row = PeriodicTask.objects.get(name=name)
        beat.schedule((name,), delay=max(0.1, (row.due_at - now()).total_seconds()))


@huey.task()
def wake(name: str) -> None:
    """Run the pass now, because somebody committed work for it."""
    periodic_nudged(name)


@huey.periodic_task(crontab(minute="*"))
def mend_chains() -> None:
    """Start every pass that is overdue, so that a chain that broke with a killed consumer goes on."""
    for name in periodic_due(now() - timedelta(seconds=2)):
        beat(name)


def begin_chains() -> None:
    """Start the chain of every pass; called once by a consumer that begins. Old chains end by losing their starts."""
    for each in passes():
        PeriodicTask.objects.filter(name=each.name).update(due_at=now())
        beat(each.name)


def nudge_through_huey() -> None:
    """Let commits of this process wake passes at once."""
    register_starter(wake)
