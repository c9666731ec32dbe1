"""Why a convergence flow waits and what would move it, from rows alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.decisions.schedule import agent_time
from convergence.flow import CONVERGENCE_WAKES
from convergence.flow import ConvergenceState as S
from convergence.forge_access import people_of
from convergence.models import ConvergenceFlow, GateCheck, ReviewRequest
from convergence.services.escalations import escalation_current
from convergence.texts import short
from runs.clock import now as clock_now
from runs.flow import RunState
from runs.flows.move import EFFECT_TOPIC
from runs.flows.registry import Waiting, Wake
from runs.models import Attempt, Run
from runs.models.outbox import Outbox
from runs.outbox.dispatch import PENDING
from runs.queue.limits.blocking import PAUSES
from runs.queue.waiting import run_waiting

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

AGENT_STATES = frozenset({S.REVIEW_ROUND, S.SCOPE_CHECK})
BUDGETS = frozenset({"day_budget", "subject_budget", "run_budget"})
OPEN = Wake("pull_request", "open", "merged or closed by anybody")


def waiting_for(row: Any) -> Waiting:
    """The reason in one word and one sentence, and each fact that would move the flow: now, and as it needs to be."""
    flow = ConvergenceFlow.rows().select_related("pull__repository").get(pk=row.pk)
    now = clock_now()
    reason, sentence, facts = _STATES[flow.state](flow, now) if flow.state in _STATES else ("", "", {})
    wakes = {**facts, "pull_request": OPEN}
    return Waiting(
        reason=reason,
        sentence=sentence,
        since=flow.waiting_since or flow.entered_at,
        due_at=flow.timer_at,
        would_move_on=[wakes[fact] for fact in CONVERGENCE_WAKES.get(flow.state, ())],
        last_look_at=flow.last_look_at,
        last_look_error=flow.last_look_error,
        next_look_at=flow.due_at,
        paused_by=paused_by(flow.last_look_error) or _held_by(flow),
    )


def paused_by(error: str) -> str | None:
    """Whether the forge keeps the flow from being looked at, told from the last look's error."""
    if error.startswith("forge_limited"):
        return "forge_limit"
    return "forge_unavailable" if error.startswith("forge_") else None


def _held_by(flow: ConvergenceFlow) -> str | None:
    """What keeps the agent that is asked for from beginning: a person's pause, or a budget."""
    if flow.state not in AGENT_STATES or not flow.run_id:
        return None
    run = Run.objects.select_related("placement_class").filter(run_id=flow.run_id, state=RunState.QUEUED).first()
    told = run_waiting(run) if run is not None else None
    if told is None:
        return None
    if told.code in PAUSES.values():
        return "pause_switch"
    return "budget" if told.code in BUDGETS else None


def _left(until: datetime | None, now: datetime) -> str:
    """The time until an instant, as people say it."""
    if until is None:
        return "not armed"
    seconds = (until - now).total_seconds()
    if seconds <= 0:
        return "due"
    return f"{round(seconds)} s left" if seconds < 90 else f"{round(seconds / 60)} min left"  # noqa: PLR2004  # 1.5 min


def _reading(flow: ConvergenceFlow, now: datetime) -> tuple[str, str, dict[str, Wake]]:
    read = "not read yet" if flow.last_look_at is None or flow.last_look_at < flow.entered_at else "could not be read"
    when = _left(flow.due_at, now).replace(" left", " from now").replace("due", "now")
    need = f"the head of {flow.pull.head_ref or 'the branch'}, read {when}"
    sentence = f"The head of {flow.pull.key} is about to be read."
    if flow.husk_retries and flow.state == S.CAPTURE_HEAD:
        sentence = f"The agent died; start {flow.husk_retries + 1} of 3 begins after a pause."
    return "reading_head", sentence, {"head_read": Wake("head_read", read, need)}


def _agent(flow: ConvergenceFlow, now: datetime) -> tuple[str, str, dict[str, Wake]]:
    run = Run.objects.filter(run_id=flow.run_id).first()
    timer = Wake("timer", _left(flow.timer_at, now), f"the agent's time over, then {_then(flow)}")
    if run is None:
        lost = Wake("run_ended", "no run", "a run")
        return "agent_queued", "The agent's run is about to be queued.", {"run_ended": lost, "timer": timer}
    if run.first_claimed_at is None:
        told = run_waiting(run)
        why = told.text if told else f"it is {run.state}"
        ended = Wake("run_ended", f"queued: {why}", f"{run.run_id} claimed by a worker, and its end")
        not_armed = Wake("timer", "starts with the first claim", timer.need)
        sentence = f"The agent waits for a worker: {why}."
        return "agent_queued", sentence, {"run_ended": ended, "timer": not_armed}
    attempt = Attempt.objects.filter(run=run).order_by("-id").first()
    worker = attempt.worker_id if attempt else "nobody"
    until = f"until {attempt.deadline_at:%H:%M} UTC" if attempt else "until its end"
    ended = Wake("run_ended", f"{run.state} on {worker}, attempt {run.attempt_number}", f"the end of the run, {until}")
    ends = run.first_claimed_at + agent_time(settings.FACTORY.agent_sla_timeout, run.extended_seconds)
    ends = max(ends, flow.timer_at or ends)  # a pause has set it anew
    timer = Wake("timer", _left(ends, now), timer.need)
    return "agent_running", f"The agent works on {worker}, {until}.", {"run_ended": ended, "timer": timer}


def _then(flow: ConvergenceFlow) -> str:
    """What follows when the agent of the step does not end in time."""
    return "it goes on without the check" if flow.state == S.SCOPE_CHECK else "a person is asked"


def _review(flow: ConvergenceFlow, now: datetime) -> tuple[str, str, dict[str, Wake]]:
    sha = flow.waiting_head or flow.pull.head_sha
    head = short(sha) if sha else "the head (GitHub does not show it now)"
    names = ", ".join(each.name for each in people_of(flow.pull.repository.full_name).reviewers) or "any reviewer"
    requests = list(
        ReviewRequest.objects.filter(pull=flow.pull_id, generation=flow.generation, head=flow.waiting_head).order_by(
            "id"
        )
    )
    often = "once" if len(requests) == 1 else f"{len(requests)} times"
    asked = f"; asked {often}, last: {requests[-1].outcome or 'not observed yet'}" if requests else ""
    review = Wake("fresh_review", f"none for {head}{asked}", f"a review by {names} of {head}")
    until = f"{flow.timer_at:%H:%M} UTC" if flow.timer_at else "the review wait timeout"
    timer = Wake("timer", _left(flow.timer_at, now), f"{until}, then a person is asked")
    return "review_of_head", f"A review of {head} by {names} is awaited.", {"fresh_review": review, "timer": timer}


def _gate(flow: ConvergenceFlow, now: datetime) -> tuple[str, str, dict[str, Wake]]:
    pending = Outbox.objects.filter(PENDING, topic=EFFECT_TOPIC, stream=flow.subject).count()
    timer = Wake("timer", _left(flow.timer_at, now), "readable until then, else a person is asked")
    if pending:
        told = Wake("gate_read", f"{pending} replies under way", "all of them observed, then reviews and threads read")
        return "gate_effects", "The product's own replies are being posted.", {"gate_read": told, "timer": timer}
    last = GateCheck.objects.filter(pull=flow.pull_id, generation=flow.generation).order_by("-id").first()
    why = last.reason if last and last.result == "unreadable" else "not read yet"
    told = Wake("gate_read", why, "reviews and threads read to their full count")
    return "gate_unreadable", "The gate reads reviews and threads.", {"gate_read": told, "timer": timer}


def _human(flow: ConvergenceFlow, now: datetime) -> tuple[str, str, dict[str, Wake]]:
    del now
    current = escalation_current(flow.pull)
    if current is None:
        return "human_answer", "A person's answer is awaited.", {"answer": Wake("answer", "none", "an answer")}
    due = f"{current.task.due_at:%Y-%m-%d %H:%M} UTC"
    answer = Wake("answer", f"task {current.task_id} open", f"an answer by an operator, due {due}")
    return "human_answer", f"A person is asked: {current.task.question}", {"answer": answer}


_STATES: dict[str, Callable[[ConvergenceFlow, datetime], tuple[str, str, dict[str, Wake]]]] = {
    S.CAPTURE_HEAD: _reading,
    S.REVIEW_ROUND: _agent,
    S.CHECK_PROGRESS: _reading,
    S.SCOPE_CHECK: _agent,
    S.AWAIT_REVIEW: _review,
    S.CONVERGE_GATE: _gate,
    S.AWAIT_ANSWER: _human,
}
