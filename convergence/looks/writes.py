"""What each edge writes beside the state: one function an edge, called inside the transaction of the move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.backlog import EMPTY, build_backlog
from convergence.decisions.agent_result import AgentVerdict, ThreadAnswer
from convergence.decisions.reviews import changes_requested
from convergence.decisions.schedule import husk_pause
from convergence.guards import husk, progressed
from convergence.looks.questions import question_of
from convergence.looks.request import review_request
from convergence.services.identity import missing_forgotten
from convergence.services.move import Step
from convergence.services.reviews import reviews_consumed
from convergence.services.rounds import backlog_before, gate_checked, turn_begin, turn_checked, turn_end
from runs.contract.canonical import canonical_bytes
from runs.flows.move import Effect

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

    from convergence.looks.facts import Judged
    from convergence.looks.scene import Scene
    from runs.machine import Edge

MOST_ROUNDS = 100
Write = Callable[["Scene", "Judged"], Step]


def step_of(edge: Edge, scene: Scene, judged: Judged) -> Step:
    """Write the rows that belong to the edge, and say what the move itself is to carry."""
    write = _WRITES.get(edge.name)
    step = write(scene, judged) if write else Step()
    facts = judged.facts
    guards = {
        "head": facts.head,
        "entryHead": facts.entry_head,
        "gate": judged.gate.result if judged.gate else None,
        "gateReason": judged.gate.reason if judged.gate else None,
        "huskRetries": scene.row.husk_retries,
        **step.guards,
    }
    step = replace(step, guards={name: value for name, value in guards.items() if value not in (None, "")})
    if edge.reason and step.question is None:
        step = replace(step, question=question_of(edge.reason, scene, judged))
    return step


def review_deadline(now: datetime) -> datetime:
    """When the wait for a review, or for a readable gate, is over."""
    limit: timedelta = settings.FACTORY.review_wait_timeout
    return now + limit


def _entry(scene: Scene, judged: Judged) -> Step:
    """A turn begins: its baseline, its backlog, its run; the reviews that it is given are consumed."""
    row = scene.row
    if scene.open and scene.facts is not None:
        known = {review.forge_id: review for review in scene.reviews}
        beside = len(canonical_bytes([row.answer, row.answer_question]))
        backlog: Any = build_backlog(scene.facts, scene.people, known, beside=beside)
    else:
        backlog = backlog_before(row) or EMPTY
    turn_begin(row, scene.pull, head=scene.head, backlog=backlog, now=scene.now)
    given = [str(review["id"]) for review in backlog["reviews"]]
    reviews_consumed(scene.pull, given, generation=row.generation, round_number=row.round)
    turn = row.turn + 1
    del judged
    return Step(
        columns={"turn": turn, "answer": "", "answer_question": "", "waiting_since": None, "stale": False},
        guards={"turn": turn},
        run=_asked_with(scene, turn, backlog),
    )


def _asked_with(scene: Scene, turn: int, backlog: Any) -> Callable[[int], Any]:
    """The request as a function of the entry; built from the row as it is before the move clears the answer."""
    before = review_request(scene, turn=turn, backlog=backlog, entry=0)
    return lambda entry: replace(before, flow=replace(before.flow, entry=entry))


def _turn_ended(scene: Scene, verdict: AgentVerdict, status: str) -> None:
    if scene.turn is not None:
        reason = scene.run.reason_code or scene.run.state if scene.run else ""
        turn_end(scene.turn, verdict, status=status, outcome=reason, now=scene.now)


def _claimed(scene: Scene, judged: Judged) -> Step:
    _turn_ended(scene, judged.verdict, "converged")
    return Step(
        timer_at=review_deadline(scene.now),
        effects=thread_effects(judged.verdict.threads),
        note=_ignored(judged.verdict),
    )


def _asked(scene: Scene, judged: Judged) -> Step:
    run = judged.facts.run
    refused = run is not None and run.asks_human
    verdict = replace(judged.verdict, question=run.question) if run and refused else judged.verdict
    _turn_ended(scene, verdict, "needs_input" if refused else verdict.status)
    return Step(effects=thread_effects(judged.verdict.threads, resolve=False), note=_ignored(judged.verdict))


def _addressed(scene: Scene, judged: Judged) -> Step:
    _turn_ended(scene, judged.verdict, judged.verdict.status)
    return Step(note=_ignored(judged.verdict))


def _lost(scene: Scene, judged: Judged) -> Step:
    del judged
    _turn_ended(scene, AgentVerdict(), "addressed")
    return Step()


def _stopped(scene: Scene, judged: Judged) -> Step:
    """The run was refused, cancelled or took too long: the round waits for a person."""
    del judged
    _turn_ended(scene, AgentVerdict(), "blocked")
    return Step()


def _checked(scene: Scene, judged: Judged) -> None:
    if scene.turn is not None:
        facts = judged.facts
        probe = "progressed" if progressed(facts) else "husk" if husk(facts) else "no_advance"
        turn_checked(scene.turn, probe=probe, head=scene.head)


def _progressed(scene: Scene, judged: Judged) -> Step:
    _checked(scene, judged)
    answers = scene.turn.replies if scene.turn else []
    return Step(
        columns=_waiting(scene) | {"husk_retries": 0},
        timer_at=review_deadline(scene.now),
        effects=thread_effects(ThreadAnswer(**answer) for answer in answers),
    )


def _waiting(scene: Scene) -> dict[str, Any]:
    return {"waiting_since": scene.now, "waiting_head": scene.head or ""}


def _husk_retried(scene: Scene, judged: Judged) -> Step:
    _checked(scene, judged)
    retries = scene.row.husk_retries
    return Step(
        columns={"husk_retries": retries + 1, "stale": False},
        due_at=scene.now + husk_pause(retries),
    )


def _stuck(scene: Scene, judged: Judged) -> Step:
    _checked(scene, judged)
    return Step(columns={"husk_retries": 0})


def _capped(scene: Scene, judged: Judged) -> Step:
    _checked(scene, judged)
    return Step()


def _empty_review(scene: Scene, judged: Judged) -> Step:
    row = scene.row
    fresh = [review.forge_id for review in judged.fresh]
    reviews_consumed(scene.pull, fresh, generation=row.generation, round_number=row.round)
    return Step(columns={"stale": False}, timer_at=review_deadline(scene.now), guards={"reviews": fresh})


def _review(scene: Scene, judged: Judged) -> Step:
    return Step(
        columns={"round": scene.row.round + 1, "turn": 0, "stale": False, "waiting_since": None},
        guards={"reviews": [review.forge_id for review in judged.fresh]},
    )


def _to_gate(scene: Scene, judged: Judged) -> Step:
    del judged
    return Step(columns={"stale": False}, timer_at=review_deadline(scene.now))


def _gated(scene: Scene, judged: Judged) -> None:
    if judged.gate is not None:
        gate_checked(scene.row, judged.gate, head=scene.head, counts=gate_counts(scene), now=scene.now, edge=True)


def gate_counts(scene: Scene) -> dict[str, int]:
    """What the gate counted."""
    facts = scene.facts
    return {
        "reviews": facts.reviews.total if facts and facts.reviews else 0,
        "threads": facts.threads.total if facts and facts.threads else 0,
        "openThreads": len(scene.threads),
        "changesRequested": len(changes_requested(scene.reviews)),
    }


def _gate_passed(scene: Scene, judged: Judged) -> Step:
    _gated(scene, judged)
    return Step(columns={"gate_head": scene.head or ""})


def _gate_stale(scene: Scene, judged: Judged) -> Step:
    _gated(scene, judged)
    return Step(columns=_waiting(scene) | {"stale": True}, timer_at=review_deadline(scene.now))


def _gate_asks(scene: Scene, judged: Judged) -> Step:
    _gated(scene, judged)
    return Step()


def _answered(scene: Scene, judged: Judged) -> Step:
    """The same round goes on with the answer; a person is not bound by the cap."""
    current = judged.escalation
    if current is None:
        return Step()
    given = current.task.variables
    missing_forgotten(scene.pull)
    rounds = min(MOST_ROUNDS, scene.row.max_rounds + int(given.get("extraRounds", 0)))
    return Step(
        columns={
            "answer": str(given.get("answer", "")),
            "answer_question": current.text,
            "max_rounds": rounds,
            "stale": False,
        },
        guards={"task": current.task_id, "answeredBy": current.task.answered_by},
        note=f"answered by {current.task.answered_by}",
    )


def _abandoned(scene: Scene, judged: Judged) -> Step:
    del scene
    who = judged.escalation.task.answered_by if judged.escalation else ""
    task = judged.escalation.task_id if judged.escalation else None
    return Step(guards={"task": task, "answeredBy": who}, outcome=f"abandoned by {who.removeprefix('operator:')}")


def thread_effects(answers: Iterable[ThreadAnswer], *, resolve: bool = True) -> tuple[Effect, ...]:
    """Replies and resolutions as effects, each thread's reply before its resolution."""
    effects = []
    for answer in answers:
        if answer.reply:
            effects.append(Effect("reply", {"thread_id": answer.id, "body": answer.reply}))
        if resolve and answer.resolve:
            effects.append(Effect("resolve", {"thread_id": answer.id}))
    return tuple(effects)


def _ignored(verdict: AgentVerdict) -> str:
    return f"{verdict.ignored} threads of the result are not of this backlog" if verdict.ignored else ""


_WRITES: dict[str, Write] = {
    "entry_captured": _entry,
    "claimed_converged": _claimed,
    "asked_input": _asked,
    "asked_blocked": _asked,
    "turn_addressed": _addressed,
    "run_refused": _stopped,
    "run_cancelled": _stopped,
    "agent_sla_passed": _stopped,
    "turn_lost": _lost,
    "round_cap_reached": _capped,
    "progressed": _progressed,
    "husk_retried": _husk_retried,
    "husk_exhausted": _stuck,
    "no_advance": _stuck,
    "empty_review_arrived": _empty_review,
    "review_arrived": _review,
    "stale_no_more": _to_gate,
    "reviewer_unavailable_passed": _to_gate,
    "gate_passed": _gate_passed,
    "gate_stale": _gate_stale,
    "gate_blocked": _gate_asks,
    "gate_unverifiable": _gate_asks,
    "answered": _answered,
    "answered_abandon": _abandoned,
}
