"""The pass that looks at due flow rows, and the verbs that make a look come sooner."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.db.models import Case, DateTimeField, Value, When

from runs.clock import now as clock_now
from runs.contract.errors import FactoryError, Refused, Transient
from runs.flows.registry import EffectCall, flow_type, flow_types
from runs.nudge import nudge

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from runs.flows.registry import FlowType
    from runs.models.flow_row import FlowRow
    from runs.outbox.dispatch import Delivery

_log = logging.getLogger(__name__)
Row = TypeVar("Row", bound="FlowRow")

MOVED_ON = frozenset({"moved_on", "illegal_edge", "run_at_rest", "transition_refused"})  # somebody else was faster

LOOK_CLAIM = timedelta(seconds=90)  # longer than any batch of reads; a look that died is repeated after it
BATCH = 50  # rows of one look: what one request to the forge carries
FIRST_BACKOFF = timedelta(seconds=60)
LONGEST_BACKOFF = timedelta(minutes=15)


def flows_pass(limit: int = 200) -> int:
    """Look at due rows in batches, about ``limit`` of each flow type, so that none starves another; return how many.

    Any number of passes may run at once.
    """
    return sum(_flow_pass(flow, limit) for flow in flow_types())


def _flow_pass(flow: FlowType, limit: int) -> int:
    looked = 0
    while looked < limit:
        rows = _claim_due(flow, clock_now())
        if not rows:
            break
        looked += len(rows)
        _look(flow, rows)
    return looked


def _claim_due(flow: FlowType, now: datetime) -> list[FlowRow]:
    """Take due rows by moving their due date out, all in one statement, and read them as they are then.

    Another pass that saw the same rows moves none of them.
    """
    was_due = dict(flow.model.objects.due(now).values_list("pk", "due_at")[:BATCH])
    until = now + LOOK_CLAIM
    these = flow.model.objects.filter(pk__in=was_due)
    if not was_due or not these.filter(due_at__lte=now).update(due_at=until):
        return []
    claimed = list(these.filter(due_at=until))
    for row in claimed:
        row.was_due = was_due[row.pk]
    return sorted(claimed, key=lambda row: (row.was_due or now, row.pk))


def _look(flow: FlowType, rows: Sequence[FlowRow]) -> None:
    try:
        flow.look(rows)
    except Exception as error:  # noqa: BLE001  # a fault of the whole batch backs off each row, and no other batch
        _log.exception("a look at %d %s rows failed", len(rows), flow.name)
        for row in rows:
            look_failed(row, error)


def looks_each(rows: Iterable[Row], look_at: Callable[[Row], None]) -> None:
    """Look at each row; one that raises backs off alone, one that somebody else moved is left to its new state."""
    for row in rows:
        try:
            look_at(row)
        except Refused as error:
            if error.code not in MOVED_ON:
                look_failed(row, error)
            _log.info("late: %s: %s", row.subject, error.message)
        except Exception as error:  # noqa: BLE001  # whatever one row raises is its own: the others go on
            look_failed(row, error)
            if not isinstance(error, FactoryError):
                _log.exception("the look at %s failed", row.subject)


def look_done(row: FlowRow, *, due_at: datetime, now: datetime, columns: Mapping[str, Any] | None = None) -> bool:
    """Record a look that moved nothing; False when the row was moved or woken meanwhile (its due date then stands).

    Writes only what a look may write: when it was, when the next one is, and the given columns.
    """
    model = type(row)
    same = model.objects.filter(pk=row.pk, version=row.version)
    same.update(last_look_at=now, last_look_error="", look_failures=0, **(columns or {}))
    return bool(same.filter(due_at=row.due_at).update(due_at=due_at))


def looks_done(rows: Sequence[FlowRow], *, due_at: Mapping[int, datetime], now: datetime) -> int:
    """Record looks that found nothing new, all in one statement; return how many.

    ``due_at`` says by key when the next look is. A row that was moved or woken meanwhile is left as it is.
    """
    if not rows:
        return 0
    next_look = Case(*(When(pk=row.pk, then=Value(due_at[row.pk])) for row in rows), output_field=DateTimeField())
    same = type(rows[0]).objects.filter(pk__in=[row.pk for row in rows], due_at__in={row.due_at for row in rows})
    return same.update(due_at=next_look, last_look_at=now, last_look_error="", look_failures=0)


def look_failed(row: FlowRow, error: Exception) -> None:
    """Push the row's next look out before the error is reported, so that it cannot spin: 60 s doubling to 15 min.

    Counts on the stored row: a move that was rolled back has changed the loaded one alone. Writes nothing on a row that
    somebody else moved; one that was woken meanwhile keeps its due date.
    """
    now = clock_now()
    model = type(row)
    stored = model.objects.filter(pk=row.pk, version__lte=row.version, ended_at__isnull=True).first()
    if stored is None or stored.due_at is None:
        return
    failures = stored.look_failures + 1
    pause = min(FIRST_BACKOFF * 2 ** min(failures - 1, 10), LONGEST_BACKOFF)
    if isinstance(error, Transient):
        pause = timedelta(seconds=max(1.0, error.retry_after))
    text = f"{error.code}: {error.message}" if isinstance(error, FactoryError) else f"{type(error).__name__}: {error}"
    same = model.objects.filter(pk=row.pk, version=stored.version)
    same.update(look_failures=failures, last_look_error=text[:500])
    if stored.due_at > now or stored.due_at == row.due_at:
        same.filter(due_at=stored.due_at).update(due_at=now + pause)


def flow_wake(name: str, **which: Any) -> int:
    """Make the next look of the active rows that match come now; return how many. Carries no fact into the flow."""
    now = clock_now()
    woken = flow_type(name).model.objects.filter(due_at__gt=now, **which).update(due_at=now)
    if woken:
        nudge("flows")
    return woken


def subject_wake(subject: str) -> int:
    """Make the next look at whatever drives the subject come now."""
    return subjects_wake([subject])


def subjects_wake(subjects: Collection[str]) -> int:
    """Make the next looks at whatever drives these subjects come now; how many. One statement a flow type."""
    return sum(flow_wake(flow.name, subject__in=subjects) for flow in flow_types()) if subjects else 0


def effect_deliver(delivery: Delivery) -> Mapping[str, Any]:
    """Consume ``flow.effect``: drop what its fence refuses, else hand it to its handler and wake the flow."""
    payload = delivery.payload
    flow = flow_type(payload["flow"])
    row = flow.model.objects.get(pk=payload["row"])
    if not flow.fence(row, payload["generation"]):
        return {"dropped": "generation_ended"}
    call = EffectCall(
        name=payload["effect"],
        arguments=payload["arguments"],
        row=row,
        generation=payload["generation"],
        log=payload["log"],
        key=delivery.key,
        repeated=delivery.repeated,
    )
    observed = flow.effects[call.name](call) or {}
    flow_wake(flow.name, pk=row.pk)
    return observed
