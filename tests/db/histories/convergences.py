"""Every convergence, judged from the world: nothing is open on the head, and the reviewer has seen that head."""

from collections import Counter

from convergence.flow import CONVERGENCE_MACHINE
from convergence.guards import Facts
from convergence.models import ConvergenceFlow, ReviewerStatus, Waiver
from runs.policy import policy
from tests.db.histories.moves.reviewing import COPILOT

TRUSTED = {"dev", "maria"}
ACK = "factory-ack:"
PASSED = frozenset({"gate_passed", "scope_passed"})


class Convergences:
    """What one history's convergences come to; ``wrong`` is what must never be."""

    def __init__(self, stage):
        self._stage = stage
        self._given = {}  # review: the commit that it was given for, which the forge may change later
        self.wrong = []
        stage.sim.world.listeners.append(self._changed)

    def _changed(self, change):
        if change.kind == "review_submitted":
            self._given[change.subject] = change.subject.commit_sha

    def moved(self, log):
        """The product took an edge."""
        if log.edge not in PASSED:
            return
        flow = ConvergenceFlow.rows().select_related("pull__repository").get(pk=log.flow_row)
        pull = next(pull for pull in self._stage.pulls if pull.number == flow.pull.number)
        if flow.gate_head != pull.head_sha:
            return  # it moved after the reading that decided
        waived = set(Waiver.objects.filter(pull=flow.pull).values_list("target", flat=True))
        found = [*_threads(pull, waived)]
        if not waived:
            found += [*_requests(pull), *self._unreviewed(pull, flow)]
        self.wrong += [f"{pull.key} converged at {flow.gate_head[:7]}: {each}" for each in found]

    def _unreviewed(self, pull, flow):
        asked = policy().reviewers_for(flow.pull.repository.full_name)
        if not asked or ReviewerStatus.objects.filter(unavailable_until__gt=self._stage.now).exists():
            return
        seen = [r for r in pull.reviews if r.author.login == COPILOT and r.state != "DISMISSED"]
        if flow.gate_head not in {self._given[review] for review in seen}:
            yield "nobody reviewed that head"

    def rows(self):
        """Judge the rows that are driven now: what people see, how many there are, what they have used up."""
        driven: Counter[str] = Counter()
        for flow in ConvergenceFlow.rows().filter(ended_at__isnull=True).select_related("pull"):
            driven[flow.subject] += 1
            shown = CONVERGENCE_MACHINE.states[flow.state].shows
            if flow.pull.state != shown:
                self.wrong.append(f"{flow.subject} is {flow.pull.state} in {flow.state}")
            if flow.husk_retries > Facts().husk_retry_max or flow.ack_retries > flow.ack_retry_max + 1:
                self.wrong.append(f"{flow.subject} counts {flow.husk_retries} and {flow.ack_retries}")
        self.wrong += [f"{count} flows drive {subject}" for subject, count in driven.items() if count > 1]


def _threads(pull, waived):
    for thread in pull.threads:
        first = thread.comments[0]
        if not thread.is_resolved and thread.node_id not in waived and ACK not in first.body:
            yield f"{first.author.login} still asks {first.body!r} in {thread.node_id}"


def _requests(pull):
    newest = {r.author.login: r for r in pull.reviews if r.state in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")}
    for login in sorted(TRUSTED & set(newest)):
        if newest[login].state == "CHANGES_REQUESTED" and newest[login].commit_sha == pull.head_sha:
            yield f"{login} requests changes"
