"""One run: what its agent does, how it failed, and what a person may do about it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.shortcuts import render

from factory_site.console.doors import (
    Problem,
    actor,
    problem,
    region,
    require,
    show,
    signed_in,
    unchanged,
)
from factory_site.console.selectors import run as read
from factory_site.console.selectors import trace as steps
from factory_site.console.selectors.workers import placement
from factory_site.console.submissions import Done, new_submission, submit_once
from factory_site.console.wording.reasons import reason_of
from runs.contract.errors import FactoryError, Invalid, Refused
from runs.flow import RUN_MACHINE, RunState
from runs.models.user import Role
from runs.queue.cancel import run_cancel
from runs.reading.detail import run_detail as run_document
from runs.reading.detail import run_find

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from runs.models import Run

POLL_SECONDS = 2
LARGEST_SEQ = 2**62


@signed_in()
def run_detail(request: HttpRequest, run_id: str) -> HttpResponse:
    """The page of one run."""
    return _page(request, run_find(run_id))


@signed_in()
def run_trace(request: HttpRequest, run_id: str) -> HttpResponse:
    """The entries after `since`, as rows to append; the page asks until the run is at rest, and once more."""
    run = run_find(run_id)
    attempt = read.trace_attempt(run, request.GET.get("attempt", ""))
    window = steps.trace_since(attempt, _since(request)) if attempt else steps.Window([], None, -1)
    response = render(request, "fleet/trace_entries.html", {"entries": window.entries})
    response["X-Trace-Last"] = str(window.last)
    response["X-Trace-Ended"] = "yes" if attempt is None or attempt.is_finished or run.is_at_rest else "no"
    response["Cache-Control"] = "no-store"
    return response


def _since(request: HttpRequest) -> int:
    try:
        return max(-1, min(LARGEST_SEQ, int(request.GET.get("since", "-1"))))
    except ValueError:
        raise Invalid("invalid_field", "since is the number of an entry.") from None


@signed_in("POST")
def cancel(request: HttpRequest, run_id: str) -> HttpResponse:
    """End the attempt that the page showed, for a reason."""
    require(request, Role.OPERATOR, "Cancelling a run")
    run = run_find(run_id)

    def act() -> Done:
        reason = request.POST.get("reason", "").strip()
        if not reason:
            raise Invalid("invalid_field", "Say why: the reason stands in the journal.", details={"field": "reason"})
        if run.is_at_rest:
            word = RUN_MACHINE.states[run.state].word.lower()
            raise Refused("run_at_rest", f"Already {word}: {reason_of(run.reason_code).sentence}. Nothing was changed.")
        if request.POST.get("seen") != str(run.attempt_number):
            raise Refused("stale", f"The run is at attempt {run.attempt_number} by now. Nothing was cancelled.")
        run_cancel(run=run, code="operator_cancel", actor=actor(request), reason=reason[:500])
        return Done(f"/runs/{run.run_id}/", "Run cancelled. Its worker stops the agent within 2 s.")

    try:
        return submit_once(request, act)
    except FactoryError as error:
        return _page(request, run_find(run_id), problem(error))


def _page(request: HttpRequest, run: Run, refused: Problem | None = None) -> HttpResponse:
    tabs = read.TABS | (read.PLACEMENT if run.state == RunState.QUEUED else {})
    tab = request.GET.get("tab", "trace")
    tab = tab if tab in tabs else "trace"
    live = region(request, "live", (read.run_version(run), tab), None if run.is_at_rest else POLL_SECONDS)
    same = unchanged(request, live)
    if same is not None:
        return same
    context: dict[str, Any] = {
        "here": "runs",
        "run": run,
        "head": read.run_head(run),
        "address": f"/runs/{run.run_id}/",
        "tab": tab,
        "tabs": tabs,
        "tab_template": "" if tab == "trace" else f"fleet/run_{tab}.html",
        "can_cancel": not run.is_at_rest,
        "refused": refused,
        "form": request.POST if refused else {},
        "submission": new_submission(),
        **_of_tab(request, tab, run),
    }
    return show(request, "fleet/run_detail.html", context, live, refused.status if refused else HTTPStatus.OK)


def _of_tab(request: HttpRequest, tab: str, run: Run) -> dict[str, Any]:
    if tab == "trace":
        return {"trace": _trace(request, run)} if request.headers.get("HX-Target") != "live" else {}
    if tab == "result":
        return {"result": read.run_result(run)}
    if tab == "spec":
        return {"spec": run_document(run)["spec"]}
    if tab == "journal":
        return {"journal": read.run_journal(run)}
    if tab == "placement":
        return {"placement": placement(run)}
    return {"receipt": read.run_receipt_rows(run)}


def _trace(request: HttpRequest, run: Run) -> dict[str, Any]:
    """The trace of the chosen attempt as the page shows it first."""
    attempt = read.trace_attempt(run, request.GET.get("attempt", ""))
    only = request.GET.get("only", "")
    only = only if only in steps.ONLY else ""
    found = request.GET.get("q", "").strip()[:200]
    before = request.GET.get("before", "")
    is_older = before.isascii() and before.isdigit() and len(before) < 19  # noqa: PLR2004 - of a big integer
    if attempt is None:
        return {"attempt": None}
    window = steps.trace_window(attempt, only=only, found=found, before=int(before) if is_older else None)
    counts = steps.trace_counts(attempt)
    return {
        "attempt": attempt,
        "window": window,
        "only": only,
        "found": found,
        "is_older": is_older,
        "filters": [(name, word, counts[name]) for name, (word, _) in steps.ONLY.items()],
        "total": counts[""],
        "is_live": not (attempt.is_finished or only or found or is_older),
        "is_newest": attempt.number == run.attempt_number,
    }
