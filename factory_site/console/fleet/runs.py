"""The list of runs."""

from __future__ import annotations

from dataclasses import asdict, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from factory_site.console.doors import Problem, person, problem, region, show, signed_in, unchanged
from factory_site.console.selectors import runs as read
from factory_site.console.wording.badges import BADGES
from runs.contract.errors import Invalid
from runs.reading.narrowing import CAUSES

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

POLL_SECONDS = 3


@signed_in()
def run_list(request: HttpRequest) -> HttpResponse:
    """Every run of a tab, the newest first."""
    try:
        wanted = read.run_filter(request.GET)
    except Invalid as error:
        return _page(request, read.RunFilter(), problem(error))
    return _page(request, wanted)


def _page(request: HttpRequest, wanted: read.RunFilter, unreadable: Problem | None = None) -> HttpResponse:
    rests = wanted.before is not None or wanted.tab == "failed"
    live = region(request, "run-table", read.runs_version(person(request).pk), None if rests else POLL_SECONDS)
    same = unchanged(request, live)
    if same is not None:
        return same
    page = read.run_list(wanted)
    counts = read.run_tab_counts()
    context: dict[str, Any] = {
        "here": "runs",
        "wanted": wanted,
        "page": page,
        "is_filtered": bool(wanted.state) or any(asdict(wanted.by).values()),
        "causes": CAUSES,
        "older": _query(replace(wanted, before=page.older)) if page.older else "",
        "tabs": [
            (name, word, _query(read.RunFilter(tab=name)), counts.get(name, ""))
            for name, (word, _) in read.TABS.items()
        ],
        "states": [(state.value, BADGES["run"][state].word) for state in read.TABS[wanted.tab][1]],
        "unreadable": unreadable,
    }
    return show(request, "fleet/run_list.html", context, live, unreadable.status if unreadable else HTTPStatus.OK)


def _query(wanted: read.RunFilter) -> str:
    stated = {
        "tab": "" if wanted.tab == "active" else wanted.tab,
        "state": wanted.state,
        **asdict(wanted.by),
        "before": wanted.before,
    }
    return "/runs/?" + urlencode({name: value for name, value in stated.items() if value})
