"""Everything about one run, and its trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from runs.contract.errors import NotFound
from runs.contract.redactor import Redactor
from runs.models import Attempt, JournalRow, Receipt, RemovedRun, ResultArtifact, Run, RunSpec, TraceRow, Usage
from runs.reading.rows import MICRO, run_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_TRACE_ROWS = 200


def run_find(run_id: str) -> Run:
    """The run of this id; raises ``NotFound`` unknown_run."""
    run = Run.objects.filter(run_id=run_id).first()
    if run is not None:
        return run
    removed = RemovedRun.objects.filter(run_id=run_id).first()
    if removed is not None:
        sentence = f"{run_id} ended {removed.state} and was removed by retention on {removed.removed_at:%Y-%m-%d}."
        raise NotFound("unknown_run", sentence)
    raise NotFound("unknown_run", f"There is no run {run_id}.")


def run_detail(run: Run) -> dict[str, Any]:
    """The list row, and specification, hashes, attempts, journal, result, receipt, usage, artifacts and lineage."""
    receipt = Receipt.objects.filter(run=run).first()
    result = getattr(run, "result", None)
    attempts = list(run.attempts.select_related("usage").order_by("number"))
    return {
        **run_row(run),
        "spec": Redactor().redact_document(RunSpec.objects.get(run=run).document),
        "specHash": run.spec_hash,
        "defHash": run.def_hash,
        "journalHead": run.journal_head,
        "attempts": [_attempt(attempt) for attempt in attempts],
        "journal": [_journal(row) for row in JournalRow.objects.filter(run=run).order_by("seq")],
        "result": json.loads(result.canonical) if result else None,
        "receiptHash": receipt.receipt_hash if receipt else None,
        "receipt": json.loads(receipt.canonical) if receipt else None,
        "usage": _sum([usage for attempt in attempts if (usage := getattr(attempt, "usage", None))]),
        "lineage": _lineage(run),
        "artifacts": [
            {"kind": each.kind, "name": each.name, "sha256": each.artifact_id}
            for each in ResultArtifact.objects.filter(result__run=run)
        ],
    }


def run_receipt(run: Run) -> dict[str, Any]:
    """The receipt as it was made; raises ``NotFound`` no_receipt for a run that was not accepted."""
    receipt = Receipt.objects.filter(run=run).first()
    if receipt is None:
        raise NotFound("no_receipt", f"{run.run_id} is {run.state}; only completed and refused runs have a receipt.")
    document: dict[str, Any] = json.loads(receipt.canonical)
    return document


def run_trace(run: Run, *, since: int, limit: int) -> dict[str, Any]:
    """Trace rows of the newest attempt after ``since`` (a seq), and the cursor to go on with."""
    attempt = run.attempts.order_by("-number").first()
    rows: list[TraceRow] = []
    if attempt is not None:
        found = TraceRow.objects.filter(attempt=attempt, seq__gt=since).order_by("seq")
        rows = list(found[: min(limit, MOST_TRACE_ROWS)])
    return {
        "attempt": attempt.number if attempt else None,
        "items": [
            {"seq": row.seq, "at": row.at, "kind": row.kind, "payload": json.loads(row.payload_json)} for row in rows
        ],
        "nextSince": rows[-1].seq if rows else since,
        "ended": run.is_at_rest,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    usage = getattr(attempt, "usage", None)
    return {
        "attempt": attempt.number,
        "worker": attempt.worker_id,
        "node": attempt.node,
        "phase": attempt.phase,
        "outcome": attempt.outcome or None,
        "reasonCode": attempt.reason_code or None,
        "cause": attempt.cause or None,
        "detail": json.loads(attempt.detail_json),
        "adapter": attempt.adapter,
        "model": attempt.model or None,
        "defHash": attempt.def_hash,
        "promptHash": attempt.prompt_hash or None,
        "claimedAt": attempt.claimed_at,
        "startedAt": attempt.started_at,
        "verifyingAt": attempt.verifying_at,
        "finishedAt": attempt.finished_at,
        "agentDeadlineAt": attempt.agent_deadline_at,
        "deadlineAt": attempt.deadline_at,
        "exitCode": attempt.exit_code,
        "usage": _usage(usage) if usage else None,
    }


def _usage(usage: Usage) -> Mapping[str, Any]:
    return {
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cacheReadTokens": usage.cache_read_tokens,
        "cacheWriteTokens": usage.cache_write_tokens,
        "turns": usage.turns,
        "durationMs": usage.duration_ms,
        "costUsd": None if usage.cost_micro_usd is None else usage.cost_micro_usd / MICRO,
    }


def _sum(usages: Sequence[Usage]) -> Mapping[str, Any] | None:
    """What all attempts used together; a cost that no attempt knows stays unknown."""
    if not usages:
        return None
    each = [_usage(usage) for usage in usages]
    costs = [usage["costUsd"] for usage in each if usage["costUsd"] is not None]
    counts = {name: sum(usage[name] for usage in each) for name in each[0] if name != "costUsd"}
    return {**counts, "costUsd": round(sum(costs), 6) if costs else None}


def _lineage(run: Run) -> Mapping[str, Any]:
    """Where the run came from: its origin, the flow's step that asked, and the ids that bind it to its surroundings."""
    step = {
        "type": run.flow_type,
        "subject": run.flow_subject,
        "generation": run.flow_generation,
        "step": run.flow_step,
        "entry": run.flow_entry,
    }
    return {
        "origin": run.origin_kind,
        "correlationId": run.correlation_id or None,
        "causationId": run.causation_id or None,
        "flow": step if run.flow_type else None,
    }


def _journal(row: JournalRow) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "kind": row.kind,
        "edge": row.edge or None,
        "from": row.from_state or None,
        "to": row.to_state or None,
        "actor": row.actor,
        "reasonCode": row.reason_code or None,
        "detail": json.loads(row.detail_json),
        "attempt": row.attempt,
        "at": row.at,
        "prevHash": row.prev_hash,
        "recordHash": row.record_hash,
    }
