"""A stage for flows: the simulated GitHub, real looks and real effects, and time that passes by moving instants."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import DateTimeField, F

from convergence.forge.governor.account import WRITES
from convergence.looks.look import convergence_look
from convergence.models import ConvergenceFlow, ForgeBudget, PullRequest, ReviewerStatus, ReviewRequest, RoundTurn
from convergence.services.submit import pull_submit
from fixtures.simulator import Simulator
from runs.clock import now
from runs.flows.looks import flows_pass
from runs.humans.tasks import task_answer
from runs.models import Attempt, HumanTask, Outbox, Pause, Run, TransitionLog
from runs.outbox.dispatch import outbox_pass
from tests import queue_driver as queue

PERSON = "operator:ann"
COPILOT = "copilot-pull-request-reviewer"
REPO = "acme/shop"
CLEAN = "Copilot reviewed 1 out of 1 changed files in this pull request and generated no comments."


@dataclass
class Stage:
    sim: Simulator

    def pull_on_forge(self, **fields):
        """A pull request of a branch with one file."""
        if self.sim.world.find_repository(REPO) is None:
            self.sim.verbs.add_repository(REPO)
            self.sim.verbs.add_bot(COPILOT, "Copilot")
            self.sim.verbs.add_user("dev", "MEMBER")
        branch = fields.pop("branch", "feat/total")
        return self.sim.verbs.add_pull(REPO, branch, title="Total", files={"app.py": "total = 1\n"}, **fields)

    def submit(self, pull, **fields):
        return pull_submit(reference=f"{REPO}#{pull.number}", actor=PERSON, **fields)

    def begun(self, **fields):
        """A submitted pull request whose first turn is queued."""
        pull = self.pull_on_forge()
        self.submit(pull, **fields)
        self.settle()
        assert self.flow.state == "review_round"
        return pull

    @property
    def pull(self):
        return PullRequest.objects.select_related("repository").order_by("-id").first()

    @property
    def flow(self):
        return ConvergenceFlow.objects.order_by("-id").first()

    @property
    def turn(self):
        return RoundTurn.objects.order_by("-id").first()

    @property
    def task(self):
        return HumanTask.objects.filter(state="open").first()

    @property
    def edges(self):
        return list(TransitionLog.objects.filter(flow="convergence").order_by("id").values_list("edge", flat=True))

    def step(self):
        """Exactly one look at every active flow, where a pass would go on with what it moved."""
        self.forge_may_be_asked()
        convergence_look(list(ConvergenceFlow.objects.filter(due_at__isnull=False)))

    def look(self, limit=200):
        """Make every active flow due and look once."""
        self.forge_may_be_asked()
        ConvergenceFlow.objects.filter(due_at__isnull=False).update(due_at=now())
        return flows_pass(limit)

    def forge_may_be_asked(self):
        """The pause is over that an unanswered request began."""
        ForgeBudget.objects.filter(retry_at__isnull=False).update(retry_at=now())

    def effects(self):
        """Deliver what the outbox holds, also what waits for its read-back."""
        for _ in range(60):
            ForgeBudget.objects.filter(resource=WRITES).update(stamps=[])  # a second passed since the last one
            Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True).update(
                available_at=now(), claimed_until=None
            )
            if not outbox_pass():
                return
            self.sim.clock.advance(0)

    def settle(self, passes=6):
        """Look and deliver until nothing moves any more."""
        for _ in range(passes):
            before = TransitionLog.objects.count()
            self.look()
            self.effects()
            if TransitionLog.objects.count() == before:
                return

    def passes(self, **span):
        """Let time pass for the product and for the simulated GitHub."""
        by = timedelta(**span)
        for model in (
            ConvergenceFlow,
            ForgeBudget,
            PullRequest,
            ReviewRequest,
            ReviewerStatus,
            Run,
            Attempt,
            Outbox,
            HumanTask,
            Pause,
        ):
            names = [f.name for f in model._meta.fields if isinstance(f, DateTimeField)]
            model.objects.update(**{name: F(name) - by for name in names})

    def claim(self):
        return queue.claim()

    def publish(self, attempt, artifact=None, **changes):
        queue.publish(attempt, queue.completed_body(attempt, artifact, **changes))

    def agent(self, artifact=None, **changes):
        """The queued run is claimed and ends with this artifact."""
        attempt = self.claim()
        self.publish(attempt, artifact, **changes)
        return attempt

    def agent_fails(self, code="agent_exit"):
        attempt = self.claim()
        queue.beat(attempt, "running", 1)
        queue.publish(attempt, queue.failed_body(attempt, code))
        return attempt

    def push(self, text="total = 2\n", **fields):
        return self.sim.verbs.push(REPO, "feat/total", {"app.py": text}, "Work", **fields)

    def review(self, pull, *, clean=False, **fields):
        body = CLEAN if clean else fields.pop("body", "Copilot reviewed 1 file and generated 1 comment.")
        return self.sim.verbs.review(pull, COPILOT, body=body, **fields)

    def answer(self, **variables):
        return task_answer(task_id=self.task.pk, variables=variables, actor=PERSON)


def advised(stage, pull, *advisories, announced=None, **fields):
    """A review of the head that hides these (path, text) in its body."""
    told = "".join(f"**{path}:1**: {text}\n\n" for path, text in advisories)
    count = len(advisories) if announced is None else announced
    body = f"Copilot reviewed 1 file and generated no comments.\n\n### Suppressed comments ({count})\n\n{told}"
    return stage.sim.verbs.review(pull, COPILOT, body=body, **fields)


def waiting(stage, **fields):
    """A pull request whose first turn pushed and whose review is awaited."""
    pull = stage.begun(**fields)
    stage.push()
    stage.agent({"status": "addressed"})
    stage.look()
    stage.look()
    assert stage.flow.state == "await_review"
    return pull


def claimed(stage, pull=None, **fields):
    """The agent says that nothing is left to do."""
    pull = pull or stage.begun(**fields)
    stage.agent({"status": "converged"})
    stage.step()
    assert stage.flow.state == "converge_gate"
    return pull
