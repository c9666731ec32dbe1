"""One run: where it is, what may be done to it, and what its tabs show."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import OuterRef, Subquery

from factory_site.console.selectors.counted import Counted
from factory_site.console.selectors.failure import attempt_failure
from factory_site.console.selectors.runs import RunRow, rows_of
from runs.contract.receipt import receipt_verifies
from runs.flow import RunState
from runs.models import (
    Attempt,
    JournalRow,
    Receipt,
    ResultArtifact,
    Run,
    Usage,
)
from runs.policy import policy
from runs.queue.audit import journal_faults
from runs.queue.operating.extend import EXTENDABLE
from runs.queue.operating.retry import retry_awaited, retry_exhausted
from workers.models import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from factory_site.console.selectors.failure import Failure

TABS = {"trace": "Trace", "result": "Result", "spec": "Spec", "journal": "Attempts and journal", "receipt": "Receipt"}
PLACEMENT = {"placement": "Placement"}
JOURNAL_ROWS = 200
BOUND = {
    "specHash": "the specification",
    "defHash": "the agent's definition",
    "promptHash": "the prompt that it was given",
    "inputHash": "the input",
    "artifactHash": "the result",
    "evidenceHash": "what the worker saw",
    "journalHead": "the journal up to the result",
    "receiptHash": "all of these together",
}


@dataclass(frozen=True, slots=True)
class RunHead:
    """What every tab shows of a run."""

    row: RunRow
    attempts: Sequence[Attempt]
    attempt: Attempt | None
    usage: Usage | None
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class Bound:
    """One hash of a receipt, what it binds, and whether it still is what the rows give; None: kept elsewhere."""

    name: str
    meaning: str
    value: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Acts:
    """What a person may do to a run now, and what each act has to know before it."""

    label: str
    can_cancel: bool
    can_retry: bool
    exhausted: str  # why a retry has to be confirmed; blank when it need not be
    can_extend: bool
    extended_until: datetime | None  # how far an extension goes without being confirmed
    limit: timedelta


VERBS = ("cancel", "retry", "extend")


def label_of(run: Run) -> str:
    """What a person types to confirm a grave act on the run."""
    return run.subject_label or run.subject


def run_acts(run: Run) -> Acts:
    """What the page offers; one read, of the open attempt or of the flow that may wait for a failed run."""
    attempt = Attempt.objects.filter(run=run, finished_at=None).first() if run.state in EXTENDABLE else None
    is_open = attempt is not None and attempt.deadline_recorded_at is None
    limit = timedelta(minutes=policy().limits.max_run_minutes)
    return Acts(
        label=label_of(run),
        can_cancel=not run.is_at_rest,
        can_retry=retry_awaited(run),
        exhausted=retry_exhausted(run) if run.state == RunState.FAILED else "",
        can_extend=is_open,
        extended_until=attempt.started_at + limit if attempt and attempt.started_at else None,
        limit=limit,
    )


def run_version(run: Run) -> tuple[Any, ...]:
    """Everything that the head of a run's page shows, as one value that changes with it: one read by indexes."""
    newest = Attempt.objects.filter(run=OuterRef("pk")).order_by("-id")
    used = Usage.objects.filter(attempt__run=OuterRef("pk")).order_by("-updated_at")
    files = ResultArtifact.objects.filter(attempt__run=OuterRef("pk")).order_by("-id")
    busy = Attempt.objects.filter(finished_at__isnull=True).order_by("-id")
    found: tuple[Any, ...] = (
        Run.objects.filter(pk=run.pk)
        .values_list(
            "state",
            "journal_seq",
            "hold",
            "available_at",
            Subquery(newest.values("heartbeat_due_at")[:1]),
            Subquery(newest.values("finished_at")[:1]),
            Subquery(used.values("updated_at")[:1]),
            Subquery(files.values("id")[:1]),
            Subquery(Worker.objects.order_by("-id").values("id")[:1]),
            Counted(busy.values("id")[:200]),
        )
        .get()
    )
    return found


def run_head(run: Run) -> RunHead:
    """What every tab of the page shows; at most ten queries."""
    attempts = list(Attempt.objects.filter(run=run).select_related("usage").order_by("-id"))
    newest = attempts[0] if attempts else None
    return RunHead(
        row=rows_of([run])[0],
        attempts=attempts,
        attempt=newest,
        usage=getattr(newest, "usage", None) if newest else None,
        failure=attempt_failure(run, newest),
    )


def run_result(run: Run) -> dict[str, Any]:
    """The accepted document, and every stored object of every attempt; two queries."""
    result = getattr(run, "result", None)
    document = result.document if result else {}
    artifact = document.get("artifact")
    return {
        "document": document,
        "fields": _fields(artifact),
        "checks": (document.get("verification") or {}).get("checks", []),
        "evidence": _fields(document.get("evidence")),
        "files": list(
            ResultArtifact.objects.filter(attempt__run=run).select_related("artifact", "attempt").order_by("-id")[:200]
        ),
    }


def _fields(document: Any) -> list[tuple[str, str]]:
    if not isinstance(document, dict):
        return []
    return [
        (name, value if isinstance(value, str) else json.dumps(value, indent=2)) for name, value in document.items()
    ]


def run_journal(run: Run) -> dict[str, Any]:
    """The newest rows of the journal, and what its hash chain says when computed anew."""
    return {
        "rows": list(JournalRow.objects.filter(run=run).order_by("-seq")[:JOURNAL_ROWS]),
        "faults": [str(fault) for fault in journal_faults(run_id=run.run_id)],
    }


def run_receipt_rows(run: Run) -> list[Bound] | None:
    """Each hash of the receipt with what it binds, computed anew where the rows are here; None without a receipt."""
    receipt = Receipt.objects.filter(run=run).first()
    if receipt is None:
        return None
    document = receipt.document
    journal = JournalRow.objects.filter(run=run, record_hash=document["journalHead"]).exists()
    holds: Mapping[str, bool] = {
        "specHash": document["specHash"] == run.spec_hash,
        "defHash": document["defHash"] == receipt.attempt.def_hash,
        "promptHash": (document["promptHash"] or "") == receipt.attempt.prompt_hash,
        "artifactHash": (document["artifactHash"] or "") == run.result.artifact_hash,
        "evidenceHash": (document["evidenceHash"] or "") == run.result.evidence_hash,
        "journalHead": journal,
        "receiptHash": receipt_verifies(document) and document["receiptHash"] == receipt.receipt_hash,
    }
    return [Bound(name, meaning, document.get(name) or "", holds.get(name)) for name, meaning in BOUND.items()]


def trace_attempt(run: Run, number: str) -> Attempt | None:
    """The attempt of this number, else the newest; None while there is none."""
    rows = Attempt.objects.filter(run=run).order_by("-id")
    if number.isascii() and number.isdigit() and len(number) < 9:  # noqa: PLR2004 - of an integer column
        return rows.filter(number=int(number)).first() or rows.first()
    return rows.first()
