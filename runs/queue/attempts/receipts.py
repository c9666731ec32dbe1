"""Receipts: the hashes that bind a run's specification, definition, result, evidence and journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runs.contract.instants import format_instant
from runs.contract.receipt import build_receipt
from runs.definitions.stored import definition_document, references
from runs.models import Attempt, JournalKind, JournalRow, Run, Usage
from runs.queue.attempts.usage import usage_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runs.queue.attempts.fence import Held
    from runs.queue.attempts.verification import Submission


def receipt_document(
    held: Held, submission: Submission, result: Mapping[str, Any], usage: Usage | None
) -> dict[str, Any]:
    """The receipt of a result that is being accepted; the journal's head must be the row before the terminal one."""
    run, attempt = held.run, held.attempt
    definition = definition_document(attempt.def_hash)
    harness = {
        f"{entry['kind']}/{entry['name']}": entry["hash"]
        for entry in references(definition)
        if entry["kind"] != "schema"
    }
    return build_receipt(
        {
            "runId": run.run_id,
            "attempt": attempt.number,
            "specHash": run.spec_hash,
            "defHash": attempt.def_hash,
            "promptHash": attempt.prompt_hash or None,
            "inputHash": submission.input_hash,
            "outputContract": run.output_contract,
            "artifactHash": result.get("artifactHash"),
            "evidenceHash": result.get("evidenceHash"),
            "artifacts": [{"kind": ref["kind"], "sha256": ref["sha256"]} for ref in result["artifacts"]],
            "journalHead": run.journal_head,
            "verification": result["verification"],
            "deadlineExtensions": _extensions(run, attempt),
            "harness": harness,
            "adapter": attempt.adapter,
            "model": attempt.model or None,
            "worker": {"id": attempt.worker_id, "node": attempt.node, "version": attempt.worker_version},
            "usage": usage_document(usage),
            "acceptedAt": format_instant(held.at),
        }
    )


def _extensions(run: Run, attempt: Attempt) -> int:
    if not attempt.control_seq:  # each extension raises it, for the held heartbeat to hear of it
        return 0
    return JournalRow.objects.filter(run=run, kind=JournalKind.EXTENSION, attempt=attempt.number).count()
