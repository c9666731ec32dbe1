"""The fence: which write of an attempt may change anything, decided inside its transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from runs.clock import now
from runs.contract.errors import FactoryError, NotFound, Refused
from runs.models import Attempt, AttemptOutcome, JournalKind, JournalRow, Run
from runs.queue.attempts.endings import deadline_enforced
from runs.queue.journal import Step, journal_append
from runs.rows import row_find
from runs.transactions import write_transaction

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

Answer = TypeVar("Answer")
MOST_FENCED = 100  # journal rows of a run; a worker that does not take no for an answer adds no more


@dataclass(frozen=True, slots=True)
class Presented:
    """What a request says about the attempt it writes for; worker and node come from the credential."""

    run_id: str
    attempt: int
    token: str
    worker_id: str
    node: str


@dataclass(slots=True)
class Held:
    """The locked run and its newest attempt, which the request may write for."""

    run: Run
    attempt: Attempt
    at: datetime

    @property
    def is_cancelled(self) -> bool:
        """Whether a cancel ended the attempt; only a heartbeat or an upload of what was saved is answered then."""
        return self.attempt.outcome == AttemptOutcome.CANCELLED


def attempt_write(
    presented: Presented, operation: str, work: Callable[[Held], Answer], *, cancelled_too: bool = False
) -> Answer:
    """Run ``work`` in one durable transaction that locks the run, if the attempt may write; its answer.

    In this order: the attempt is the newest, its token is the run's, this worker claimed it (else Refused `fenced`,
    with one journal row, up to 100 of a run); before its deadline (else `lease_expired`, with the reaper's edge,
    once); not ended (else `attempt_terminal`). With ``cancelled_too`` an attempt that a cancel ended passes. Raises
    NotFound for a run that this node never held.
    """
    with write_transaction():
        verdict = _verdict(presented, operation, cancelled_too=cancelled_too)
        if isinstance(verdict, Held):
            return work(verdict)
    raise verdict  # after the commit: the journal row of a refusal stays


def attempt_may_write(presented: Presented, operation: str) -> Attempt:
    """The attempt, if a write would be accepted now; an attempt that a cancel ended passes.

    For checks before a long body is read: what is accepted is only read here, and fenced again by the write itself.
    Raises like `attempt_write`, and what that writes with a refusal is written.
    """
    run, attempt = _newest(presented)
    is_open = attempt.outcome == AttemptOutcome.CANCELLED if attempt.is_finished else now() < attempt.deadline_at
    if is_open and not _is_stale(presented, run, attempt):
        return attempt
    return attempt_write(presented, operation, lambda held: held.attempt, cancelled_too=True)


def _verdict(presented: Presented, operation: str, *, cancelled_too: bool) -> Held | FactoryError:
    run, attempt = _newest(presented, lock=True)
    at = now()
    if _is_stale(presented, run, attempt):
        _note_fenced(presented, operation, Held(run, attempt, at))
        return _fenced(presented, run)
    held = Held(run, attempt, at)
    if held.is_cancelled and cancelled_too:
        return held
    if attempt.is_finished:
        return _terminal(presented, run)
    if at >= attempt.deadline_at:
        deadline_enforced(run, attempt, at)
        return Refused("lease_expired", f"the lease of attempt {presented.attempt} of {run.run_id} is over")
    return held


def _note_fenced(presented: Presented, operation: str, held: Held) -> None:
    """The journal row of a refusal; every later one of a run that has many is as good as those before."""
    if JournalRow.objects.filter(run=held.run.pk, kind=JournalKind.FENCED).count() >= MOST_FENCED:
        return
    detail = {"operation": operation, "presentedToken": presented.token, "presentedAttempt": presented.attempt}
    step = Step(f"worker:{presented.worker_id}", "fenced", held.at, held.attempt, detail)
    journal_append(held.run, JournalKind.FENCED, step)


def _newest(presented: Presented, *, lock: bool = False) -> tuple[Run, Attempt]:
    """The run and its newest attempt, if this node holds or has held one of it."""
    run = row_find(Run, lock=lock, run_id=presented.run_id)
    attempt = None if run is None else row_find(Attempt, run_id=run.pk, number=run.attempt_number)
    if run is None or attempt is None or not _knows(presented.node, attempt):
        raise NotFound("not_found", f"node {presented.node} holds no attempt of {presented.run_id}")
    attempt.run = run
    return run, attempt


def _knows(node: str, newest: Attempt) -> bool:
    return newest.node == node or Attempt.objects.filter(run=newest.run_id, node=node).exists()


def _is_stale(presented: Presented, run: Run, attempt: Attempt) -> bool:
    return (
        presented.attempt != run.attempt_number
        or presented.token != str(run.fencing_token)
        or presented.worker_id != attempt.worker_id
        or presented.node != attempt.node
    )


def _fenced(presented: Presented, run: Run) -> Refused:
    return Refused(
        "fenced",
        f"attempt {presented.attempt} no longer holds {run.run_id}",
        details={"currentAttempt": run.attempt_number},
    )


def _terminal(presented: Presented, run: Run) -> Refused:
    return Refused("attempt_terminal", f"attempt {presented.attempt} of {run.run_id} has ended")
