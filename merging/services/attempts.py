"""Merge attempts: one row for each try or ending that was seen, with what was sent and what was read back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from merging.facts import OUTCOMES, Reason
from merging.flow import MergeState
from merging.models import MergeAttempt, MergeFlow
from runs.contract.errors import Transient

if TYPE_CHECKING:
    from datetime import datetime

    from convergence.models import PullRequest

LONGEST_MESSAGE = 500  # characters of the forge's own words
FACTORY = "factory"
IN_FLIGHT_SECONDS = 5.0  # until a call that somebody else sent is read back


@dataclass(frozen=True, slots=True)
class Plan:
    """How a head is to land: the method and why, and the texts of a squash (None: the forge's own).

    ``method`` is a way to merge, or the name of the queue that merges; ``comment`` enters a queue beside GitHub.
    """

    head: str
    method: str
    method_reason: str = ""
    title: str | None = None
    body: str | None = None
    comment: str = ""
    admin: bool = False


def attempt_on_wire(row: MergeFlow) -> MergeAttempt | None:
    """The attempt of this flow that was sent and not read back."""
    return row.attempts.filter(outcome="", sent_at__isnull=False).order_by("-id").first()


def attempt_begin(row: MergeFlow, plan: Plan, *, entry_log: int, now: datetime) -> MergeAttempt | None:
    """Note that the call is about to be sent, and commit; None when the flow moved on and nothing may be sent.

    Locks the flow row, so that a cancel sees either no call or this one. Raises ``Transient`` while another call of
    the flow is on the wire: whoever comes second reads back instead of sending.
    """
    with transaction.atomic():
        current = MergeFlow.rows().select_for_update().get(pk=row.pk)
        if current.state != MergeState.MERGING or current.entry_log != entry_log:
            return None
        if attempt_on_wire(current) is not None:
            raise Transient("merge_in_flight", "the merge call is on the wire", retry_after=IN_FLIGHT_SECONDS)
        return _create(
            current,
            row.pull,
            head=plan.head,
            now=now,
            method=plan.method,
            method_reason=plan.method_reason,
            admin=plan.admin,
            actor=FACTORY,
            sent_at=now,
        )


def attempt_note(row: MergeFlow, reason: Reason, *, head: str, now: datetime, **columns: Any) -> MergeAttempt:
    """Add the row of a try that ended before its call, or of an ending that somebody else made."""
    return _create(row, row.pull, head=head, now=now, outcome=OUTCOMES[reason], reason=reason, **columns)


def attempt_end(attempt: MergeAttempt, reason: Reason, *, now: datetime, **columns: Any) -> None:
    """Write what was read back; an attempt that has its outcome keeps it."""
    values = {"outcome": OUTCOMES[reason], "reason": reason, "at": now, **_cut(columns)}
    MergeAttempt.objects.filter(pk=attempt.pk, outcome="").update(**values)


def attempt_explains(row: MergeFlow, *, head: str, landed_sha: str, now: datetime) -> bool:
    """Take a merge that the forge shows for the work of an own call at this head; False when there was none.

    A call whose answer was lost may have had its effect after it was given up. A call that entered a queue has landed
    through it.
    """
    own = row.attempts.filter(sent_at__isnull=False, expected_head=head)
    entered = own.filter(reason=Reason.QUEUED).order_by("-id").first()
    if entered is not None:
        attempt_note(
            row, Reason.LANDED, head=head, now=now, landed_sha=landed_sha, actor=FACTORY, method=entered.method
        )
        return True
    late = own.filter(outcome="") | own.filter(reason=Reason.TRANSIENT)
    attempt = late.order_by("-id").first()
    if attempt is None:
        return False
    MergeAttempt.objects.filter(pk=attempt.pk).update(
        outcome=OUTCOMES[Reason.LANDED], reason=Reason.LANDED, landed_sha=landed_sha, at=now
    )
    return True


def refusal_confirmed(row: MergeFlow) -> None:
    """Call the last uncounted "not ready" a refusal: the verdict was ready again on the same head."""
    last = row.attempts.filter(reason=Reason.NOT_READY).order_by("-id").first()
    if last is not None:
        MergeAttempt.objects.filter(pk=last.pk).update(reason=Reason.REFUSED)


def _create(row: MergeFlow, pull: PullRequest, *, head: str, now: datetime, **columns: Any) -> MergeAttempt:
    number = row.attempts.count() + 1
    return MergeAttempt.objects.create(
        flow=row,
        pull=pull,
        generation=row.generation,
        key=f"merge:{pull.key}:{row.generation}:{head or 'unknown'}:{number}",
        expected_head=head,
        at=now,
        **_cut(columns),
    )


def _cut(columns: dict[str, Any]) -> dict[str, Any]:
    if "message" in columns:
        return {**columns, "message": str(columns["message"] or "")[:LONGEST_MESSAGE]}
    return columns
