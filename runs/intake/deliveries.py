"""Admitting a delivery of the forge once, and waking what it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from runs.clock import now as clock_now
from runs.contract.canonical import bytes_hash
from runs.models import WebhookDelivery


@dataclass(frozen=True, slots=True)
class Woken:
    """How many flow rows a delivery woke, or why it woke none."""

    count: int = 0
    ignored: str = ""


@dataclass(frozen=True, slots=True)
class Admission:
    """What became of a delivery."""

    admitted: bool
    duplicate: bool
    woken: int
    ignored: str


Waker = Callable[[str, Mapping[str, Any]], Woken]
_wakers: dict[str, Waker] = {}


def register_waker(source: str, waker: Waker) -> None:
    """Have ``waker(kind, payload)`` called for each new delivery of the source, inside its transaction.

    It moves due dates and nothing else: a delivery is a reason to look, never a fact.
    """
    _wakers[source] = waker


def delivery_admit(*, source: str, delivery_id: str, kind: str, payload: Mapping[str, Any], body: bytes) -> Admission:
    """Record the delivery and wake what it names, in one transaction; an id that is known does nothing."""
    waker = _wakers.get(source)
    try:
        with transaction.atomic():
            row = WebhookDelivery.objects.create(
                source=source,
                delivery_id=delivery_id,
                kind=kind,
                action=_action(payload),
                body_hash=bytes_hash(body),
                at=clock_now(),
            )
            woken = waker(kind, payload) if waker else Woken(ignored="unhandled_kind")
            WebhookDelivery.objects.filter(pk=row.pk).update(woken=woken.count, ignored=woken.ignored)
    except IntegrityError:
        if not WebhookDelivery.objects.filter(source=source, delivery_id=delivery_id).exists():
            raise
        return Admission(admitted=False, duplicate=True, woken=0, ignored="")
    return Admission(admitted=True, duplicate=False, woken=woken.count, ignored=woken.ignored)


def _action(payload: Mapping[str, Any]) -> str:
    """What happened, as far as the row holds it; empty for anything but text."""
    action = payload.get("action")
    return action.replace("\0", "")[:64] if isinstance(action, str) else ""
