"""What openings are made of: acts on the first pull request, with now and then something else in between."""

from convergence.models import ConvergenceFlow
from runs.humans.tasks import task_answer
from runs.models import Attempt, HumanTask
from runs.queue.claim import ClaimedRun, run_claim
from tests import queue_driver as queue
from tests.db.histories.moves import agents, people, reviewing
from tests.db.histories.moves.code import file_of

DISTURBED = 0.06
MOST_LOOKS = 10
TEXT = "This sum is wrong."


def flow_of(stage):
    """The newest convergence row of the first pull request."""
    return ConvergenceFlow.rows().filter(pull__number=stage.pulls[0].number).order_by("-id").first()


def until(stage, *states):
    """Look whenever something is due, until the flow is in one of the states; whether it came there."""
    for _ in range(MOST_LOOKS):
        if flow_of(stage).state in states:
            return True
        if stage.chance(DISTURBED):
            stage.anything()
        stage.passes(min(stage.next_instant(), 60))
    return flow_of(stage).state in states


def begun(stage, state="review_round"):
    """The attempt at the step of the first pull request, None when there is none."""
    if not until(stage, state):
        return None
    open_ones = Attempt.objects.filter(finished_at__isnull=True).select_related("run")
    for attempt in open_ones:
        if agents.pull_of(stage, attempt) is stage.pulls[0]:
            return attempt
    while isinstance(claimed := run_claim(queue.claim_request()), ClaimedRun):
        if agents.pull_of(stage, claimed.attempt) is stage.pulls[0]:
            return claimed.attempt
    return None


def turn(stage, status, *, question="", push=False, resolve=True):
    """The review agent's turn ends so."""
    attempt = begun(stage)
    if attempt is None:
        return
    pull = stage.pulls[0]
    before = set(stage.own)
    if push:
        agents.work(stage, pull)
    backlog = agents.given(attempt).get("backlog") or {}
    threads = [{"id": each["id"], "reply": "Done.", "resolve": resolve} for each in backlog.get("threads", [])]
    artifact = {"status": status, "summary": "As asked.", "question": question, "threads": threads, "acks": []}
    agents.ends(attempt, pull, artifact, pushed=next(iter(stage.own - before), ""))
    stage.note(f"opening: {status}")
    look(stage)


def turn_fails(stage, body):
    """The agent's turn ends without a result."""
    if attempt := begun(stage):
        queue.beat(attempt, "running", 2)
        queue.publish(attempt, body(attempt))
        look(stage)


def scope_says(stage, reason=""):
    """The classifier of the scope check ends, with a reason to stop or without."""
    if attempt := begun(stage, "scope_check"):
        artifact = {"scopeBlocked": bool(reason), "scopeBlockReason": reason}
        agents.ends(attempt, stage.pulls[0], artifact)
        stage.note(f"opening: scope {reason}")
        look(stage)


def look(stage):
    """A look a second later, whatever is due otherwise."""
    ConvergenceFlow.rows().filter(ended_at__isnull=True).update(due_at=stage.now)
    stage.passes(1)


def findings(stage, count=1, text=TEXT):
    """The reviewer finds something in the head."""
    pull = stage.pulls[0]
    body = f"Copilot reviewed 1 out of 1 changed files and generated {count} comments."
    threads = [{"path": file_of(pull), "line": 1, "text": text} for _ in range(count)]
    stage.sim.verbs.review(pull, reviewing.COPILOT, body=body, threads=threads)


def clean(stage):
    """The reviewer finds nothing in the head."""
    stage.sim.verbs.review(stage.pulls[0], reviewing.COPILOT, body=reviewing.CLEAN)


def suppressed(stage, announced=1):
    """The reviewer lists one comment in the body, and says how many there are."""
    told = f"**{file_of(stage.pulls[0])}:1**: {TEXT}\n\n"
    body = f"Copilot reviewed 1 file and generated no comments.\n\n### Suppressed comments ({announced})\n\n{told}"
    stage.sim.verbs.review(stage.pulls[0], reviewing.COPILOT, body=body)


def answered(stage, **variables):
    """A person answers what is asked about the first pull request."""
    task = HumanTask.objects.filter(state="open", subject=flow_of(stage).subject).first()
    if task is None:
        return None
    people.allowed(stage, lambda: task_answer(task_id=task.pk, variables=variables, actor=people.PERSON))
    stage.note(f"opening: answered {variables}")
    return task


def waiting(stage):
    """A first turn that pushed, so that a review is awaited."""
    turn(stage, "addressed", push=True)
    until(stage, "await_review")
