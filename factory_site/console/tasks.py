"""What is asked of people: the list, one question, and its answer."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from factory_site.console.doors import Problem, actor, problem, region, require, show, signed_in, unchanged
from factory_site.console.fields import controls, typed_answer, wrong_fields
from factory_site.console.moment import moment
from factory_site.console.selectors import tasks as read
from factory_site.console.submissions import Done, new_submission, submit_once
from runs.contract.errors import FactoryError, Invalid
from runs.humans.flow import ENDED_WITH_ANSWER, TaskState
from runs.humans.selectors import task_find
from runs.humans.tasks import may_undo, task_answer
from runs.models.user import Role

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from runs.models.human_task import HumanTask

POLL_SECONDS = 5
SNOOZES = {"4": "4 hours", "24": "1 day", "72": "3 days", "168": "7 days"}  # hours


@signed_in()
def task_list(request: HttpRequest) -> HttpResponse:
    """The questions, the most urgent first."""
    unreadable: Problem | None = None
    try:
        wanted = read.task_filter(request.GET)
    except Invalid as error:
        wanted, unreadable = read.TaskFilter(), problem(error)
    now = moment(request)
    seconds = POLL_SECONDS if wanted.tab == "open" else None
    live = region(request, "task-table", (read.tasks_version(wanted), wanted), seconds)
    same = unchanged(request, live)
    if same is not None:
        return same
    rows, older = read.task_list(wanted, now)
    context = {
        "here": "tasks",
        "rows": rows,
        "older": f"/tasks/?tab={wanted.tab}&kind={wanted.kind}&before={older}" if older else "",
        "wanted": wanted,
        "tabs": read.TABS,
        "unreadable": unreadable,
    }
    return show(request, "console/task_list.html", context, live, unreadable.status if unreadable else HTTPStatus.OK)


@signed_in()
def task_detail(request: HttpRequest, task_id: int) -> HttpResponse:
    """One question with everything that helps to answer it, and the form made from its fields."""
    return task_shown(request, task_find(task_id))


@signed_in("POST")
def task_complete(request: HttpRequest, task_id: int) -> HttpResponse:
    """Answer the question; a refusal shows the page as it is now, with what the person typed."""
    require(request, Role.OPERATOR, "Answering a task")
    task = task_find(task_id)

    def answer() -> Done:
        variables = typed_answer(task.form, request.POST)
        task_answer(task_id=task_id, variables=variables, actor=actor(request), seen=request.POST.get("seen") or "none")
        return Done(f"/tasks/{task_id}/", "Your answer is recorded. Its flow goes on with it.")

    try:
        return submit_once(request, answer)
    except FactoryError as error:
        refused = problem(error, wrong_fields(task.form, error.details.get("fields", {}), request.POST))
        return task_shown(request, task_find(task_id), refused)


def task_shown(request: HttpRequest, task: HumanTask, refused: Problem | None = None) -> HttpResponse:
    """The page of the task as it is now, with what was refused."""
    is_open = task.state == TaskState.OPEN
    live = region(request, "state-line", read.task_version(task), POLL_SECONDS if is_open else None)
    same = unchanged(request, live)
    if same is not None:
        return same
    found = read.task_page(task, moment(request))
    context: dict[str, Any] = {
        "here": "tasks",
        "found": found,
        "task": task,
        "is_open": is_open,
        "refused": refused,
        "controls": controls(task.form, request.POST if refused else None, refused.fields if refused else {}),
        "kept": _kept(task, request) if refused and not is_open else [],
        "answer": controls(task.form, task.variables, {}) if task.answered_at else [],
        "can_undo": task.state in ENDED_WITH_ANSWER and may_undo(task.kind),
        "is_taken": task.taken_until is not None and task.taken_until > moment(request),
        "is_snoozed": task.snoozed_until is not None and task.snoozed_until > moment(request),
        "submission": new_submission(),
        "snoozes": SNOOZES,
        "submission_take": new_submission(),
        "submission_snooze": new_submission(),
    }
    return show(request, "console/task_detail.html", context, live, refused.status if refused else HTTPStatus.OK)


def _kept(task: HumanTask, request: HttpRequest) -> list[tuple[str, str]]:
    """What the person typed for a question that has ended meanwhile, so that no word of it is lost."""
    fields = task.form.get("fields", [])
    return [(field["label"], typed) for field in fields if (typed := request.POST.get(field["id"], "").strip())]
