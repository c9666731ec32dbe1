"""Reminders, snoozing, taking, and taking an answer back."""

from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.errors import Invalid, Refused
from runs.humans.attention import reminders_pass, reminders_passed, task_snooze, task_take
from runs.humans.flow import TaskState
from runs.humans.tasks import TaskKind, register_kind, task_answer, task_ask, task_recall, task_revert
from runs.models import HumanTask

pytestmark = pytest.mark.django_db
HOURS = timedelta(hours=1)
FORM = {"fields": [{"id": "answer", "kind": "long_text", "label": "Answer", "required": True}]}
VOIDED: list[tuple[int, str]] = []


@pytest.fixture(autouse=True)
def kinds():
    VOIDED.clear()
    register_kind(TaskKind("asked", "Asked", undo=lambda task, actor, _at: VOIDED.append((task.pk, actor))))
    register_kind(TaskKind("final", "Final"))


def ask(kind="asked", fingerprint="a"):
    return task_ask(now=now(), **_asked(kind, fingerprint))


def _asked(kind="asked", fingerprint="a"):
    return {
        "kind": kind,
        "subject": "pull-request:1:1",
        "subject_label": "acme/shop#1",
        "question": "Half up?",
        "context": "",
        "form": FORM,
        "refs": {"row": 1},
        "fingerprint": fingerprint,
    }


def ages(task, **span):
    """Let the task grow older, with everything that was noted of it."""
    by = timedelta(**span)
    task.refresh_from_db()
    changed = {
        name: getattr(task, name) - by
        for name in ("created_at", "due_at", "reminded_at", "snoozed_until")
        if getattr(task, name)
    }
    HumanTask.objects.filter(pk=task.pk).update(**changed)


@pytest.mark.parametrize(
    ("age", "passed"),
    [(0, 0), (3.9, 0), (4, 1), (23.9, 1), (24, 2), (47.9, 2), (48, 3), (72, 4)],
)
def test_reminders_come_after_those_ages_and_then_every_day(age, passed):
    assert reminders_passed(HOURS * age, [4 * HOURS, 24 * HOURS]) == passed


def test_an_unanswered_question_reminds_at_its_times_and_once_each():
    """CV-S39: after 4, 24 and 48 h, never in between, and no timer answers it."""
    task = ask()
    reminded = []
    for hour in range(1, 73):
        ages(task, hours=1)
        if reminders_pass():
            reminded.append(hour)
        assert reminders_pass() == 0
    assert reminded == [4, 24, 48, 72]
    task.refresh_from_db()
    assert (task.state, task.reminder_count) == (TaskState.OPEN, 4)


def test_a_snoozed_question_is_silent_until_then_and_keeps_its_due_date():
    """CV-S39."""
    task = ask()
    due = task.due_at
    snoozed = task_snooze(task_id=task.pk, actor="operator:ann", until=now() + timedelta(days=3), note="Ben is back.")
    assert (snoozed.due_at, snoozed.state) == (due, TaskState.OPEN)
    assert [(entry["what"], entry["by"], entry["note"]) for entry in snoozed.history] == [
        ("snoozed", "operator:ann", "Ben is back.")
    ]
    reminded = []
    for hour in range(1, 97):
        ages(task, hours=1)
        if reminders_pass():
            reminded.append(hour)
    assert reminded == [72, 96]


@pytest.mark.parametrize(("days", "note", "field"), [(8, "why", "until"), (-1, "why", "until"), (1, "  ", "note")])
def test_a_snooze_is_bounded_and_says_why(days, note, field):
    task = ask()
    with pytest.raises(Invalid) as refused:
        task_snooze(task_id=task.pk, actor="operator:ann", until=now() + timedelta(days=days), note=note)
    assert refused.value.details == {"field": field}
    assert HumanTask.objects.get().snoozed_until is None


def test_taking_locks_nothing_and_may_be_given_back():
    task = ask()
    taken = task_take(task_id=task.pk, actor="operator:ann")
    assert taken.taken_by == "operator:ann"
    assert taken.taken_until is not None
    assert taken.taken_until > now()
    given = task_take(task_id=task.pk, actor="operator:ann", back=True)
    assert (given.taken_by, given.taken_until) == ("", None)
    answered = task_answer(task_id=task.pk, variables={"answer": "Yes."}, actor="operator:ben")
    assert answered.answered_by == "operator:ben"
    with pytest.raises(Refused, match="answered"):
        task_take(task_id=task.pk, actor="operator:ann")


def test_an_answer_is_taken_back_once_and_what_it_taught_is_void():
    task = ask()
    task_answer(task_id=task.pk, variables={"answer": "Yes."}, actor="operator:ben")
    back = task_revert(task_id=task.pk, actor="operator:ann", note="Wrong column.")
    assert (back.state, back.reverted_by, back.revert_note) == ("reverted", "operator:ann", "Wrong column.")
    assert (back.answered_by, back.variables) == ("operator:ben", {"answer": "Yes."})
    assert [(task.pk, "operator:ann")] == VOIDED
    with pytest.raises(Refused) as again:
        task_revert(task_id=task.pk, actor="operator:ann")
    assert again.value.code == "already_reverted"
    assert len(VOIDED) == 1


def test_what_cannot_be_taken_back_says_why():
    open_one, final = ask(), ask("final", "b")
    task_answer(task_id=final.pk, variables={"answer": "Yes."}, actor="operator:ben")
    codes = []
    for task in (open_one, final):
        with pytest.raises(Refused) as refused:
            task_revert(task_id=task.pk, actor="operator:ann")
        codes.append(refused.value.code)
    assert codes == ["stale", "already_decided"]
    assert {task.state for task in HumanTask.objects.all()} == {"open", "answered"}


def test_a_remembered_answer_stands_in_the_name_of_the_person_who_gave_it():
    """CV-H17."""
    first = ask()
    task_answer(task_id=first.pk, variables={"answer": "Yes."}, actor="operator:ben")
    first.refresh_from_db()
    recalled = task_recall(now=now(), answer_of=first, **_asked())
    assert (recalled.state, recalled.answered_by, recalled.answered_by_kind) == (
        "auto_answered",
        "operator:ben",
        "memory",
    )
    assert (recalled.variables, recalled.refs["answeredAs"]) == ({"answer": "Yes."}, first.pk)
    assert task_revert(task_id=recalled.pk, actor="operator:ann").state == "reverted"
