"""What people and agents said in a history that bears on its merges, kept beside the product's own rows."""

import re
from collections import defaultdict

NAMED = re.compile(r"#(\d+)")
DECLARES = re.compile(r"^Depends-on:(.*)$", re.MULTILINE)
REPAIRING = {"fix-ci", "rebase"}


class Ledger:
    """Pull requests are known by their numbers."""

    def __init__(self, stage):
        self._stage = stage
        self.repaired = set()  # heads that agents of merge flows pushed, and of which their workers told
        self.named = {}  # run: numbers that its agent named as to be merged first
        self.asked = defaultdict(set)  # number: numbers that the newest submit named
        self.found = defaultdict(set)  # number: numbers that agents named
        self.dropped = {}  # (number, number): the body under which a person dropped it
        self.guarded = {}  # number: head for which a person was asked to let it into a guarded base
        self.approved = set()  # heads that a person let into one
        self.holds = defaultdict(set)  # number: kinds of holds
        self.paused = False
        self.edges = []  # pairs of numbers of which one lands after the other

    def submitted(self, pull, after):
        """A submit was taken over, with what it names to be merged first."""
        self.asked[pull.number] = {other.number for other in after}
        for other in after:
            self.dropped.pop((pull.number, other.number), None)

    def dropped_by_hand(self, pull, number):
        """A person lets it go on without that one."""
        self.dropped[pull.number, number] = pull.body

    def answered(self, task, variables):
        """A person answers a question, with what lies in it for the order and for guarded bases."""
        number = int(task.subject.rpartition(":")[2])
        pull = self._stage.pulls[0].repo.pulls[number]
        if variables.get("resolution") == "drop_dependency":
            self.dropped_by_hand(pull, int(variables["dependency"].rpartition("#")[2]))
        if variables.get("resolution") == "approve":
            self.approved.add(self.guarded[number])

    def agent_ended(self, run_id, agent, artifact, pushed):
        """An agent tells what it came to."""
        self.named[run_id] = {int(name.rpartition("#")[2]) for name in artifact.get("dependsOn", [])}
        if agent in REPAIRING and pushed:
            self.repaired.add(pushed)

    def moved(self, log):
        """The product took an edge: what its agent named counts from now on; a question is about the present head."""
        number = int(log.subject.rpartition(":")[2])
        if log.edge == "agent_waits_on_pull":
            self.found[number] |= self.named.get(log.guards["run"], set())
        if log.edge == "approval_missing":
            self.guarded[number] = self._stage.pulls[0].repo.pulls[number].head_sha

    def in_the_way(self, pull):
        """The numbers of the pull requests that this one merges after and that are not merged."""
        named = {int(n) for line in DECLARES.findall(pull.body) for n in NAMED.findall(line)}
        named = {n for n in named if self.dropped.get((pull.number, n)) != pull.body}
        said = self.asked[pull.number] | self.found[pull.number]
        named |= {n for n in said if (pull.number, n) not in self.dropped}
        found = [pull.repo.pulls.get(number) for number in named - {pull.number}]
        return {other.number for other in found if other is not None and other.state != "MERGED"}
