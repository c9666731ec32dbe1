"""One pull request: where it is, why it is not merged yet, and what a person may do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.flow import FINAL_PULL_STATES, PullState
from convergence.selectors.detail import reviewers_shown
from convergence.selectors.findings import findings_shown, gate_checks_shown, waivers_shown
from convergence.services.cancel import pull_cancel
from convergence.services.findings import entries_of
from convergence.services.look_now import pull_look
from factory_site.console.doors import (
    Problem,
    SeeOther,
    actor,
    problem,
    region,
    require,
    show,
    signed_in,
    unchanged,
)
from factory_site.console.selectors import pull as read
from factory_site.console.selectors.merge import merge_tab
from factory_site.console.selectors.pull import pull_address
from factory_site.console.submissions import Done, new_submission, submit_once
from factory_site.console.wording.texts import OUTCOMES
from runs.contract.errors import FactoryError, Invalid, Refused
from runs.models.user import Role

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

    from convergence.models import PullRequest

POLL_SECONDS = 3


@signed_in()
def pull_detail(request: HttpRequest, owner: str, name: str, number: int) -> HttpResponse:
    """The page of one pull request; an old name of its repository leads to the present one."""
    pull = read.pull_at(owner, name, number)
    if pull.repository.full_name != f"{owner}/{name}":
        return SeeOther(pull_address(pull))
    return _page(request, pull)


@signed_in("POST")
def look(request: HttpRequest, owner: str, name: str, number: int) -> HttpResponse:
    """Have the driving flow look at once."""
    require(request, Role.OPERATOR, "Looking now")
    pull = read.pull_at(owner, name, number)

    def act() -> Done:
        pull_look(pull=pull)
        return Done(pull_address(pull), f"{pull.key} is looked at now.")

    return acted(request, pull, act)


@signed_in("POST")
def cancel(request: HttpRequest, owner: str, name: str, number: int) -> HttpResponse:
    """End the generation that the page showed, for a reason."""
    require(request, Role.OPERATOR, "Cancelling a pull request")
    pull = read.pull_at(owner, name, number)

    def act() -> Done:
        reason = request.POST.get("reason", "").strip()
        if not reason:
            raise Invalid("invalid_field", "Say why: the reason stands in the log.", details={"field": "reason"})
        newest = read.generation_of(pull)
        if request.POST.get("seen") != str(newest):
            raise Refused("stale", f"{pull.key} is at generation {newest} by now. Nothing was cancelled.")
        pull_cancel(pull=pull, actor=actor(request), reason=reason)
        return Done(pull_address(pull), f"{pull.key} is cancelled. Its agent stops within 2 s.")

    return acted(request, pull, act, is_cancel=True)


def acted(request: HttpRequest, pull: PullRequest, act: Callable[[], Done], *, is_cancel: bool = False) -> HttpResponse:
    """Answer the act; a refusal shows the page as it is now, with what the person typed; the address names its tab."""
    try:
        return submit_once(request, act)
    except FactoryError as error:
        pull.refresh_from_db()
        return _page(request, pull, problem(error), is_cancel=is_cancel)


def _page(
    request: HttpRequest, pull: PullRequest, refused: Problem | None = None, *, is_cancel: bool = False
) -> HttpResponse:
    tab = request.GET.get("tab", "rounds")
    tab = tab if tab in read.TABS else "rounds"
    version = read.pull_version(pull)
    is_final = pull.state in {PullState.MERGED, PullState.ABANDONED}
    live = region(request, "live", (version, tab), None if is_final else POLL_SECONDS)
    same = unchanged(request, live)
    if same is not None:
        return same
    head = read.pull_head(pull)
    context: dict[str, Any] = {
        "here": "pulls",
        "pull": pull,
        "cancelling": refused is not None and is_cancel,
        "head": head,
        "address": pull_address(pull),
        "tab": tab,
        "tabs": read.TABS,
        "tab_template": f"console/tab_{tab}.html",
        "outcome": OUTCOMES.get(pull.state, ""),
        "can_cancel": pull.state not in FINAL_PULL_STATES,
        "can_resubmit": head.is_over,
        "next_generation": pull.generation + 1,
        "refused": refused,
        "form": request.POST if refused else {},
        "submission": new_submission(),
        "submission_look": new_submission(),
        "submission_again": new_submission(),
        **_of_tab(tab, pull),
    }
    return show(request, "console/pull_detail.html", context, live, refused.status if refused else 200)


def _of_tab(tab: str, pull: PullRequest) -> dict[str, Any]:
    if tab == "rounds":
        return {"rounds": read.pull_rounds(pull)}
    if tab == "findings":
        return {
            "findings": findings_shown(pull, pull.generation),
            "trajectory": entries_of(pull, pull.generation),
        }
    if tab == "gate":
        return {
            "gates": gate_checks_shown(pull),
            "waivers": waivers_shown(pull, pull.generation),
            "reviewers": reviewers_shown(pull),
            "submission_probe": new_submission(),
        }
    if tab == "escalations":
        return {"escalations": read.pull_escalations(pull)}
    if tab == "merge":
        return {
            "attempts": read.pull_attempts(pull),
            "merge": merge_tab(pull),
            "submission_pass": new_submission(),
        }
    if tab == "runs":
        return {"runs": read.pull_runs(pull)}
    return {"log": read.pull_log(pull)}
