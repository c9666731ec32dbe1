"""`manage.py tasks`: questions to people, and their answers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError

from factory_site.api.tasks import TaskFilter, tasks_filtered
from factory_site.shell.command_verbs import Verbs, instant, limit_of, list_flags
from runs.clock import now as clock_now
from runs.commands import command_actor
from runs.humans.attention import task_snooze, task_take
from runs.humans.flow import TASK_MACHINE, TaskState
from runs.humans.selectors import task_find, task_json
from runs.humans.tasks import task_answer, task_revert

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.management.base import CommandParser

MOST_HOURS = 24 * 365  # beyond it an instant may not exist; the bound of 7 days is the service's
BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Command(Verbs):
    """List and show questions; answer one, take it, snooze it, take its answer back."""

    help = "Questions to people: list, show, answer, take, snooze, revert."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the verbs."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        rows = verbs.add_parser("list", help="questions, the newest first; open ones unless told otherwise")
        rows.add_argument("--state", default=TaskState.OPEN.value, choices=[*TASK_MACHINE.values, "all"])
        rows.add_argument("--kind")
        rows.add_argument("--subject", metavar="REF or OWNER/REPO#N")
        list_flags(rows)
        show = verbs.add_parser("show", help="one question with its form")
        show.add_argument("id", type=int)
        show.add_argument("--json", action="store_true", help="print what the API answers")
        answer = verbs.add_parser("answer", help="answer it; the first answer wins")
        answer.add_argument("id", type=int)
        answer.add_argument("fields", nargs="*", metavar="FIELD=VALUE")
        answer.add_argument("--seen", default="", metavar="HASH", help="refuse when the question has changed since")
        take = verbs.add_parser("take", help="tell the others that you are on it, for 30 minutes")
        take.add_argument("id", type=int)
        take.add_argument("--back", action="store_true", help="give it back")
        snooze = verbs.add_parser("snooze", help="pause its reminders, at most 7 days")
        snooze.add_argument("id", type=int)
        snooze.add_argument("hours", type=float, metavar="HOURS")
        snooze.add_argument("--note", required=True, metavar="TEXT")
        revert = verbs.add_parser("revert", help="take its answer back")
        revert.add_argument("id", type=int)
        revert.add_argument("--note", default="", metavar="TEXT")

    def verb_list(self, options: dict[str, Any]) -> None:
        """Print a window of the list."""
        state = None if options["state"] == "all" else options["state"]
        wanted = TaskFilter(
            limit=limit_of(options), before=None, state=state, kind=options["kind"], subject=options["subject"]
        )
        found = list(tasks_filtered(wanted).order_by("-pk")[: wanted.limit])
        if options["json"]:
            self.show_json({"items": [task_json(task) for task in found]})
            return
        rows = [(task.pk, task.state, task.subject_label, instant(task.due_at), task.question) for task in found]
        self.show_rows(("ID", "STATE", "SUBJECT", "DUE", "QUESTION"), rows, "no question is open")

    def verb_show(self, options: dict[str, Any]) -> None:
        """Print one question and how it is answered."""
        task = task_find(options["id"])
        if options["json"]:
            self.show_json(task_json(task))
            return
        self.show_fields(
            {
                "task": f"{task.pk} {task.kind}, {task.state}",
                "subject": task.subject_label,
                "question": task.question,
                "context": task.context,
                "due": instant(task.due_at),
                "answered": f"{instant(task.answered_at)} by {task.answered_by}" if task.answered_at else "",
                "answer": task.variables,
                "closed": task.closed_reason,
            }
        )
        if task.state == TaskState.OPEN:
            for field in task.form.get("fields", ()):
                choices = " | ".join(choice["id"] for choice in field.get("choices", ()))
                self.stdout.write(f"  {field['id']}: {field['label']} ({choices or field['kind']})")
            self.stdout.write(f"answer it with: manage.py tasks answer {task.pk} FIELD=VALUE …")

    def verb_answer(self, options: dict[str, Any]) -> None:
        """Record the answer; the flow that asked goes on at once."""
        task = task_find(options["id"])
        variables = _variables(options["fields"], task.form)
        answered = task_answer(task_id=task.pk, variables=variables, actor=command_actor(), seen=options["seen"])
        self.stdout.write(f"task {answered.pk} of {answered.subject_label} is {answered.state}")

    def verb_take(self, options: dict[str, Any]) -> None:
        """Say that somebody is on it, or that nobody is."""
        task = task_take(task_id=options["id"], actor=command_actor(), back=options["back"])
        self.stdout.write(f"task {task.pk} is taken by {task.taken_by or 'nobody'}")

    def verb_snooze(self, options: dict[str, Any]) -> None:
        """Pause its reminders."""
        until = clock_now() + timedelta(hours=min(options["hours"], MOST_HOURS))
        task = task_snooze(task_id=options["id"], actor=command_actor(), until=until, note=options["note"])
        self.stdout.write(f"task {task.pk} is silent until {instant(task.snoozed_until)}; due {instant(task.due_at)}")

    def verb_revert(self, options: dict[str, Any]) -> None:
        """Void its answer and what was learned from it."""
        task = task_revert(task_id=options["id"], actor=command_actor(), note=options["note"])
        self.stdout.write(f"task {task.pk} of {task.subject_label} is {task.state}")


def _variables(given: list[str], form: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with each value as its field's kind; what does not fit is left for the form to refuse."""
    kinds = {field["id"]: field["kind"] for field in form.get("fields", ())}
    variables: dict[str, Any] = {}
    for part in given:
        name, equals, value = part.partition("=")
        if not equals or not name:
            raise CommandError(f"{part!r} is no FIELD=VALUE; see: manage.py tasks show ID")
        variables[name] = _typed(value, kinds.get(name, ""))
    return variables


def _typed(value: str, kind: str) -> Any:
    if kind == "boolean":
        return BOOLEANS.get(value.lower(), value)
    if kind == "number":
        for made in (int, float):
            try:
                return made(value)
            except ValueError:
                continue
    return value
