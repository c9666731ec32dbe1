"""Playing the scenario: submit its pull requests, tell what happens, answer as it says, and compare the ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from factory_site.demo.client import Client

FINAL = frozenset({"converged", "merged", "abandoned"})
LOOK_EVERY = 0.5  # seconds
CALM = 60.0  # seconds: a due row older than this at the end is a fault


@dataclass(slots=True)
class Played:
    """One pull request of the scenario: what it is expected to come to, and what was told of it so far."""

    key: str
    title: str
    expect: str
    answers: list[Mapping[str, Any]]
    submitted: bool = False
    told: int = 0
    state: str = ""


@dataclass(slots=True)
class Director:
    """Called again and again; each tick does what is due and returns whether `--once` is over."""

    client: Client
    script: Mapping[str, Any]
    once: bool
    seconds: int
    say: Callable[[str], None]
    pulls: list[Played] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)
    asked: set[int] = field(default_factory=set)
    started: float = field(default_factory=time.monotonic)
    next_look: float = 0.0
    is_up: bool = False
    finished: bool = False

    def tick(self) -> bool:
        """Do what is due; True when the scenario is at its end (or out of time) and nobody is to stay."""
        if time.monotonic() < self.next_look:
            return False
        self.next_look = time.monotonic() + LOOK_EVERY
        if not self.is_up:
            self.is_up = self.client.is_up()
            if self.is_up:
                self._opening()
        else:
            self._look()
        late = self.once and time.monotonic() - self.started > self.seconds
        return self.once and (self.finished or late)

    def result(self) -> int:
        """Print the summary; 0 when every pull request ended as the scenario says (or nobody asked)."""
        if not self.once:
            return 0
        self.say("")
        for pull in self.pulls:
            mark = "ok" if pull.state == pull.expect else "NOT AS EXPECTED"
            self.say(f"  {pull.key}  {pull.state or 'never submitted'}  (expected {pull.expect})  {mark}")
        good = bool(self.pulls) and all(pull.state == pull.expect for pull in self.pulls)
        took = time.monotonic() - self.started
        self.say(f"{'All ended as the scenario says' if good else 'The scenario did not come true'} after {took:.0f} s")
        return 0 if good else 1

    def _opening(self) -> None:
        login = self.client.login() or {}
        self.say("")
        self.say(f"  Console   {self.client.url}/")
        self.say(f"  Login     {login.get('username')}  {login.get('password')}")
        self.say("  Nothing here is real; stop with Ctrl-C." if not self.once else "  Playing the scenario to its end.")
        self.say("")
        numbers: dict[str, int] = {}
        for entry in self.script["pulls"]:
            repository = entry["repo"]
            numbers[repository] = entry.get("number", numbers.get(repository, 0) + 1)
            key = f"{repository}#{numbers[repository]}"
            self.pulls.append(Played(key, entry["title"], entry["expect"], list(entry.get("answers", []))))

    def _look(self) -> None:
        for pull in self.pulls:
            if not pull.submitted:
                pull.submitted = self.client.post("/api/v1/pull-requests", {"pullRequest": pull.key}) is not None
                if pull.submitted:
                    self.say(f"{pull.key}  submitted: {pull.title}")
            elif pull.state not in FINAL or not self.finished:
                self._tell(pull)
        self._ask()
        self.finished = bool(self.pulls) and all(pull.state in FINAL for pull in self.pulls)

    def _tell(self, pull: Played) -> None:
        """Say each new transition once, oldest first."""
        owner_and_name, _, number = pull.key.partition("#")
        detail = self.client.get(f"/api/v1/pull-requests/{owner_and_name}/{number}")
        if detail is None:
            return
        transitions = sorted(detail["transitions"], key=lambda row: row["id"])
        for row in transitions:
            if row["id"] > pull.told:
                self.say(f"{pull.key}  {row['from'] or 'new'} → {row['to']}  ({row['edge'].replace('_', ' ')})")
                pull.told = row["id"]
        pull.state = detail["state"]

    def _ask(self) -> None:
        """Show open questions; answer them as the scenario says when nobody else will."""
        listed = self.client.get("/api/v1/tasks?state=open") or {"items": []}
        for task in listed["items"]:
            if task["id"] not in self.asked:
                self.asked.add(task["id"])
                self.say(f"{task['subjectLabel']}  asks: {task['question']}")
                if not self.once:
                    self.say(f"{task['subjectLabel']}  answer it at {self.client.url}/tasks/{task['id']}/")
            if self.once and task["id"] not in self.answered:
                self._answer(task)

    def _answer(self, task: Mapping[str, Any]) -> None:
        pull = next((each for each in self.pulls if each.key == task["subjectLabel"]), None)
        if pull is None or not pull.answers:
            return
        answer = pull.answers[0]
        body = {"variables": answer["variables"], "seenHash": task["seenHash"]}
        if self.client.post(f"/api/v1/tasks/{task['id']}/complete", body) is not None:
            pull.answers.pop(0)
            self.answered.add(task["id"])
            self.say(f"{pull.key}  answered: {answer['variables'].get('answer', answer['variables'])}")
