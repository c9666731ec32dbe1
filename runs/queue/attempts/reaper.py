"""Taking runs back from attempts that went silent or outlived their deadline."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from runs.clock import now
from runs.models import Attempt, AttemptOutcome, Run
from runs.periodic import periodic_resumed_at
from runs.queue.attempts.endings import REAPER, Ending, attempt_failed, deadline_enforced
from runs.transactions import write_transaction

_log = logging.getLogger(__name__)

BATCH = 100  # rows of each question in one pass
NAME = "reaper"  # of its pass
POISONED = timedelta(seconds=60)  # how long a row that raised is left alone


@dataclass(slots=True)
class Grace:
    """From when on silence counts: workers get to speak first after a start of this process.

    They do after a pause of the reaper, too, whichever host's turn the first pass behind it is.
    """

    judged_from: datetime | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def judges_liveness(self, at: datetime, liveness: timedelta, resumed_at: datetime | None = None) -> bool:
        """Whether silence may be judged at this instant; ``resumed_at``: when passes began again after a pause."""
        with self.lock:
            if self.judged_from is None:
                self.judged_from = at + liveness
            return at >= self.judged_from and (resumed_at is None or at >= resumed_at + liveness)


GRACE = Grace()


def reaper_pass(grace: Grace = GRACE) -> int:
    """Take back what is late, one transaction a row; how many runs. Two passes at once take each run back once."""
    at = now()
    liveness = timedelta(seconds=settings.FACTORY.liveness_seconds)
    judged = grace.judges_liveness(at, liveness, periodic_resumed_at(NAME))
    due = _deadline_passed(at)
    if judged:
        due += [pk for pk in _silent(at) if pk not in set(due)]
    return sum(_reap_safely(pk, silence_counts=judged) for pk in due)


def _deadline_passed(at: datetime) -> list[int]:
    late = Attempt.objects.filter(_may_reap(at), finished_at__isnull=True, deadline_at__lte=at)
    return list(late.order_by("deadline_at").values_list("pk", flat=True)[:BATCH])


def _silent(at: datetime) -> list[int]:
    late = Attempt.objects.filter(_may_reap(at), finished_at__isnull=True, heartbeat_due_at__lte=at)
    return list(late.order_by("heartbeat_due_at").values_list("pk", flat=True)[:BATCH])


def _may_reap(at: datetime) -> Q:
    return Q(reap_not_before__isnull=True) | Q(reap_not_before__lte=at)


def _reap_safely(attempt_pk: int, *, silence_counts: bool) -> bool:
    try:
        return _reap(attempt_pk, silence_counts=silence_counts)
    except Exception:  # noqa: BLE001  # one bad row never stops the rest, and must not spin
        Attempt.objects.filter(pk=attempt_pk).update(reap_not_before=now() + POISONED)
        _log.exception("attempt %s could not be taken back", attempt_pk)
        return False


def _reap(attempt_pk: int, *, silence_counts: bool) -> bool:
    """Take one run back; False when its attempt ended or was renewed meanwhile: the question is asked again here."""
    with write_transaction():
        run = Run.objects.select_for_update().get(attempts=attempt_pk)
        attempt = Attempt.objects.get(pk=attempt_pk)
        at = now()
        if attempt.is_finished:
            return False
        if attempt.deadline_at <= at:
            deadline_enforced(run, attempt, at)
            return True
        if silence_counts and attempt.heartbeat_due_at <= at:
            detail = {"heartbeatDueAt": attempt.heartbeat_due_at.isoformat()}
            ending = Ending(AttemptOutcome.FAILED, "worker_lost", at, detail)
            attempt_failed(run, attempt, ending, actor=REAPER)
            return True
        return False
