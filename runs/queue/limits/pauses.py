"""Pausing claims and lifting a pause: who, when and why stand in the row for good."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Q

from runs.clock import now
from runs.contract.errors import Invalid, NotFound, Refused
from runs.models import Pause, PauseScope
from runs.queue.notices import work_appeared
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from django.db.models import QuerySet

MOST_REASON = 500  # characters
FORMS = {
    PauseScope.REPOSITORY: re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+", re.ASCII),
    PauseScope.AGENT: re.compile(r"[a-z][a-z0-9-]{0,62}", re.ASCII),
}
WANTED = {PauseScope.REPOSITORY: "a repository as owner/repo", PauseScope.AGENT: "the id of an agent"}
CLOCK = "clock"

_lifted: list[Callable[[Pause], object]] = []


def register_lifted(listener: Callable[[Pause], object]) -> None:
    """Have ``listener(pause)`` called in the transaction that lifts a pause, so that who waits for it looks at once."""
    if listener not in _lifted:
        _lifted.append(listener)


def pauses_in_force(at: datetime | None = None) -> QuerySet[Pause]:
    """The pauses that hold now, the oldest first; what lies beyond its ``until`` holds nothing, swept or not."""
    at = at or now()
    return Pause.objects.filter(Q(until=None) | Q(until__gt=at), lifted_at=None).order_by("id")


def pause_over(*, repository: str = "", agent: str = "") -> Pause | None:
    """The pause that covers work on this repository or by this agent, the global one first; one read by index.

    For flows: what a paused repository asks for is not begun, what has begun goes on.
    """
    found = pauses_in_force().filter(covering(repository=repository, agent=agent))
    return min(found, key=lambda each: PauseScope.values.index(each.scope), default=None)


def covering(*, repository: str = "", agent: str = "") -> Q:
    """The condition that a pause covers work on this repository or by this agent."""
    found = Q(scope=PauseScope.GLOBAL)
    if repository:
        found |= Q(scope=PauseScope.REPOSITORY, key__iexact=repository)
    if agent:
        found |= Q(scope=PauseScope.AGENT, key=agent)
    return found


def pause_set(*, scope: str, key: str = "", reason: str, actor: str, until: datetime | None = None) -> Pause:
    """Pause claims from now on; what runs goes on. A pause of the same scope and key is replaced, and stays as history.

    Raises Invalid (`invalid_field`, `reason_required`) naming the field.
    """
    at = now()
    key, reason = _checked(scope, key.strip(), reason.strip(), until, at)
    with joined_transaction():
        for earlier in _unlifted(scope, key):
            _lift(earlier, actor=actor, reason=f"replaced: {reason}", at=at)
        try:
            with transaction.atomic():
                return Pause.objects.create(scope=scope, key=key, reason=reason, actor=actor, since=at, until=until)
        except IntegrityError:
            raise Refused("stale", "Somebody else has paused the same at this moment; look at it again.") from None


def pause_lift(*, pause_id: int, actor: str, reason: str = "") -> Pause:
    """Let claims go on, and wake who waits for them. Locks the pause.

    Raises NotFound `unknown_pause`, and Refused `already_ended` for one that was lifted or has passed.
    """
    with joined_transaction():
        at = now()
        found = Pause.objects.select_for_update().filter(pk=pause_id).first()
        if found is None:
            raise NotFound("unknown_pause", f"There is no pause {pause_id}.")
        if found.lifted_at is not None:
            raise Refused("already_ended", f"The pause was lifted by {found.lifted_by} before.")
        _lift(found, actor=actor, reason=reason.strip()[:MOST_REASON], at=at)
    return found


def pause_find(*, scope: str, key: str = "") -> Pause:
    """The pause of this scope and key that is in force; raises NotFound `unknown_pause`."""
    found = pauses_in_force().filter(scope=scope, key__iexact=key.strip()).first()
    if found is None:
        what = f"{key} is not paused" if key else "There is no pause of everything"
        named = ", ".join(each.key or "everything" for each in pauses_in_force()) or "nothing"
        raise NotFound("unknown_pause", f"{what}; paused now: {named}.")
    return found


def pauses_expired(at: datetime) -> int:
    """Mark the pauses whose ``until`` has passed as lifted by the clock; how many. They hold nothing since then."""
    done = 0
    for pk in Pause.objects.filter(lifted_at=None, until__lte=at).values_list("pk", flat=True):
        with joined_transaction():
            found = Pause.objects.select_for_update().get(pk=pk)
            if found.lifted_at is None:
                _lift(found, actor=CLOCK, reason="its time is over", at=at)
                done += 1
    return done


def _checked(scope: str, key: str, reason: str, until: datetime | None, at: datetime) -> tuple[str, str]:
    if scope not in PauseScope.values:
        raise _wrong("scope", f"scope is one of {', '.join(PauseScope.values)}, not {scope!r}")
    if scope == PauseScope.GLOBAL and key:
        raise _wrong("key", "a pause of everything takes no key")
    form = FORMS.get(PauseScope(scope))
    if form is not None and not (len(key) <= 200 and form.fullmatch(key)):  # noqa: PLR2004 - the column's length
        raise _wrong("key", f"key is {WANTED[PauseScope(scope)]}, not {key!r}")
    if not reason:
        raise Invalid(
            "reason_required", "Say why: the reason is shown wherever a run waits.", details={"field": "reason"}
        )
    if len(reason) > MOST_REASON:
        raise _wrong("reason", f"reason has at most {MOST_REASON} characters")
    if until is not None and until.tzinfo is None:
        raise _wrong("until", "until is an instant with its zone, as 2026-08-30T18:00:00Z")
    if until is not None and until <= at:
        raise _wrong("until", "until lies in the future, or is left out")
    return key, reason


def _wrong(field: str, sentence: str) -> Invalid:
    return Invalid("invalid_field", f"{sentence}.", details={"field": field})


def _unlifted(scope: str, key: str) -> list[Pause]:
    return list(Pause.objects.select_for_update().filter(scope=scope, key__iexact=key, lifted_at=None))


def _lift(pause: Pause, *, actor: str, reason: str, at: datetime) -> None:
    pause.lifted_at, pause.lifted_by, pause.lift_reason = at, actor, reason[:MOST_REASON]
    pause.save(update_fields=["lifted_at", "lifted_by", "lift_reason"])
    for listener in _lifted:
        listener(pause)
    work_appeared()
