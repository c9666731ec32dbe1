"""Leasing one run to one worker: a read-only look, then one durable transaction that picks by index.

Classes that a pause, a cap or the day's budget blocks are dropped before any run of theirs is read.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from runs.clock import now
from runs.contract.errors import Refused
from runs.contract.placement import Offer, resolve_adapter
from runs.contract.spec import SPEC_VERSION, spec_value
from runs.definitions.stored import definition_document
from runs.flow import RunState
from runs.models import Attempt, Hold, PlacementClass, Run, SpendScope
from runs.queue import ready
from runs.queue.claimable import Claimable, claimable
from runs.queue.journal import Step, run_move
from runs.queue.limits.balance import Limit
from runs.queue.limits.budgets import budget_hold, run_balances
from runs.queue.limits.standing import caps_locked, standing_now
from runs.queue.models_of_adapters import model_for
from runs.queue.placement import OFFER_MATCHES
from runs.queue.specs import spec_and_prompt
from runs.rows import row_find, row_insert_once, row_new
from runs.rows.direct import answers_of, row_of
from runs.transactions import has_row_locks, write_transaction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_CANDIDATES = 20  # per claim; what fails its test leaves the ready index, so the next claim gets further
PREPARATION = timedelta(seconds=120)  # what an attempt gets beside the spec's time-out, for workspace and upload
# What this worker holds, or was leased under this key; either keeps it from another run.
OWN_ATTEMPT = """
SELECT 1 FROM runs_attempt WHERE worker_id = %s AND finished_at IS NULL
UNION ALL SELECT 1 FROM runs_attempt WHERE node = %s AND claim_key = %s
"""
# On PostgreSQL, with the transaction's instant, and whether retries are due; behind the worker's turn, on one way.
TURN = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
OPENING = f"""
SELECT statement_timestamp(), EXISTS ({OWN_ATTEMPT}), EXISTS (SELECT 1 FROM runs_run
WHERE state = 'queued' AND hold = 'backoff' AND available_at <= statement_timestamp())
"""  # noqa: S608 -- one text within another


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """Who claims, with what offer, under which key. Identity and offer are already checked against the credential."""

    offer: Offer
    worker_id: str
    node: str
    worker_version: str
    claim_key: str
    claim_hash: str
    spec_versions: tuple[str, ...] = (SPEC_VERSION,)


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """The leased attempt; ``repeated``: an earlier request with the same key leased it."""

    attempt: Attempt
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing was leased, and why: `none_ready`, or what holds every fitting run: `paused`, `limits`."""

    reason: str = "none_ready"


def run_claim(request: ClaimRequest) -> ClaimedRun | Empty:
    """Lease the first run in line that this worker can take; Empty when there is none. Returns after the commit.

    The same key again returns the same attempt. An idle worker only reads. Raises Refused `worker_busy` when the
    worker has an unfinished attempt, `idempotency_conflict` for a known key with other content.
    """
    fits = SPEC_VERSION in request.spec_versions
    if fits and has_row_locks():
        # Nobody waits for a transaction that comes to write nothing, so it is the look as well.
        found = _in_turn(request, None)
        return found if isinstance(found, ClaimedRun) else Empty(claimable(request.offer, node=request.node).reason)
    seen = claimable(request.offer, node=request.node) if fits else Claimable()
    if not seen.count:
        known = _known_claim(request)
        if known is not None:
            return known
        if not fits or not _busy_run(request.worker_id):
            return Empty(seen.reason)
    return _in_turn(request, seen)


def _in_turn(request: ClaimRequest, seen: Claimable | None) -> ClaimedRun | Empty:
    try:
        with write_transaction():
            return _claim(request, seen)
    except Refused:
        # The same request, sent twice at once: the other one leased while this one waited.
        known = _known_claim(request)
        if known is None:
            raise
        return known


def _claim(request: ClaimRequest, seen: Claimable | None) -> ClaimedRun | Empty:
    """Lease of the classes that were seen ready before the lock; what became ready since then is the next claim's.

    None was looked for before: then they are looked for here.
    """
    at, has_own, has_due = _opening(request, seen)
    if has_own:
        known = _known_claim(request)
        if known is not None:
            return known
        busy = _busy_run(request.worker_id)
        raise Refused("worker_busy", f"{request.worker_id} still holds {busy}", details={"runId": busy})
    rows: Sequence[PlacementClass] = seen.ready if seen else ()
    if (has_due and ready.due_released(at)) or seen is None:
        rows = OFFER_MATCHES.matching(request.offer, ready.ready_classes())
    for head in _candidates(_unblocked(request, rows, at)):
        attempt = _lease(request, head, at)
        if attempt is not None:
            return ClaimedRun(attempt)
    return Empty()


def _unblocked(request: ClaimRequest, rows: Sequence[PlacementClass], at: datetime) -> list[PlacementClass]:
    """Those of the classes that nothing blocks, their caps locked and counted."""
    if not rows:
        return []
    caps_locked(rows, request.node)
    standing = standing_now(at=at)
    return [row for row in rows if standing.block_of(row, request.node) is None]


def _opening(request: ClaimRequest, seen: Claimable | None) -> tuple[datetime, bool, bool]:
    """The instant of this transaction, whether the worker or its key has an attempt, and whether retries are due.

    Claims of one worker follow each other, so that a key sent twice at once sees what its twin has leased: on SQLite
    all write transactions do, on PostgreSQL by a lock that ends with the transaction.
    """
    own = [request.worker_id, request.node, request.claim_key]
    if seen is None:
        _, [(at, has_own, has_due)] = answers_of([(TURN, [request.worker_id]), (OPENING, own)])
        return at.astimezone(UTC), has_own, has_due
    return now(), row_of(OWN_ATTEMPT, own) is not None, seen.has_due


def _candidates(classes: Iterable[PlacementClass]) -> Iterable[ready.Head]:
    """Heads of the classes in the order of the line; the class of one that was not taken offers its next head."""
    line = [(head.order, head) for row in classes if (head := ready.head_of(row, lock=True))]
    heapq.heapify(line)
    for _ in range(MOST_CANDIDATES):
        if not line:
            return
        _, head = heapq.heappop(line)
        yield head
        following = ready.head_of(head.placement_class, lock=True)
        if following is not None and following.run_pk != head.run_pk:
            heapq.heappush(line, (following.order, following))


def _lease(request: ClaimRequest, head: ready.Head, at: datetime) -> Attempt | None:
    """Lease this run, or None: its key is taken or a budget is spent (it gets the hold), or another claim won it."""
    run = row_find(Run, id=head.run_pk)
    if run is None or run.state != RunState.QUEUED or run.hold:
        return None
    run.placement_class = head.placement_class
    if ready.key_taken(run.exclusive_key):
        _held(run, Hold.EXCLUSIVE, at)
        return None
    balances = run_balances(run)
    if hold := budget_hold(balances):
        _held(run, hold, at)
        return None
    own = balances.get(SpendScope.RUN)
    attempt = _new_attempt(request, run, head.placement_class, own.left if own else Limit(), at)
    if not row_insert_once(attempt):
        # Another claim, not yet committed when we looked, took the key or leased this worker its run.
        if busy := _busy_run(request.worker_id):
            raise Refused("worker_busy", f"{request.worker_id} still holds {busy}", details={"runId": busy})
        if run.exclusive_key:
            _held(run, Hold.EXCLUSIVE, at)
        return None
    columns: dict[str, object] = {"attempt_number": attempt.number, "fencing_token": attempt.pk}
    if run.first_claimed_at is None:
        columns["first_claimed_at"] = at
    run_move(run, "claim", Step(f"worker:{request.worker_id}", "claimed", at, attempt), **columns)
    attempt.run = run
    return attempt


def _held(run: Run, hold: Hold, at: datetime) -> None:
    Run.objects.filter(pk=run.pk, state=RunState.QUEUED, hold="").update(hold=hold, hold_checked_at=at)


def _new_attempt(request: ClaimRequest, run: Run, row: PlacementClass, left: Limit, at: datetime) -> Attempt:
    spec, prompt_hash = spec_and_prompt(run, definition_document(run.def_hash))
    adapter = resolve_adapter(request.offer, row.adapter) or row.adapter
    liveness = settings.FACTORY.liveness_seconds
    return row_new(
        Attempt,
        run_id=run.pk,
        number=run.attempt_number + 1,
        agent_ref=run.agent_ref,
        placement_class_id=row.pk,
        worker_id=request.worker_id,
        node=request.node,
        worker_version=request.worker_version,
        claimed_at=at,
        deadline_at=first_deadline(at, spec["timeoutSeconds"]),
        heartbeat_due_at=at + timedelta(seconds=liveness),
        liveness_seconds=liveness,
        adapter=adapter,
        model=model_for(adapter, name=spec_value(spec, "model"), tier=spec_value(spec, "modelTier")),
        def_hash=run.def_hash,
        prompt_hash=prompt_hash,
        exclusive_key=run.exclusive_key,
        budget_micro_usd=left.micro_usd,
        budget_tokens=left.tokens,
        claim_key=request.claim_key,
        claim_hash=request.claim_hash,
    )


def first_deadline(claimed_at: datetime, timeout_seconds: int) -> datetime:
    """`deadline_at` of an attempt from its claim to its start, and again from its start."""
    return claimed_at + timedelta(seconds=timeout_seconds) + PREPARATION


def _known_claim(request: ClaimRequest) -> ClaimedRun | None:
    attempt = row_find(Attempt, node=request.node, claim_key=request.claim_key)
    if attempt is None:
        return None
    if attempt.claim_hash != request.claim_hash:
        raise Refused("idempotency_conflict", "this claim key was used for another request")
    return ClaimedRun(attempt, repeated=True)


def _busy_run(worker_id: str) -> str:
    """The public id of the run that this worker holds; empty when it holds none."""
    held = row_find(Attempt, worker_id=worker_id, finished_at=None)
    return held.run.run_id if held else ""
