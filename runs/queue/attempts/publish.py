"""The one terminal submission of an attempt: checked, then accepted as a whole or not at all."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from runs.contract.canonical import bare_hex, canonical_bytes
from runs.contract.codes import TerminalState
from runs.contract.errors import Invalid, Refused
from runs.contract.instants import format_instant
from runs.flow import RunState
from runs.humans.refused import refusal_asked
from runs.models import Attempt, AttemptOutcome, JournalKind, JournalRow, Receipt, Result, ResultArtifact, Usage
from runs.queue.attempts.endings import Ending, attempt_end, attempt_failed, completed_announced, ended_announced
from runs.queue.attempts.fence import Held, Presented, attempt_may_write, attempt_write
from runs.queue.attempts.heartbeat import attempt_started, attempt_verifying
from runs.queue.attempts.known import run_known
from runs.queue.attempts.receipts import receipt_document
from runs.queue.attempts.trace import trace_store
from runs.queue.attempts.usage import usage_record, usage_totals
from runs.queue.attempts.verification import Submission, submission_checked
from runs.queue.journal import Step, Walk
from runs.rows import row_find, row_insert, row_new, rows_insert, together

if TYPE_CHECKING:
    from collections.abc import Mapping

EDGES = {TerminalState.COMPLETED: "complete", TerminalState.REFUSED: "refuse"}


def attempt_publish(presented: Presented, *, key: str, request_hash: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Accept the submission and return the answer; with it result, receipt, usage, journal and announcement.

    ``body`` has the form of the wire's schema. The same key with the same bytes gets the same answer, also when the
    run has moved on. Raises what `attempt_write` and `submission_checked` raise, and Refused `idempotency_conflict`.
    """
    run = run_known(presented.run_id, node=presented.node, result_key=key)
    if run.published_by is not None:
        return _known_answer(run.published_by, request_hash)
    totals = usage_totals(body["execution"].get("usage"), duration_ms=body["execution"]["durationMs"])
    try:
        submission = submission_checked(run, presented, body)
    except Invalid:
        attempt_may_write(presented, "result")  # an attempt that holds nothing any more hears that, whatever it sends
        raise

    def accept(held: Held) -> dict[str, Any]:
        usage = usage_record(held.run, held.attempt, totals, held.at) if totals is not None else None
        held.attempt.result_key = key
        held.attempt.result_hash = request_hash
        held.attempt.exit_code = body["execution"].get("exitCode")
        if rows := body.get("trace"):
            with suppress(Invalid):  # the trace is best effort: what cannot be read of it costs no result
                trace_store(held, rows)
        receipt = None
        if submission.document is not None:
            receipt = _accept_result(held, submission, submission.document, usage)
        else:
            _accept_failure(held, submission)
        return _answer(held.attempt, held.run.state, receipt)

    try:
        return attempt_write(presented, "result", accept)
    except Refused:
        # The same submission, sent twice at once: the other one was accepted while this one waited for the lock.
        run = run_known(presented.run_id, node=presented.node, result_key=key)
        if run.published_by is None:
            raise
        return _known_answer(run.published_by, request_hash)


def _accept_result(held: Held, submission: Submission, document: Mapping[str, Any], usage: Usage | None) -> Receipt:
    run, attempt, at = held.run, held.attempt, held.at
    walk = Walk(run)
    if submission.terminal_state is TerminalState.COMPLETED or run.state == RunState.RUNNING:
        _walk_to_verifying(held, walk, submission)
    sealed = receipt_document(held, submission, document, usage)
    result = row_new(
        Result,
        run_id=run.pk,
        attempt_id=attempt.pk,
        terminal_state=str(submission.terminal_state),
        reason_code=submission.reason_code,
        output_contract=run.output_contract,
        artifact_hash=document.get("artifactHash") or "",
        evidence_hash=document.get("evidenceHash") or "",
        canonical=canonical_bytes(dict(document)).decode(),
        accepted_at=at,
    )
    receipt = row_new(
        Receipt,
        run_id=run.pk,
        attempt_id=attempt.pk,
        receipt_hash=sealed["receiptHash"],
        journal_head=sealed["journalHead"],
        canonical=canonical_bytes(sealed).decode(),
        accepted_at=at,
    )
    if submission.artifact_refs:
        row_insert(result)  # whose key the refs need
        row_insert(receipt)
        _bind_artifacts(attempt, submission, result)
    else:
        with together():
            rows_insert([result])
            rows_insert([receipt])
    detail = {"receiptHash": receipt.receipt_hash}
    attempt_end(attempt, Ending(AttemptOutcome(str(submission.terminal_state)), submission.reason_code, at, detail))
    step = Step(f"worker:{attempt.worker_id}", submission.reason_code, at, attempt, detail)
    walk.take(EDGES[submission.terminal_state], step)
    walk.write()
    if submission.terminal_state is TerminalState.COMPLETED:
        completed_announced(run, at, artifact_hash=result.artifact_hash)
    else:
        refusal_asked(run, document, at)
        ended_announced(run, at)
    return receipt


def _accept_failure(held: Held, submission: Submission) -> None:
    attempt = held.attempt
    outcome = AttemptOutcome(str(submission.terminal_state))
    if outcome == AttemptOutcome.TIMED_OUT and held.run.state == RunState.LEASED:
        walk = Walk(held.run)
        attempt_started(held, walk)
        walk.write()
    _bind_artifacts(attempt, submission, None)
    attempt_failed(
        held.run,
        attempt,
        Ending(outcome, submission.reason_code, held.at, submission.detail),
        actor=f"worker:{attempt.worker_id}",
        retry_at=submission.retry_at,
    )


def _walk_to_verifying(held: Held, walk: Walk, submission: Submission) -> None:
    """Take the edges whose heartbeats never arrived."""
    if held.run.state in {RunState.LEASED, RunState.RUNNING}:
        attempt_verifying(held, walk, "late_completion" if submission.execution.get("late") else "")


def _bind_artifacts(attempt: Attempt, submission: Submission, result: Result | None) -> None:
    if not submission.artifact_refs:
        return
    ResultArtifact.objects.bulk_create(
        ResultArtifact(
            attempt=attempt, result=result, artifact_id=bare_hex(ref["sha256"]), kind=ref["kind"], name=ref["name"]
        )
        for ref in submission.artifact_refs
    )


def _known_answer(attempt_pk: int, request_hash: str) -> dict[str, Any]:
    attempt = Attempt.objects.select_related("run").get(pk=attempt_pk)
    if attempt.result_hash != request_hash:
        raise Refused("idempotency_conflict", "this result key was used for another submission")
    moves = JournalRow.objects.filter(run=attempt.run, kind=JournalKind.TRANSITION, attempt=attempt.number)
    last = moves.order_by("-seq").first()
    return _answer(attempt, last.to_state if last else attempt.run.state, row_find(Receipt, attempt_id=attempt.pk))


def _answer(attempt: Attempt, run_state: str, receipt: Receipt | None) -> dict[str, Any]:
    """What was answered first, from rows that do not change: the state right after, not the state of today."""
    run = attempt.run
    answer = {
        "serverTime": format_instant(attempt.finished_at or attempt.claimed_at),
        "accepted": True,
        "runId": run.run_id,
        "attempt": attempt.number,
        "terminalState": attempt.outcome,
        "runState": run_state,
    }
    if receipt is not None:
        answer["receipt"] = {
            "schemaVersion": receipt.document["schemaVersion"],
            "receiptHash": receipt.receipt_hash,
            "journalHead": receipt.journal_head,
        }
    return answer
