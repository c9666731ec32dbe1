"""Verifying journals: every chain recomputed, and compared with the row of its run and with its receipt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runs.contract.canonical import document_hash
from runs.contract.receipt import receipt_verifies
from runs.flow import RUN_MACHINE
from runs.models import JournalKind, JournalRow, Receipt, Run, RunSpec
from runs.queue.journal import hash_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class JournalFault:
    """What is wrong, and where; ``seq`` 0 speaks of the run as a whole."""

    run_id: str
    seq: int
    kind: str

    def __str__(self) -> str:
        return f"{self.run_id} {self.seq} {self.kind}"


def journal_faults(*, run_id: str = "", since: datetime | None = None) -> Iterator[JournalFault]:
    """Every fault of the journals of one run, of the runs made since an instant, or of all. Reads only."""
    runs = Run.objects.order_by("pk")
    if run_id:
        runs = runs.filter(run_id=run_id)
    if since is not None:
        runs = runs.filter(created_at__gte=since)
    for run in runs.iterator(chunk_size=200):
        yield from _faults_of(run)


def _faults_of(run: Run) -> Iterator[JournalFault]:
    state, previous, seq = "", run.spec_hash, 0
    last_detail: dict[str, object] = {}
    for row in JournalRow.objects.filter(run=run).order_by("seq").iterator(chunk_size=200):
        seq += 1
        if row.seq != seq:
            yield JournalFault(run.run_id, seq, "gap")
            seq = row.seq
        if row.prev_hash != previous:
            yield JournalFault(run.run_id, row.seq, "broken_chain")
        if _is_altered(row, run.run_id):
            yield JournalFault(run.run_id, row.seq, "altered")
        if row.kind == JournalKind.TRANSITION:
            if not _is_edge(row, state):
                yield JournalFault(run.run_id, row.seq, "no_such_edge")
            state = row.to_state
            last_detail = {} if _is_altered(row, run.run_id) else row.detail
        previous = row.record_hash
    if (run.journal_seq, run.journal_head) != (seq, previous):
        yield JournalFault(run.run_id, seq, "head_differs")
    if run.state != state:
        yield JournalFault(run.run_id, seq, "state_differs")
    yield from _specification_faults(run)
    yield from _receipt_faults(run, last_detail.get("receiptHash"))


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


def _specification_faults(run: Run) -> Iterator[JournalFault]:
    spec = RunSpec.objects.filter(run=run).first()
    if spec is None or document_hash(spec.document) != run.spec_hash:
        yield JournalFault(run.run_id, 0, "spec_differs")


def _receipt_faults(run: Run, bound: object) -> Iterator[JournalFault]:
    receipt = Receipt.objects.filter(run=run).first()
    if receipt is None:
        if bound is not None:
            yield JournalFault(run.run_id, 0, "receipt_missing")
        return
    document = receipt.document
    if not receipt_verifies(document) or document["receiptHash"] != receipt.receipt_hash:
        yield JournalFault(run.run_id, 0, "receipt_altered")
    if receipt.receipt_hash != bound:
        yield JournalFault(run.run_id, 0, "receipt_not_bound")
