"""A stage for merges: real git behind the simulated GitHub, real looks and effects; time passes by moving instants."""

import json
import subprocess
import threading
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connections
from django.db.models import DateTimeField, F

from convergence.models import ConvergenceFlow, HeadSeen, PullRequest
from convergence.services.cancel import pull_cancel
from convergence.services.submit import pull_submit
from fixtures.simulator import Simulator
from merging.models import Dependency, MergeAttempt, MergeFlow, MergeRemedy
from runs.clock import now
from runs.contract.canonical import document_hash
from runs.flows.looks import flows_pass
from runs.humans.tasks import task_answer
from runs.models import Attempt, HumanTask, Outbox, Run, RunSpec, TransitionLog
from runs.outbox.dispatch import outbox_pass
from runs.policy import policy_forget
from tests import queue_driver as queue

PERSON = "operator:ann"
REPO = "acme/shop"
BRANCH = "feat/total"
NO_SCOPE_CHECK = "convergence: {scopeCheck: never}\n"  # what passes the gate goes straight to its merge


@dataclass
class MergeStage:
    sim: Simulator
    settings: Any
    policy_path: Path

    def policy(self, text):
        self.policy_path.write_text(f"{NO_SCOPE_CHECK}{text}")
        policy_forget()

    def config(self, **values):
        self.settings.FACTORY = self.settings.FACTORY.model_copy(update=values)

    # --- the world -----------------------------------------------------------------------------------------------

    def repository(self, **fields):
        if self.sim.world.find_repository(REPO) is None:
            self.sim.verbs.add_repository(REPO, **fields)
            self.sim.verbs.add_user("dev", "MEMBER")
        return self.sim.world.find_repository(REPO)

    def pull_on_forge(self, branch=BRANCH, **fields):
        self.repository()
        given = {"title": "Total", "files": {f"{branch.replace('/', '-')}.py": "total = 1\n"}, **fields}
        return self.sim.verbs.add_pull(REPO, branch, **given)

    def push(self, text="total = 2\n", branch=BRANCH):
        return self.sim.verbs.push(REPO, branch, {f"{branch.replace('/', '-')}.py": text}, "Work")

    def calls(self):
        return self.sim.log.count("merge")

    def on_base(self, path, ref="main"):
        """The content of a file at the tip of the base."""
        repo = self.repository()
        git = self.sim.git.path(repo.id)
        shown = subprocess.run(
            ["git", "-C", str(git), "show", f"{ref}:{path}"], capture_output=True, text=True, check=False
        )
        return shown.stdout

    def message_of(self, sha):
        return self.sim.git.facts(self.repository().id, sha).message

    # --- the product ---------------------------------------------------------------------------------------------

    def converged(self, pull=None, **submitted):
        """A pull request whose agent found nothing to do: its merge flow has begun."""
        pull = pull or self.pull_on_forge()
        pull_submit(reference=f"{REPO}#{pull.number}", actor=PERSON, **submitted)
        self.reviewed()
        return pull

    def reviewed(self):
        """The agent's turn of the newest generation ends as converged, and the gate passes."""
        self.settle()
        queue.publish(attempt := queue.claim(), queue.completed_body(attempt, {"status": "converged"}))
        for _ in range(4):
            self.look(ConvergenceFlow)
            self.deliver()
            if not ConvergenceFlow.rows().filter(ended_at__isnull=True).exists():
                return
        raise AssertionError(ConvergenceFlow.rows().order_by("-id").first())

    @property
    def flow(self):
        return MergeFlow.rows().select_related("pull__repository").order_by("-id").first()

    @property
    def pull(self):
        return PullRequest.objects.select_related("repository").order_by("-id").first()

    @property
    def attempts(self):
        return list(MergeAttempt.objects.order_by("id"))

    @property
    def outcomes(self):
        return [(row.outcome, row.reason) for row in self.attempts]

    @property
    def task(self):
        return HumanTask.objects.filter(state="open").first()

    @property
    def edges(self):
        return list(TransitionLog.objects.filter(flow="merge").order_by("id").values_list("edge", flat=True))

    @property
    def events(self):
        return list(Outbox.objects.filter(topic="flow.event").order_by("id"))

    def look(self, model=MergeFlow):
        """Make the active rows due and look once."""
        model.objects.filter(due_at__isnull=False).update(due_at=now())
        return flows_pass()

    def deliver(self):
        """Deliver what the outbox holds now; what waits for its read-back waits on."""
        Outbox.objects.filter(done_at__isnull=True, dead_at__isnull=True).update(available_at=now(), claimed_until=None)
        return outbox_pass()

    def settle(self, passes=12):
        """Look and deliver until nothing moves any more."""
        quiet = 0
        for _ in range(passes):
            before = TransitionLog.objects.count()
            self.look()
            self.look(ConvergenceFlow)
            self.deliver()
            quiet = 0 if TransitionLog.objects.count() != before else quiet + 1
            if quiet > 1:  # GitHub needs one read to compute a mergeability
                return

    def passes(self, **span):
        """Let time pass for the product and for the simulated GitHub."""
        by = timedelta(**span)
        models = (
            ConvergenceFlow,
            MergeFlow,
            MergeAttempt,
            MergeRemedy,
            Dependency,
            HeadSeen,
            PullRequest,
            Run,
            Attempt,
        )
        for model in (*models, Outbox, HumanTask):
            names = [f.name for f in model._meta.fields if isinstance(f, DateTimeField)]
            model.objects.update(**{name: F(name) - by for name in names})

    # --- agents --------------------------------------------------------------------------------------------------

    def claimed(self, agent):
        """The run that a worker takes now, which is one of this agent."""
        attempt = queue.claim()
        assert attempt.run.agent_ref.partition("@")[0] == agent
        return attempt

    def variables(self, attempt):
        """What the agent is given."""
        return json.loads(RunSpec.objects.get(run=attempt.run).canonical)["input"]

    def ends(self, attempt, status, *, head=None, **artifact):
        """The agent's answer, with the head that the worker then reads in its workspace."""
        agent = attempt.run.agent_ref.partition("@")[0]
        body = queue.completed_body(attempt, {"status": status, **artifact})
        began = self.flow.pushed_from
        workspace = {
            "branch": BRANCH,
            "baseSha": began,
            "headSha": head or began,
            "remoteSha": head or began,
            "pushed": True,
            "clean": True,
            "commits": 1 if head else 0,
        }
        evidence = {"workspace": workspace}
        body["result"] |= {
            "outputContract": f"factory.{agent}/v1",
            "evidence": evidence,
            "evidenceHash": document_hash(evidence),
        }
        queue.publish(attempt, body)

    def repaired(self, status="fixed", *, files=None, onto=None, agent="fix-ci", **artifact):
        """One run of the agent: it pushes the files, if any, and answers; then everything settles."""
        attempt = self.claimed(agent)
        head = self.sim.verbs.push(REPO, BRANCH, files, "Repair", onto=onto) if files else None
        self.ends(attempt, status, head=head, **artifact)
        self.settle()
        return attempt

    def answer(self, **variables):
        return task_answer(task_id=self.task.pk, variables=variables, actor=PERSON)

    def cancel(self):
        return pull_cancel(pull=self.pull, actor=PERSON)


def in_threads(*bodies):
    """Run each body in a thread with its own connections; return what they returned or raised."""
    results: list[Any] = [None] * len(bodies)

    def run(number, body):
        try:
            results[number] = body()
        except Exception as error:  # noqa: BLE001 - every thread's result is read
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(n, body)) for n, body in enumerate(bodies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    return results
