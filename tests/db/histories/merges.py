"""Every merge, judged from the world alone: when a call arrives, and when a head lands."""

import json
import re
from collections import Counter

from convergence.models import ConvergenceFlow
from fixtures.simulator.rules.merging import PASSING, checks_newest
from merging.decisions.protocol import Protocol, protocol_read
from runs.policy import policy
from tests.db.histories.ledger import Ledger

MERGE_PATH = re.compile(r"/pulls/(\d+)/merge$")
COMMENT_PATH = re.compile(r"/issues/(\d+)/comments$")
MARKED_HEAD = re.compile(r"<!-- head: ([0-9a-f]{40}) -->")
PROTOCOL_FILE = ".github/merge-protocol.json"
QUEUES = {"github-merge-queue", "mergify"}


class Merges(Ledger):
    """The merges of one history, and what is wrong with them."""

    def __init__(self, stage):
        super().__init__(stage)
        self.counts: Counter[str] = Counter()
        self.wrong = []
        self.updated = set()  # heads that the product made by bringing the base in
        self.entered = set()  # numbers that the product put into the queue
        self.entered_at = {}  # number: head with which it entered the queue
        self.landed: Counter[int] = Counter()
        stage.sim.world.listeners.append(self._changed)

    # --- what happens ---------------------------------------------------------------------------------------------

    def arrived(self, asked):
        """A request of the product has arrived, and nothing has come of it yet."""
        called = self._called(asked)
        if called is None:
            return
        how, pull, head = called
        self.counts[how] += 1
        found = [*self._about_head(pull, head), *self.about_checks(pull, head), *self._about_order(pull)]
        found += self._about_people(pull, head)
        if pull.state != "OPEN":
            found.append(f"it is {pull.state}")
        self.wrong += [f"{how} of {pull.key} at {head[:7]}: {each}" for each in found]

    def _called(self, asked):
        """The way, the pull request and the expected head of a merge call; None for other requests."""
        pulls = self._stage.pulls[0].repo.pulls if self._stage.pulls else {}
        if asked.method == "PUT" and (found := MERGE_PATH.search(asked.path)):
            return "merge", pulls[int(found[1])], json.loads(asked.raw).get("sha") or ""
        if asked.method == "POST" and b"enqueuePullRequest" in asked.raw:
            given = json.loads(asked.raw)["variables"]
            return "enqueue", self._stage.sim.world.nodes[given["pull"]], given["head"]
        if asked.method == "POST" and (found := COMMENT_PATH.search(asked.path)):
            marked = MARKED_HEAD.search(json.loads(asked.raw).get("body") or "")
            return ("comment", pulls[int(found[1])], marked[1]) if marked else None
        return None

    def moved(self, log):
        """The product took an edge."""
        super().moved(log)
        if log.from_state == "queued" and log.to_state != "queued":  # whoever leaves it lets the others by
            self.entered.discard(int(log.subject.rpartition(":")[2]))

    def _changed(self, change):
        pull, viewer = change.pull, self._stage.sim.world.viewer
        if pull is None:
            return
        if change.kind == "pull_synchronized" and change.actor is viewer:
            self.updated.add(pull.head_sha)
        if change.kind == "pull_enqueued":
            self.entered_at[pull.number] = pull.head_sha
            if change.actor is viewer:
                self.entered.add(pull.number)
        if change.kind in {"pull_dequeued", "pull_closed"}:
            self.entered.discard(pull.number)
        if change.kind == "pull_closed" and pull.state == "MERGED":
            self._has_landed(pull, change.actor)

    def _has_landed(self, pull, actor):
        own, queue = actor is self._stage.sim.world.viewer, actor.login in QUEUES
        self.counts["landed" if own else "landed by a queue" if queue else "landed by hand"] += 1
        if not own and not queue:
            return
        self.landed[pull.number] += 1
        found = self._about_head(pull, pull.head_sha)
        if self.landed[pull.number] > 1:
            found.append("for the second time")
        self.wrong += [f"{pull.key} has landed: {each}" for each in found]

    def counted(self):
        """How many calls arrived of each kind, and how many pull requests landed in each way."""
        return Counter({f"merges:{name}": count for name, count in self.counts.items()})

    # --- what must hold -------------------------------------------------------------------------------------------

    def _about_head(self, pull, head):
        if head != pull.head_sha:
            yield f"the branch is at {pull.head_sha[:7]}"
        if pull.draft:
            yield "it is a draft"
        after = policy().merging.review_after
        covered = set(self.updated) if after == "any_push" else self.updated | self.repaired
        gated = ConvergenceFlow.rows().filter(pull__number=pull.number, state="converged")
        covered |= set(gated.values_list("gate_head", flat=True))
        if after != "never" and head not in covered:
            yield "nobody reviewed that head"

    def about_checks(self, pull, head):
        protocol = self.protocol(pull) or Protocol()  # broken: what the product read last applies, which it alone knows
        for declared in protocol.required_checks:
            states = self._states(pull.repo, head, declared.name)
            if not states or not states <= {word.upper() for word in declared.accepted}:
                yield f"the declared check {declared.name} is {sorted(states) or 'missing'}"
        for check in checks_newest(self._stage.sim.world, pull):
            if check.required and check.verdict != "passing" and not pull.merge_word:
                yield f"the required check {check.name} is {check.verdict}"
        if protocol.wait_for_checks:
            for name in {run.name for run in pull.repo.check_runs.get(head, ())}:
                if states := self._states(pull.repo, head, name) - PASSING:
                    yield f"the check {name} is {sorted(states)}"

    def _states(self, repo, head, name):
        """How the newest run of each producer stands, but for cancelled ones that gave way to another."""
        newest, runs = {}, [run for run in repo.check_runs.get(head, ()) if run.name == name]
        for run in runs:
            cancelled = run.conclusion == "CANCELLED"
            if cancelled and any(_replaces(other, run) for other in runs):
                continue
            newest[run.suite.app_id, run.suite.run.workflow_id, run.suite.run.event] = run
        words = {run.conclusion if run.status == "COMPLETED" else "RUNNING" for run in newest.values()}
        newest_status = [each for each in repo.statuses.get(head, ()) if each.context == name][-1:]
        return words | {each.state for each in newest_status}

    def protocol(self, pull):
        """What the tip of the base declares; None when it cannot be understood."""
        git, base = self._stage.sim.git, pull.repo.branches[pull.base_ref]
        text = git.show(pull.repo.id, base, PROTOCOL_FILE)
        return protocol_read(text.decode()).protocol if text is not None else Protocol()

    def _about_order(self, pull):
        for number in sorted(self.in_the_way(pull)):
            other = pull.repo.pulls[number]
            yield f"it merges after {other.key}, which is {other.state}"
        for one, other in self.edges:
            near = {one, other} - {pull.number}
            if pull.number in (one, other) and near & self.entered:
                yield f"its neighbour {near} is landing"
        git, base = self._stage.sim.git, pull.repo.branches[pull.base_ref]
        if "fresh_base" in self.holds[pull.number] and not git.contains(pull.repo.id, base, pull.head_sha):
            yield "its checks have not seen the tip of its base"
        default = pull.base_ref == pull.repo.default_branch
        if not default and any(p.head_ref == pull.base_ref and p.state == "MERGED" for p in pull.repo.pulls.values()):
            yield f"its base {pull.base_ref} has landed already"

    def _about_people(self, pull, head):
        rules = policy().merging
        if self.paused:
            yield "merging is paused"
        if "trial_merge" in self.holds[pull.number]:
            yield "its plan holds it"
        if pull.base_ref in rules.approval_bases and head not in self.approved:
            yield f"nobody let that head into {pull.base_ref}"
        protocol = self.protocol(pull)
        if protocol and protocol.land_method == "ui":
            yield "only a person may merge it"
        newest = {review.author.login: review for review in pull.reviews if review.state != "COMMENTED"}
        asks = [r.author.login for r in newest.values() if r.state == "CHANGES_REQUESTED" and self._late(pull, r)]
        if asks and rules.review_after != "never":
            yield f"{asks} asked for changes after it converged"

    def _late(self, pull, review):
        converged = ConvergenceFlow.rows().filter(pull__number=pull.number, state="converged").order_by("-generation")
        ended = converged.values_list("ended_at", flat=True).first()
        return ended is not None and review.submitted_at > ended


def _replaces(other, run):
    same = other.suite.run.workflow_id == run.suite.run.workflow_id
    return same and other.conclusion != "CANCELLED" and other.started_at >= run.started_at
