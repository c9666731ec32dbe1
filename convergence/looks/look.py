"""The flow's look: facts first, then at most one edge a row; a row that raises backs off alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from convergence.decisions.schedule import EFFECT_RELOOK, RELOOK, RELOOK_MAX, forge_pause, poll_pause
from convergence.flow import CONVERGENCE_MACHINE
from convergence.flow import ConvergenceState as S
from convergence.forge.governor.purposes import Purpose
from convergence.forge_access import forge_client
from convergence.looks.deadlines import review_deadline
from convergence.looks.judging.facts import judge
from convergence.looks.judging.reviews import reviewers_back_at
from convergence.looks.nudges import nudge_add, nudges_open
from convergence.looks.quiet import quiet_left, quiet_waits
from convergence.looks.reading import pulls_loaded, rows_read
from convergence.looks.scene import scene_of
from convergence.looks.writing.edges import step_of
from convergence.looks.writing.reviews import gate_noted
from convergence.models import ConvergenceFlow, RoundTurn
from convergence.services.move import convergence_move
from runs.clock import now as clock_now
from runs.contract.errors import Refused, Transient
from runs.flows.looks import look_done, looks_each
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts
    from convergence.looks.judging.judged import Judged
    from convergence.looks.scene import Scene
    from convergence.models import PullRequest
    from runs.contract.errors import FactoryError
    from runs.machine import Edge
    from runs.models.flow_row import FlowRow

TIMER_EDGES = frozenset({"agent_sla_passed", "review_stalled"})


def convergence_look(rows: Sequence[FlowRow]) -> None:
    """Read the rows' facts in shared requests and advance each; never raises for a single row."""
    flows = [row for row in rows if isinstance(row, ConvergenceFlow)]
    client = forge_client(Purpose.POLL)
    pulls = pulls_loaded(flows)
    read_from = clock_now()
    outcomes = rows_read(client, flows, pulls)
    seconds = settings.FACTORY.poll_seconds * client.poll_factor()
    changed = quiet_left(flows, outcomes, seconds=seconds, now=clock_now())
    looks_each(changed, lambda row: look_at(client, row, pulls[row.pull_id], outcomes[row.pk], read_from=read_from))


def look_at(
    client: ForgeClient,
    row: ConvergenceFlow,
    pull: PullRequest,
    outcome: PullFacts | FactoryError,
    *,
    read_from: datetime,
) -> None:
    """One row: gather, judge, then take the edge or set the next look. Raises ``Refused`` for a lost race.

    ``outcome`` was read after ``read_from``.
    """
    scene = scene_of(client, row, pull, outcome, read_from=read_from)
    judged = judge(scene)
    edge = CONVERGENCE_MACHINE.advance(row.state, "look", judged.facts)
    if edge is None:
        _stay(scene, judged)
        return
    with joined_transaction():
        _take(scene, judged, edge)


def _hold(row: ConvergenceFlow) -> None:
    """Lock the row as it was read, ahead of what the edge writes beside it and of the pull request's own row.

    A wake-up during a look lets a second one begin; the slower has nothing to write and raises ``Refused``.
    """
    if ConvergenceFlow.rows().select_for_update().filter(pk=row.pk, version=row.version).first() is None:
        raise Refused("moved_on", f"{row.subject} was moved by somebody else", details={"state": row.state})


def _take(scene: Scene, judged: Judged, edge: Edge) -> None:
    row = scene.row
    by_timer = edge.name in TIMER_EDGES or (row.state == S.SCOPE_CHECK and judged.facts.run is None)
    actor = "timer" if by_timer and judged.facts.timer_passed else "poller"
    _hold(row)
    step = step_of(edge, scene, judged)
    convergence_move(row, edge, pull=scene.pull, actor=actor, now=scene.now, step=step)
    ConvergenceFlow.rows().filter(pk=row.pk).update(last_look_at=scene.now)
    if step.run is not None and row.state == S.REVIEW_ROUND:
        RoundTurn.objects.filter(
            round__pull=scene.pull, round__generation=row.generation, round__number=row.round, turn=row.turn
        ).update(run_id=row.run_id)


def _stay(scene: Scene, judged: Judged) -> None:
    """Nothing moves: record the look, what the wait itself writes, and ask reviewers whose window is open."""
    row = scene.row
    columns = _columns(scene, judged)
    opens = nudges_open(scene) if row.state == S.AWAIT_REVIEW else {}
    names = [name for name, at in opens.items() if at is None or at <= scene.now]
    due_at = scene.now + _pause(scene, judged)
    with joined_transaction():
        still = look_done(row, due_at=due_at, now=scene.now, columns=columns)
        if scene.facts is None and scene.error is not None:
            text = f"{scene.error.code}: {scene.error.message}"[:500]
            ConvergenceFlow.rows().filter(pk=row.pk, version=row.version).update(last_look_error=text)
        if row.state == S.CONVERGE_GATE:
            gate_noted(scene, judged, edge=False)
        for name in names if still else ():
            nudge_add(scene, name)
    if still and not names and scene.watch is not None and scene.facts is scene.watch:
        waits = [columns.get("timer_at", row.timer_at), *opens.values(), reviewers_back_at(scene)]
        changes_at = min((at for at in waits if at is not None), default=None)
        quiet_waits.remember(row, scene.watch, due_at=due_at, now=scene.now, changes_at=changes_at)


def _columns(scene: Scene, judged: Judged) -> dict[str, Any]:
    row = scene.row
    if row.state in {S.CAPTURE_HEAD, S.CHECK_PROGRESS} and not judged.facts.settled:
        return {"relooks": row.relooks + 1}
    if row.state in {S.REVIEW_ROUND, S.SCOPE_CHECK} and judged.timer_at != row.timer_at:
        return {"timer_at": judged.timer_at}
    if row.state == S.AWAIT_REVIEW and scene.head is not None and scene.head != row.waiting_head:
        return {"waiting_since": scene.now, "waiting_head": scene.head, "timer_at": review_deadline(scene.now)}
    if row.state == S.CONVERGE_GATE and scene.facts is None and row.timer_at is not None:
        unread = scene.now - (row.last_look_at or row.entered_at)
        return {"timer_at": row.timer_at + max(unread, timedelta())}  # the clock stands still while nothing is read
    return {}


def _pause(scene: Scene, judged: Judged) -> timedelta:
    """How long until the next look; a forge that may not be asked is asked no sooner than it says."""
    row = scene.row
    if judged.effects_pending:
        return EFFECT_RELOOK
    if row.state in {S.CAPTURE_HEAD, S.CHECK_PROGRESS} and row.relooks < RELOOK_MAX:
        pause = RELOOK
    else:
        pause = poll_pause(row.state, settings.FACTORY.poll_seconds) * scene.client.poll_factor()
    if isinstance(scene.error, Transient):
        pause = max(pause, forge_pause(scene.error))
    return pause
