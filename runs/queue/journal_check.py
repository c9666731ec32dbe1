"""The standing check: through every journal once a day, a slice a minute, so that no damage waits to be looked for."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import F

from runs.clock import now
from runs.models import JournalCheck, Run
from runs.queue.audit import JournalFault, faults_of
from runs.transactions import write_transaction

if TYPE_CHECKING:
    from datetime import datetime

SLICE = 1000  # runs of one pass, about a second
BATCH = 100
EVERY = timedelta(days=1)  # from the start of one sweep to the start of the next
MOST_KEPT = 20  # faults that are kept with their places; all are counted


def journal_check_pass(runs: int = SLICE) -> None:
    """Look at the next runs of the sweep under way; begin one when the last began a day ago."""
    check = _under_way(now())
    left = runs
    while check is not None and left > 0:
        batch = list(Run.objects.filter(pk__gte=check.next_key).order_by("pk")[: min(BATCH, left)])
        check = _noted(check, batch, faults_of(batch))
        left -= len(batch)


def journal_check_found() -> tuple[JournalCheck | None, list[JournalFault]]:
    """The last sweep that ended, and what it and the one under way found; at most 20 places of each."""
    ended = JournalCheck.objects.filter(ended_at__isnull=False).order_by("-pk").first()
    checks = [each for each in (ended, JournalCheck.objects.filter(ended_at__isnull=True).first()) if each]
    places = {(fault["runId"], fault["seq"], fault["kind"]): None for check in checks for fault in check.faults}
    return ended, [JournalFault(*place) for place in places]


def _under_way(at: datetime) -> JournalCheck | None:
    found = JournalCheck.objects.filter(ended_at__isnull=True).first()
    if found is not None:
        return found
    last = JournalCheck.objects.order_by("-pk").first()
    if last is not None and last.began_at > at - EVERY:
        return None
    try:
        with transaction.atomic():
            return JournalCheck.objects.create(began_at=at)
    except IntegrityError:  # another pass began it
        return None


def _noted(check: JournalCheck, batch: list[Run], faults: list[JournalFault]) -> JournalCheck | None:
    """Keep what was found and go on behind the batch; None when the sweep has ended, or another pass went on."""
    at = now()
    kept = [*check.faults, *({"runId": each.run_id, "seq": each.seq, "kind": each.kind} for each in faults)]
    written = {
        "next_key": batch[-1].pk + 1 if batch else check.next_key,
        "ended_at": None if batch else at,
        "runs_checked": F("runs_checked") + len(batch),
        "fault_count": F("fault_count") + len(faults),
        "faults": kept[:MOST_KEPT],
    }
    with write_transaction():
        mine = JournalCheck.objects.filter(pk=check.pk, next_key=check.next_key, ended_at__isnull=True)
        if not mine.update(**written):
            return None
        if not batch:
            JournalCheck.objects.filter(pk__lt=check.pk).delete()
            return None
    return JournalCheck.objects.get(pk=check.pk)
