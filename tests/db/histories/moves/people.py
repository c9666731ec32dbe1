"""People at the product: answers, cancels, submissions, dropped dependencies, lanes."""

from convergence.services.cancel import pull_cancel
from convergence.services.look_now import pull_look
from convergence.services.submit import pull_submit
from runs.contract.errors import FactoryError
from runs.humans.tasks import task_answer, task_revert
from runs.models import HumanTask
from tests.db.histories.moves.table import move

PERSON = "operator:ann"


def answer(stage, task):
    """Complete the form of a question with values that it offers."""
    variables = {"answer": f"Go on, {stage.count}."}
    for field in task.form.get("fields", []):
        if field["id"] == "resolution":
            names = [choice["id"] for choice in field["choices"]]
            weights = [1 if name in ("abandon", "reject") else 8 for name in names]
            variables["resolution"] = stage.chosen.choices(names, weights)[0]
        elif field["id"] == "dependency":
            variables["dependency"] = stage.one(field["choices"])["id"]
        elif field["id"] == "extraRounds":
            variables["extraRounds"] = stage.one([0, 1, 2])
        elif field["id"] == "waive":
            variables["waive"] = stage.chance(0.4)
    answered(stage, task, variables)


def answered(stage, task, variables):
    """Give this answer."""
    stage.merges.answered(task, variables)
    task_answer(task_id=task.pk, variables=variables, actor=PERSON)
    stage.note(f"answered {task.refs.get('reason')}: {variables}")


@move(14)
def somebody_answers(stage):
    stage.count += 1
    if task := stage.one(HumanTask.objects.filter(state="open").order_by("id")):
        answer(stage, task)


@move(1)
def an_answer_is_taken_back(stage):
    task = stage.one(HumanTask.objects.filter(state="answered", reverted_at__isnull=True).order_by("id"))
    if task:
        allowed(stage, lambda: task_revert(task_id=task.pk, actor=PERSON))


@move(3)
def submitted(stage):
    submit(stage, stage.one(stage.pulls))


def submit(stage, pull, *after):
    """Submit it, to merge after others; one that is on its way takes nothing over."""

    def given():
        names = [f"#{other.number}" for other in after]
        if not pull_submit(reference=pull.key, actor=PERSON, depends_on=names).already_running:
            stage.merges.submitted(pull, after)

    allowed(stage, given)


@move(1)
def cancelled(stage):
    _, row = stage.one(stage.rows()) or (None, None)
    if row and stage.chance(0.4):
        allowed(stage, lambda: pull_cancel(pull=row, actor=PERSON))


@move(2)
def looked_at(stage):
    _, row = stage.one(stage.rows()) or (None, None)
    if row:
        allowed(stage, lambda: pull_look(pull=row))


def allowed(stage, act):
    """Do it, where the product may refuse."""
    try:
        act()
    except FactoryError as error:
        stage.note(f"refused: {error.code}")
