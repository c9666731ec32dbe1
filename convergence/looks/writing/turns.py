"""What the edges of a turn write: its entry, its end, and what the branch says about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from convergence.backlog import EMPTY, build_backlog
from convergence.decisions.agent_result import AgentVerdict
from convergence.decisions.schedule import husk_pause
from convergence.guards import husk, progressed
from convergence.looks.deadlines import review_deadline
from convergence.looks.judging.reviews import advisories_left
from convergence.looks.request import review_request
from convergence.looks.writing.own_words import said_now, said_then, thread_effects
from convergence.services.findings import churn_told, findings_now, findings_record
from convergence.services.move import Step
from convergence.services.reviews import reviews_consumed
from convergence.services.rounds import backlog_before, turn_begin, turn_checked, turn_end
from runs.contract.canonical import canonical_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from convergence.looks.judging.judged import Judged
    from convergence.looks.scene import Scene


def entry(scene: Scene, judged: Judged) -> Step:
    """A turn begins: its baseline, its backlog, its run; the reviews that it is given are consumed.

    With the first turn of a round the standing of each finding is recorded.
    """
    del judged
    row = scene.row
    backlog = _backlog(scene)
    begun = turn_begin(row, scene.pull, head=scene.head, backlog=backlog, now=scene.now)
    given = [str(review["id"]) for review in backlog["reviews"]]
    if scene.open and scene.facts is not None and row.turn == 0:
        found = findings_now(scene.facts, scene.people, scene.reviews, scene.advisories.judged)
        findings_record(scene.pull, begun.round, found)
    reviews_consumed(scene.pull, given, generation=row.generation, round_number=row.round)
    turn = row.turn + 1
    return Step(
        columns={
            "turn": turn,
            "answer": "",
            "answer_question": "",
            "answer_from": row.answer_from if row.answer else None,
            "gate_left": {},
            "waiting_since": None,
            "stale": False,
        },
        guards={"turn": turn},
        run=_asked_with(scene, turn, backlog),
    )


def _backlog(scene: Scene) -> Any:
    if not scene.open or scene.facts is None:
        return backlog_before(scene.row) or EMPTY
    known = {review.forge_id: review for review in scene.reviews}
    beside = len(canonical_bytes([scene.row.answer, scene.row.answer_question]))
    return build_backlog(scene.facts, scene.people, known, advisories=advisories_left(scene), beside=beside)


def _asked_with(scene: Scene, turn: int, backlog: Any) -> Callable[[int], Any]:
    """The request as a function of the entry; built from the row as it is before the move clears the answer."""
    before = review_request(scene, turn=turn, backlog=backlog, entry=0)
    return lambda entry: replace(before, flow=replace(before.flow, entry=entry))


def _turn_ended(scene: Scene, verdict: AgentVerdict, status: str, outcome: str = "") -> None:
    if scene.turn is not None:
        reason = scene.run.reason_code or scene.run.state if scene.run else ""
        turn_end(scene.turn, verdict, status=status, outcome=outcome or reason, now=scene.now)


def claimed(scene: Scene, judged: Judged) -> Step:
    """The agent says that nothing is left; its words are posted, and the gate looks."""
    _turn_ended(scene, judged.verdict, "converged")
    backlog = scene.turn.backlog if scene.turn else {}
    return Step(
        timer_at=review_deadline(scene.now),
        effects=said_now(judged.verdict, backlog),
        note=_ignored(judged.verdict),
    )


def asked(scene: Scene, judged: Judged) -> Step:
    """The agent asks a person; its replies are posted, and nothing is resolved."""
    run = judged.facts.run
    refused = run is not None and run.asks_human
    verdict = replace(judged.verdict, question=run.question) if run and refused else judged.verdict
    _turn_ended(scene, verdict, "needs_input" if refused else verdict.status)
    return Step(effects=thread_effects(judged.verdict.threads, resolve=False), note=_ignored(judged.verdict))


def addressed(scene: Scene, judged: Judged) -> Step:
    """The turn ended with whatever else the agent said."""
    _turn_ended(scene, judged.verdict, judged.verdict.status)
    return Step(note=_ignored(judged.verdict))


def lost(scene: Scene, judged: Judged) -> Step:
    """Nobody finished the turn; the branch says whether anything was done."""
    del judged
    _turn_ended(scene, AgentVerdict(), "addressed")
    return Step()


def stopped(scene: Scene, judged: Judged) -> Step:
    """The run was refused, cancelled or took too long: the round waits for a person."""
    del judged
    _turn_ended(scene, AgentVerdict(), "blocked")
    return Step()


def unanswered(scene: Scene, judged: Judged) -> Step:
    """The answer in use was taken back: the turn that used it ends, and the question stands again."""
    _turn_ended(scene, AgentVerdict(), "needs_input", outcome="answer_reverted")
    used = judged.escalation
    columns: dict[str, Any] = {"answer": "", "answer_question": "", "answer_from": None}
    if used is not None and used.pk == scene.row.scope_ruling_id:
        columns["scope_ruling"] = None
    return Step(columns=columns, guards={"revertedBy": used.reverted_by if used else ""})


def _checked(scene: Scene, judged: Judged) -> None:
    if scene.turn is not None:
        facts = judged.facts
        probe = "progressed" if progressed(facts) else "husk" if husk(facts) else "no_advance"
        turn_checked(scene.turn, probe=probe, head=scene.head)


def moved_on(scene: Scene, judged: Judged) -> Step:
    """The branch moved: the agent's words are posted, and a review of the head is awaited."""
    _checked(scene, judged)
    return Step(
        columns={"waiting_since": scene.now, "waiting_head": scene.head or "", "husk_retries": 0},
        timer_at=review_deadline(scene.now),
        effects=said_then(scene.turn),
    )


def husk_retried(scene: Scene, judged: Judged) -> Step:
    """The same round starts once more, after a pause."""
    _checked(scene, judged)
    retries = scene.row.husk_retries
    return Step(columns={"husk_retries": retries + 1, "stale": False}, due_at=scene.now + husk_pause(retries))


def stuck(scene: Scene, judged: Judged) -> Step:
    """The branch did not move: a person is asked, and the retries begin anew."""
    _checked(scene, judged)
    return Step(columns={"husk_retries": 0})


def capped(scene: Scene, judged: Judged) -> Step:
    """All rounds are used."""
    _checked(scene, judged)
    return Step()


def churned(scene: Scene, judged: Judged) -> Step:
    """The rounds lead nowhere: a person is asked once about what is known now."""
    _checked(scene, judged)
    churn_told(scene.pull, scene.row.generation)
    point = judged.churn.point if judged.churn else None
    return Step(
        columns={"churn_round": scene.row.round},
        guards={"churn": judged.churn.reason if judged.churn else None, "point": point.fingerprint if point else None},
    )


def _ignored(verdict: AgentVerdict) -> str:
    return f"{verdict.ignored} entries of the result are not of this backlog" if verdict.ignored else ""
