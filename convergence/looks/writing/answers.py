"""What the edges write that go on with a person's answer, just given or remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from convergence.forms import answer_form
from convergence.looks.deadlines import review_deadline
from convergence.looks.questions import agent_asked, scope_asked
from convergence.looks.writing.reviews import scope_blocked
from convergence.looks.writing.turns import asked
from convergence.services.escalations import escalation_recall
from convergence.services.identity import missing_forgotten
from convergence.services.memory import answer_remembered
from convergence.services.move import Step
from convergence.services.waivers import waivers_give

if TYPE_CHECKING:
    from convergence.looks.judging.judged import Judged
    from convergence.looks.scene import Scene
    from convergence.models import Escalation
    from convergence.texts import Question

MOST_ROUNDS = 100
SCOPE = "scope"


def answered(scene: Scene, judged: Judged) -> Step:
    """The same round goes on with the answer; a person is not bound by the cap."""
    current = judged.escalation
    if current is None:
        return Step()
    given = current.task.variables
    missing_forgotten(scene.pull)
    answer_remembered(current, scene.now)
    rounds = min(MOST_ROUNDS, scene.row.max_rounds + int(given.get("extraRounds", 0)))
    return _goes_on(current, answer_of=current, max_rounds=rounds)


def answered_waive(scene: Scene, judged: Judged) -> Step:
    """A person lets pass what the task listed, and the gate looks again."""
    current = judged.escalation
    if current is None:
        return Step()
    waived = waivers_give(current, scene.now)
    return Step(
        columns={"stale": False},
        timer_at=review_deadline(scene.now),
        guards={**_by(current), "waived": waived},
        note=f"let pass by {current.task.answered_by}",
    )


def abandoned(scene: Scene, judged: Judged) -> Step:
    """A person ends it with the answer."""
    del scene
    current = judged.escalation
    who = current.task.answered_by if current else ""
    guards = _by(current) if current else {}
    return Step(guards=guards, outcome=f"abandoned by {who.removeprefix('operator:')}")


def answer_recalled(scene: Scene, judged: Judged) -> Step:
    """A question of the agent that a person has answered before: the same round goes on with that answer."""
    step = asked(scene, judged)
    return _recalled(scene, judged, agent_asked(scene, judged), step)


def scope_answer_recalled(scene: Scene, judged: Judged) -> Step:
    """A reason of the classifier on which a person has ruled before."""
    step = scope_blocked(scene, judged)
    return _recalled(scene, judged, scope_asked(scene, judged), step)


def _recalled(scene: Scene, judged: Judged, question: Question, step: Step) -> Step:
    memory = judged.memory
    if memory is None:
        return step
    recalled = escalation_recall(
        pull=scene.pull,
        row=scene.row,
        round_number=scene.row.round,
        question=question,
        form=answer_form(question),
        earlier=memory.escalation,
        now=scene.now,
    )
    goes_on = _goes_on(recalled, answer_of=memory.escalation)
    return replace(
        goes_on,
        effects=step.effects,
        guards={**step.guards, **goes_on.guards, "remembered": memory.escalation.task_id},
        note=f"answered from memory by {memory.decided_by}",
    )


def _goes_on(current: Escalation, *, answer_of: Escalation, **columns: Any) -> Step:
    """The columns with which the next turn gets question and answer; an answer about the scope also rules on it."""
    columns |= {
        "answer": str(answer_of.task.variables.get("answer", "")),
        "answer_question": current.text,
        "answer_from": current,
        "stale": False,
    }
    if current.reason == SCOPE:
        columns["scope_ruling"] = current
    return Step(columns=columns, guards=_by(current), note=f"answered by {current.task.answered_by}")


def _by(current: Escalation) -> dict[str, Any]:
    return {"task": current.task_id, "answeredBy": current.task.answered_by}
