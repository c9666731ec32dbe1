"""Verifying journals: every chain recomputed, and compared with the row of its run, its receipt and its result."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import document_hash
from runs.contract.receipt import receipt_verifies
from runs.flow import RUN_MACHINE
from runs.models import JournalKind, JournalRow, Receipt, Result, Run, RunSpec
from runs.queue.journal import hash_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from django.db.models import QuerySet

BATCH = 100  # runs that are read together
LOOKS = 5  # at a run with a fault, which may have moved while it was read


@dataclass(frozen=True, slots=True)
class JournalFault:
    """What is wrong, and where; ``seq`` 0 speaks of the run as a whole."""

    run_id: str
    seq: int
    kind: str

    def __str__(self) -> str:
        return f"{self.run_id} {self.seq} {self.kind}"


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that is kept of one run and has to agree."""

    run: Run
    rows: Sequence[JournalRow]
    spec: RunSpec | None
    receipt: Receipt | None
    result: Result | None


def journal_faults(*, run_id: str = "", since: datetime | None = None) -> Iterator[JournalFault]:
    """Every fault of the journals of one run, of the runs made since an instant, or of all. Reads only.

    Safe while runs move: a run with a fault is read again until it stood still between two readings of its row.
    """
    runs = Run.objects.all()
    if run_id:
        runs = runs.filter(run_id=run_id)
    if since is not None:
        runs = runs.filter(created_at__gte=since)
    for batch in _batches(runs):
        yield from faults_of(batch)


def faults_of(runs: Sequence[Run]) -> list[JournalFault]:
    """Every fault of these runs; five queries, and some more for each run with a fault."""
    found: list[JournalFault] = []
    for kept in _kept(runs):
        if any(_faults(kept)):
            found += _steady_faults(kept.run.pk)
    return found


def _batches(runs: QuerySet[Run]) -> Iterator[list[Run]]:
    rows = iter(runs.order_by("pk").iterator(chunk_size=BATCH))
    while batch := list(islice(rows, BATCH)):
        yield batch


def _kept(runs: Sequence[Run]) -> Iterator[Kept]:
    rows: dict[int, list[JournalRow]] = defaultdict(list)
    for row in JournalRow.objects.filter(run__in=runs).order_by("run", "seq"):
        rows[row.run_id].append(row)
    specs = {spec.pk: spec for spec in RunSpec.objects.filter(run__in=runs)}
    receipts = {receipt.run_id: receipt for receipt in Receipt.objects.filter(run__in=runs)}
    results = {result.run_id: result for result in Result.objects.filter(run__in=runs)}
    for run in runs:
        yield Kept(run, rows[run.pk], specs.get(run.pk), receipts.get(run.pk), results.get(run.pk))


def _steady_faults(key: int) -> list[JournalFault]:
    """The faults of a run as it was between two equal readings of its row; none if it is gone."""
    found: list[JournalFault] = []
    for _ in range(LOOKS):
        run = Run.objects.filter(pk=key).first()
        if run is None:
            return []
        found = [fault for kept in _kept([run]) for fault in _faults(kept)]
        unmoved = Run.objects.filter(pk=key, journal_seq=run.journal_seq, journal_head=run.journal_head)
        if not found or unmoved.exists():
            return found
    return found


def _faults(kept: Kept) -> Iterator[JournalFault]:
    run = kept.run
    state, previous, seq = "", run.spec_hash, 0
    last_detail: dict[str, object] = {}
    for row in kept.rows:
        seq += 1
        if row.seq != seq:
            yield JournalFault(run.run_id, seq, "gap")
            seq = row.seq
        if row.prev_hash != previous:
            yield JournalFault(run.run_id, row.seq, "broken_chain")
        altered = _is_altered(row, run.run_id)
        if altered:
            yield JournalFault(run.run_id, row.seq, "altered")
        if row.kind == JournalKind.TRANSITION:
            if not _is_edge(row, state):
                yield JournalFault(run.run_id, row.seq, "no_such_edge")
            state = row.to_state
            last_detail = {} if altered else row.detail
        previous = row.record_hash
    if (run.journal_seq, run.journal_head) != (seq, previous):
        yield JournalFault(run.run_id, seq, "head_differs")
    if run.state != state:
        yield JournalFault(run.run_id, seq, "state_differs")
    if document_hash(_document(kept.spec)) != run.spec_hash:
        yield JournalFault(run.run_id, 0, "spec_differs")
    yield from _receipt_faults(kept, last_detail.get("receiptHash"))


def _is_altered(row: JournalRow, run_id: str) -> bool:
    try:
        return row.record_hash != hash_of(row, run_id)
    except ValueError:  # the detail is no JSON any more
        return True


def _is_edge(row: JournalRow, state: str) -> bool:
    try:
        edge = RUN_MACHINE.edge(row.edge)
    except KeyError:
        return False
    fits = state in edge.sources if edge.sources else not state
    return fits and row.from_state == state and row.to_state == edge.target


def _receipt_faults(kept: Kept, bound: object) -> Iterator[JournalFault]:
    run_id, receipt = kept.run.run_id, kept.receipt
    if receipt is None:
        if bound is not None:
            yield JournalFault(run_id, 0, "receipt_missing")
        return
    document = _document(receipt)
    if not receipt_verifies(document) or document["receiptHash"] != receipt.receipt_hash:
        yield JournalFault(run_id, 0, "receipt_altered")
    if receipt.receipt_hash != bound:
        yield JournalFault(run_id, 0, "receipt_not_bound")
    if kept.result is None:
        yield JournalFault(run_id, 0, "result_missing")
        return
    accepted = _document(kept.result)
    for name in ("artifact", "evidence"):
        value = accepted.get(name)
        if document.get(f"{name}Hash") != (None if value is None else document_hash(value)):
            yield JournalFault(run_id, 0, f"{name}_altered")


def _document(row: RunSpec | Receipt | Result | None) -> dict[str, Any]:
    """The row's document; an empty one, which has no right hash, where there is none or it is no document any more."""
    try:
        found: Any = row.document if row is not None else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
