"""What must be true after every step, judged from the world and from rows, never from the product's own decisions."""

from collections import Counter

from convergence.models import Escalation
from merging.models import MergeAttempt, MergeFlow
from runs.models import HumanTask, TransitionLog
from tests.db.histories.convergences import Convergences

OLDER = "GraphQL refused: "  # how the world notes what an older server does not know


class Broken(AssertionError):
    """An invariant that does not hold."""


class Watch:
    """Follows one history. ``check`` raises Broken for what must never be."""

    def __init__(self, stage):
        self._stage = stage
        self._calls_judged = 0
        self._seen = 0  # key of the newest log row that was judged
        self.judged = {}  # number: heads that passed the gate, or that are the product's own work
        self.edges: Counter[str] = Counter()
        self.wrong = []  # found while the world's lock was held
        self.convergences = Convergences(stage)
        stage.heads = {}
        stage.own = set()
        stage.sim.world.listeners.append(self)

    def __call__(self, change):
        pull = change.pull
        if pull is None:
            return
        self._stage.heads.setdefault(pull.number, set()).add(pull.head_sha)
        viewer = self._stage.sim.world.viewer
        if change.kind == "pull_synchronized" and change.actor is viewer:
            self._stage.own.add(pull.head_sha)

    def check(self):
        """Judge what happened since the last check."""
        taken = list(TransitionLog.objects.filter(pk__gt=self._seen).order_by("pk"))
        for row in taken:
            self._seen = row.pk
            self.edges[f"{row.flow}:{row.edge}"] += 1
            if row.flow == "convergence":
                self.convergences.moved(row)
            elif row.flow == "merge":
                self._stage.merges.moved(row)
        if taken:
            self.convergences.rows()
            self._questions()
            self._budgets()
        self._calls()
        log = self._stage.sim.log
        refused = [text for text in log.violations if not (self._stage.older and text.startswith(OLDER))]
        found = [*self.wrong, *self.convergences.wrong, *self._stage.merges.wrong, *refused]
        found += [*log.exceptions, *self._stage.faulty.seen]
        if found:
            raise Broken("\n".join(found))

    def _questions(self):
        subjects: Counter[str] = Counter()
        for task in HumanTask.objects.filter(state="open"):
            subjects[task.subject] += 1
            if not task.question.strip() or task.question.rstrip().endswith(":"):
                self.wrong.append(f"a blank question: {task.question!r}")
        self.wrong += [f"{count} open questions about {subject}" for subject, count in subjects.items() if count > 1]
        for asked in Escalation.objects.filter(flow="convergence", state="open", reason__in=["needs_input", "blocked"]):
            settled = Escalation.objects.filter(
                pull=asked.pull_id, generation=asked.generation, fingerprint=asked.fingerprint, state="answered",
                reverted_at__isnull=True, round__lt=asked.round, auto_applied=False,
            )  # fmt: skip
            if settled.exists() and not asked.auto_applied:
                again = Escalation.objects.filter(
                    pull=asked.pull_id, generation=asked.generation, fingerprint=asked.fingerprint,
                    round=asked.round, auto_applied=True,
                )  # fmt: skip
                if not again.exists():
                    self.wrong.append(f"a settled question was asked again: {asked.text!r}")

    def _budgets(self):
        for flow in MergeFlow.rows():
            for now, most in (
                (flow.ci_fixes, flow.ci_fix_max),
                (flow.rebases, flow.rebase_max),
                (flow.merge_retries, flow.merge_retry_max + 1),  # with the one that asks a person
                (flow.evictions, flow.eviction_max + 1),
                (flow.stalls, flow.stall_max),
            ):
                if now > most:
                    self.wrong.append(f"{flow.subject} counts {now} of {most} in {flow.state}")

    def _calls(self):
        calls = self._stage.sim.log.count("merge") + self._stage.sim.log.count("enqueue")
        if calls == self._calls_judged:
            return
        self._calls_judged = calls
        sent = MergeAttempt.objects.filter(sent_at__isnull=False).count()
        if calls > sent:
            self.wrong.append(f"{calls} calls for {sent} attempts")
