"""The answer to a claim, rebuilt from rows that do not change: a lost answer is given again, to the byte."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from runs.contract.instants import format_instant
from runs.definitions.stored import definition_document, document_content, references
from runs.queue.claim import first_deadline
from runs.queue.limits.balance import MICRO

if TYPE_CHECKING:
    from runs.models import Attempt
    from runs.queue.attempts.heartbeat import Lease


def claim_answer(attempt: Attempt) -> dict[str, Any]:
    """The object under ``claim``, with the instants of the first answer. Needs ``attempt.run`` loaded or loadable."""
    run = attempt.run
    definition = definition_document(attempt.def_hash)
    spec = run.spec_row.document
    first_due = attempt.claimed_at + timedelta(seconds=attempt.liveness_seconds)
    return {
        "runId": run.run_id,
        "attempt": attempt.number,
        "fencingToken": attempt.token,
        "leaseExpiresAt": format_instant(first_deadline(attempt.claimed_at, run.timeout_seconds)),
        "heartbeatDueAt": format_instant(first_due),
        "heartbeatEveryMs": settings.FACTORY.heartbeat_seconds * 1000,
        "budgetLeft": budget_left(attempt),
        "adapter": attempt.adapter,
        "model": attempt.model or None,
        "specHash": run.spec_hash,
        "spec": spec,
        "definition": definition,
        "prompt": _prompt(attempt, definition),
        "documents": _documents(definition),
    }


def budget_left(attempt: Attempt | Lease) -> dict[str, Any]:
    """What the run may still spend in this attempt, raises included; null means no limit."""
    micro = attempt.budget_micro_usd
    return {"usd": None if micro is None else micro / MICRO, "tokens": attempt.budget_tokens}


def _prompt(attempt: Attempt, definition: dict[str, Any]) -> dict[str, str] | None:
    if not attempt.prompt_hash:
        return None
    text = (document_content(attempt.prompt_hash) or b"").decode()
    return {"name": definition["prompt"]["name"], "hash": attempt.prompt_hash, "text": text}


def _documents(definition: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**entry, "sizeBytes": len(document_content(entry["hash"]) or b"")} for entry in references(definition)]
