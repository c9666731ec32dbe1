"""Delivering the outbox: in order within a stream, believed only as observed.

What acts outside is delivered one row at a time, each under a claim of its own. Announcements that only change rows are
delivered in batches, in one transaction with the note that they were.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import F, Q

from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, Transient
from runs.models.outbox import Outbox
from runs.transactions import has_row_locks, write_transaction

if TYPE_CHECKING:
    from django.db.models import QuerySet

_log = logging.getLogger(__name__)

CLAIM = timedelta(seconds=60)  # a consumer that needs longer may be repeated; it is idempotent by key
MOST_TRIES = 12
MOST_BATCHES = 20  # of a topic in one pass, so that a flood of announcements leaves acts their turn
LONGEST_PAUSE = timedelta(minutes=10)
PENDING = Q(done_at__isnull=True, dead_at__isnull=True)
MOST_LOOKED_AT = 10  # rows that one delivery tries to have, when others take them first
# Pending, in nobody's hand, and first of its stream. It is asked after every commit that has an effect, and to compose
# it takes the ORM ten times as long as the answer.
DUE = """
FROM runs_outbox AS due
WHERE due.done_at IS NULL AND due.dead_at IS NULL AND due.available_at <= %s
AND (due.claimed_until IS NULL OR due.claimed_until <= %s)
AND NOT EXISTS (
    SELECT 1 FROM runs_outbox AS earlier
    WHERE earlier.done_at IS NULL AND earlier.dead_at IS NULL
    AND earlier.stream = due.stream AND earlier.id < due.id
)
"""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery in hand. ``repeated``: an earlier try may have had its effect, so look before acting."""

    id: int
    topic: str
    key: str
    payload: Mapping[str, Any]
    repeated: bool


Consumer = Callable[[Delivery], Mapping[str, Any] | None]
Listener = Callable[[Sequence[Delivery]], Mapping[str, Any] | None]
_consumers: dict[str, Consumer] = {}
_listeners: dict[str, Listener] = {}


def register_consumer(topic: str, consumer: Consumer) -> None:
    """Have rows of the topic delivered to ``consumer``, which returns what it observed."""
    _consumers[topic] = consumer


def register_listener(topic: str, listener: Listener) -> None:
    """Have rows of the topic told to ``listener``, many at a time; it changes rows and nothing outside.

    Where it raises, each row is told by itself, so that one bad row never stops the rest.
    """
    _listeners[topic] = listener
    _consumers[topic] = lambda delivery: listener([delivery])


def outbox_pass(limit: int = 50) -> int:
    """Deliver what is due, and return how many rows were tried. Any number of passes may run at once.

    At most ``limit`` acts, and ``limit`` announcements in each of the batches; the next pass takes what is left.
    """
    told, alone = 0, _consumers.keys() - _listeners.keys()
    for _ in range(MOST_BATCHES):
        due = _due_topics() & (_listeners.keys() - alone)
        for topic in sorted(due):
            try:
                told += _tell(topic, limit)
            except Exception:  # noqa: BLE001  # rolled back as a whole; each row is delivered by itself below
                _log.warning("%s could not be told in a batch", topic, exc_info=True)
                alone |= {topic}
        if not due:
            break
    tried = 0
    while tried < limit and _due_topics() & alone:
        row = _claim(clock_now(), sorted(alone))
        if row is None:
            break
        tried += 1
        _deliver(row)
    return told + tried


def consumed_topics() -> list[str]:
    """The topics that somebody consumes; rows of others wait for a later version, and nothing waits for them."""
    return sorted(_consumers)


def _tell(topic: str, limit: int) -> int:
    """One batch in one transaction; how many rows. Raises what the listener raises, and then nothing is told."""
    with write_transaction():
        now = clock_now()
        rows = _due(now, [topic], limit, lock=has_row_locks())
        told = [Delivery(row.pk, row.topic, row.key, row.payload, repeated=row.tries > 0) for row in rows]
        observed = (_listeners[topic](told) if told else None) or {}
        Outbox.objects.filter(pk__in=[row.pk for row in rows]).update(
            done_at=now, observed=dict(observed), tries=F("tries") + 1, claimed_until=None, last_error=""
        )
    return len(rows)


def _due_topics() -> set[str]:
    """The topics of what may be delivered now."""
    now = clock_now()
    found = Outbox.objects.raw(f"SELECT min(due.id) AS id, due.topic {DUE} GROUP BY due.topic", [now, now])
    return {row.topic for row in found}


def _due(now: datetime, topics: Sequence[str], limit: int, *, lock: bool = False) -> list[Outbox]:
    """What may be delivered now of these topics, at most ``limit``; locked to the commit, without what others hold."""
    named = ", ".join(["%s"] * len(topics))
    order = f"ORDER BY due.available_at, due.id LIMIT {limit:d}"
    text = f"SELECT due.* {DUE} AND due.topic IN ({named}) {order}"
    return list(Outbox.objects.raw(text + (" FOR UPDATE OF due SKIP LOCKED" if lock else ""), [now, now, *topics]))


def _claim(now: datetime, topics: Sequence[str]) -> Outbox | None:
    """Take the oldest deliverable row of these topics by compare-and-set on its claim."""
    unclaimed = Q(claimed_until__isnull=True) | Q(claimed_until__lte=now)
    for row in _due(now, topics, MOST_LOOKED_AT):
        taken = Outbox.objects.filter(PENDING, unclaimed, pk=row.pk).update(
            claimed_until=now + CLAIM, tries=F("tries") + 1
        )
        if taken:
            row.tries += 1
            row.claimed_until = now + CLAIM
            return row
    return None


def _deliver(row: Outbox) -> None:
    delivery = Delivery(row.pk, row.topic, row.key, row.payload, repeated=row.tries > 1)
    try:
        observed = _consumers[row.topic](delivery) or {}
    except Transient as error:
        text, pause = f"{error.code}: {error.message}", timedelta(seconds=error.retry_after)
        if error.details.get("limited"):
            _later(row, text, pause)
        else:
            _again(row, text, pause)
    except FactoryError as error:
        _dead(row, f"{error.code}: {error.message}")
    except Exception as error:  # noqa: BLE001  # one bad row never stops the rest
        _log.exception("delivery %s failed", row.key)
        _again(row, f"{type(error).__name__}: {error}", timedelta())
    else:
        Outbox.objects.filter(PENDING, pk=row.pk).update(
            done_at=clock_now(), observed=dict(observed), claimed_until=None, last_error=""
        )


def _again(row: Outbox, text: str, at_least: timedelta) -> None:
    """Push the row out, 2 s doubling to 10 min; dead after the last try."""
    if row.tries >= MOST_TRIES:
        _dead(row, text)
        return
    pause = max(min(timedelta(seconds=2**row.tries), LONGEST_PAUSE), at_least)
    _claimed(row).update(available_at=clock_now() + pause, claimed_until=None, last_error=text[:500])


def _later(row: Outbox, text: str, pause: timedelta) -> None:
    """Push out a row whose act a limit kept from leaving: that was no try, so it neither counts nor repeats."""
    _claimed(row).update(
        available_at=clock_now() + pause, claimed_until=None, last_error=text[:500], tries=F("tries") - 1
    )


def _dead(row: Outbox, text: str) -> None:
    """Give the row up; it no longer blocks its stream, and an operator may queue it again."""
    _claimed(row).update(dead_at=clock_now(), claimed_until=None, last_error=text[:500])


def _claimed(row: Outbox) -> QuerySet[Outbox]:
    """The row while it is claimed by this try; a failure that comes after its claim says nothing about the next one."""
    return Outbox.objects.filter(PENDING, pk=row.pk, tries=row.tries)
