"""Playing the scenario: submit its pull requests, tell what happens, answer as it says, and compare the ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from factory_site.demo.ending import ending
from factory_site.demo.played import Played, pulls_of
from factory_site.demo.telling import Paper, clock, question, sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from factory_site.demo.client import Client

LOOK_EVERY = 0.5  # seconds
MOST_ASKED = 100  # characters of a question in the terminal; the console shows all of it


@dataclass(slots=True)
class Director:
    """Called again and again; each tick does what is due and returns whether `--once` is over."""

    client: Client
    home: Path
    script: Mapping[str, Any]
    once: bool
    seconds: int
    say: Callable[[str], None]
    paper: Paper
    pulls: list[Played] = field(default_factory=list)
    answered: set[int] = field(default_factory=set)
    asked: set[int] = field(default_factory=set)
    started: float = field(default_factory=time.monotonic)
    next_look: float = 0.0
    is_up: bool = False
    finished: bool = False
    width: int = 0

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
        return self.once and (self.finished or self.is_late)

    @property
    def is_late(self) -> bool:
        """Whether `--once` has run out of time."""
        return self.once and self._elapsed() > self.seconds

    def result(self) -> int:
        """Print the summary of `--once`; 0 when every pull request ended as the scenario says (or nobody asked)."""
        if not self.once:
            return 0
        lines, good = ending(self.pulls, self.script.get("lands_in_order", []), self.paper)
        self.say("")
        for line in lines:
            self.say(line)
        self.say("")
        told = "All ended as the scenario says" if good else "The scenario did not come true"
        self.say(self.paper.toned(f"{told}, after {clock(self._elapsed())}", "good" if good else "bad"))
        return 0 if good else 1

    def _elapsed(self) -> float:
        return time.monotonic() - self.started

    def _opening(self) -> None:
        login = self.client.login() or {}
        self.say("")
        self.say(f"  Console   {self.client.url}/")
        self.say(f"  Login     {login.get('username')}  {login.get('password')}")
        self.say(f"  Data      {self.home}")
        self.say(f"  Shell     FACTORY_HOME={self.home} python3 manage.py status")
        self.say(
            "  Playing the scenario to its end, with its own answers."
            if self.once
            else "  Questions wait for you there. Nothing here is real; stop with Ctrl-C."
        )
        self.say("")
        self.pulls = list(pulls_of(self.script))
        self.width = max((len(pull.key) for pull in self.pulls), default=0)

    def _tell(self, key: str, text: str, tone: str = "") -> None:
        """One line: time, pull request, sentence."""
        self.say(f"{clock(self._elapsed()):>5}  {key.ljust(self.width)}  {self.paper.toned(text, tone)}")

    def _look(self) -> None:
        self._submit()
        for pull in self.pulls:
            if pull.submitted and not (pull.is_over and pull.ended_after is not None):
                self._follow(pull)
        self._ask()
        was = self.finished
        self.finished = bool(self.pulls) and all(pull.is_over for pull in self.pulls)
        if self.finished and not was and not self.once:
            self.say(f"{clock(self._elapsed()):>5}  Every pull request is at its end. The console stays until Ctrl-C.")

    def _submit(self) -> None:
        for pull in self.pulls:
            if not pull.submitted:
                body = {"pullRequest": pull.key, **pull.submit}
                pull.submitted = self.client.post("/api/v1/pull-requests", body) is not None
                if pull.submitted:
                    self._tell(pull.key, f"submitted: {pull.title}", "head")

    def _follow(self, pull: Played) -> None:
        """Tell each new transition once, oldest first."""
        owner_and_name, _, number = pull.key.partition("#")
        detail = self.client.get(f"/api/v1/pull-requests/{owner_and_name}/{number}")
        if detail is None:
            return
        for row in sorted(detail["transitions"], key=lambda each: each["id"]):
            if row["id"] > pull.told:
                pull.told = row["id"]
                self._told(pull, row)
                if row["to"] == "merged":
                    pull.landed = row["id"]
        pull.state = detail["state"]
        if pull.is_over and pull.ended_after is None:
            pull.ended_after = self._elapsed()

    def _told(self, pull: Played, row: Mapping[str, Any]) -> None:
        if row["edge"] == "entry_captured":
            pull.turn = row["guards"].get("turn", 1)
            pull.rounds += pull.turn == 1
        words = sentence(row["edge"], row["to"], number=pull.rounds, turn=pull.turn)
        if words:
            self._tell(pull.key, *words)

    def _ask(self) -> None:
        """Show open questions; answer them as the scenario says when nobody else will."""
        listed = self.client.get("/api/v1/tasks?state=open") or {"items": []}
        for task in listed["items"]:
            if task["id"] not in self.asked:
                self.asked.add(task["id"])
                key = task["subjectLabel"]
                self._tell(
                    key,
                    f"asks {'a person' if self.once else 'you'}: {question(task['question'], key, MOST_ASKED)}",
                    "you",
                )
                if not self.once:
                    self._tell(key, f"answer it at {self.client.url}/tasks/{task['id']}/", "you")
            if self.once and task["id"] not in self.answered:
                self._answer(task)

    def _answer(self, task: Mapping[str, Any]) -> None:
        """Give the scenario's next answer if this is the question that it is for."""
        pull = next((each for each in self.pulls if each.key == task["subjectLabel"]), None)
        if pull is None or not pull.answers or pull.answers[0].get("match", "") not in task["question"]:
            return
        answer = pull.answers[0]
        body = {"variables": answer["variables"], "seenHash": task["seenHash"]}
        if self.client.post(f"/api/v1/tasks/{task['id']}/complete", body) is not None:
            pull.answers.pop(0)
            self.answered.add(task["id"])
            said = answer["variables"].get("answer") or answer["variables"].get("resolution", "")
            self._tell(pull.key, f"answered: {said}", "you")
