"""One run: what its agent does, and how it failed."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.shortcuts import render

from factory_site.console.doors import Problem, region, show, signed_in, unchanged
from factory_site.console.selectors import run as read
from factory_site.console.selectors import trace as steps
from factory_site.console.selectors.workers import placement
from factory_site.console.submissions import new_submission
from runs.contract.errors import Invalid
from runs.flow import RunState
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
    return run_page(request, run_find(run_id))


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


def run_page(request: HttpRequest, run: Run, refused: Problem | None = None, acted: str = "") -> HttpResponse:
    """The page as the run is now; after a refused act with what was refused, and with what the person typed."""
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
        "acts": read.run_acts(run),
        "acted": acted,
        "refused": refused,
        "form": request.POST if refused else {},
        **{f"submission_{verb}": new_submission() for verb in read.VERBS},
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
