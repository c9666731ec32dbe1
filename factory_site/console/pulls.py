"""The list of pull requests, and the form that submits one."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from convergence.selectors.lookup import LABEL as PULL_REFERENCE
from convergence.selectors.lookup import pull_named
from convergence.services.submit import pull_submit
from factory_site.console.doors import Problem, actor, problem, region, require, show, signed_in, unchanged
from factory_site.console.selectors import pulls as read
from factory_site.console.selectors.overview import is_fresh
from factory_site.console.selectors.pull import generation_of, pull_address
from factory_site.console.submissions import Done, new_submission, submit_once
from factory_site.console.wording.badges import BADGES
from runs.contract.errors import FactoryError, Invalid, NotFound, Refused
from runs.contract.numbers import whole_number
from runs.models.user import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

POLL_SECONDS = 10


@signed_in("GET", "POST")
def pull_list(request: HttpRequest) -> HttpResponse:
    """The list; a POST submits a pull request and shows its page."""
    if request.method == "POST":
        require(request, Role.OPERATOR, "Submitting a pull request")
        try:
            return submit_once(request, lambda: _submit(request))
        except FactoryError as error:
            return _page(request, read.PullFilter(), refused=problem(error))
    try:
        wanted = read.pull_filter(request.GET)
    except Invalid as error:
        return _page(request, read.PullFilter(), unreadable=problem(error))
    return _page(request, wanted)


def _submit(request: HttpRequest) -> Done:
    """Begin a generation, or lead to the one that runs; a resubmit is bound to the generation that its page showed."""
    reference = request.POST.get("reference", "").strip()
    if "seen" in request.POST:
        _refuse_outdated(reference, request.POST["seen"])
    done = pull_submit(
        reference=reference,
        actor=actor(request),
        max_rounds=_rounds(request.POST.get("max_rounds", "").strip()),
        auto_merge=request.POST.get("auto_merge") == "on",
    )
    address = pull_address(done.pull)
    if done.already_running:
        return Done(address, f"{done.pull.key} is already running; here it is. Nothing of this form was applied to it.")
    return Done(address, f"{done.pull.key} is submitted. Its head is read next.")


def _rounds(typed: str) -> int | None:
    if not typed:
        return None
    number = whole_number(typed.removeprefix("-"))
    if number is None:
        raise Invalid("invalid_field", f"Maximum rounds is a whole number from 1 to 100. You typed {typed[:80]}.")
    return -number if typed.startswith("-") else number


def _refuse_outdated(reference: str, seen: str) -> None:
    found = PULL_REFERENCE.fullmatch(reference)
    if found is None:
        return
    try:
        pull = pull_named(found[1], found[2], int(found[3]))
    except NotFound:
        return
    newest = generation_of(pull)
    if str(newest) != seen:
        raise Refused("stale", f"{pull.key} is at generation {newest} by now. Nothing was changed.")


def _page(
    request: HttpRequest, wanted: read.PullFilter, refused: Problem | None = None, unreadable: Problem | None = None
) -> HttpResponse:
    version = read.pulls_version(wanted)
    live = region(request, "pull-table", version, None if wanted.before or wanted.tab == "done" else POLL_SECONDS)
    same = unchanged(request, live)
    if same is not None:
        return same
    page = read.pull_list(wanted)
    counts = read.pull_counts()
    context: dict[str, Any] = {
        "here": "pulls",
        "wanted": wanted,
        "is_filtered": bool(wanted.state or wanted.repository or wanted.author),
        "page": page,
        "older": _query(replace(wanted, before=page.older)) if page.older else "",
        "tabs": [
            {
                "name": name,
                "word": word,
                "address": _query(read.PullFilter(tab=name)),
                "count": counts.get(name, ""),
            }
            for name, (word, _) in read.TABS.items()
        ],
        "states": [(state.value, BADGES["pull"][state].word) for state in read.TABS[wanted.tab][1]],
        "submission": new_submission(),
        "form": request.POST if refused else {},
        "refused": refused,
        "unreadable": unreadable,
        "is_fresh": not page.rows and is_fresh(),
    }
    told = refused or unreadable
    status = told.status if told else HTTPStatus.OK
    return show(request, "console/pull_list.html", context, live, status=status)


def _query(wanted: read.PullFilter) -> str:
    stated = {
        "tab": "" if wanted.tab == "active" else wanted.tab,
        "state": wanted.state,
        "repository": wanted.repository,
        "author": wanted.author,
        "before": wanted.before,
    }
    return "/pull-requests/?" + urlencode({name: value for name, value in stated.items() if value})
