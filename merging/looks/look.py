"""The flow's look: facts first, then at most one edge a row; a row that raises backs off alone."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError

from convergence.forge.facts import Profile
from convergence.forge.governor.purposes import Purpose
from convergence.forge.reading import read_pulls
from convergence.forge_access import forge_client, pull_ref
from merging.decisions.mergeability import COMPUTING
from merging.decisions.timing import next_look
from merging.facts import Facts, Verdict
from merging.flow import AGENT_STATES, EFFECT_STATES, MERGE_MACHINE, READY_STATES, MergeState
from merging.looks.dependencies import dependencies_look
from merging.looks.facts import effect_pending, facts_of
from merging.looks.scene import Scene, scene_of
from merging.looks.steps import taken
from merging.models import MergeFlow
from merging.services.lanes import LANE_AHEAD
from merging.services.move import BASE_BUSY, merge_move
from runs.clock import now as clock_now
from runs.contract.errors import NotFound, Refused
from runs.flows.looks import look_done, look_failed, looks_each
from runs.transactions import joined_transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convergence.forge.client import ForgeClient
    from convergence.forge.facts import PullFacts
    from runs.contract.errors import FactoryError
    from runs.machine import Edge
    from runs.models.flow_row import FlowRow

_random = random.SystemRandom()

POLL_SPREAD = 0.1
RESTING = "retry_pause"
EFFECT_RELOOK = timedelta(seconds=30)  # while an effect outlives its time, until its outcome is known


def merge_look(rows: Sequence[FlowRow]) -> None:
    """Read the rows' facts in shared requests and advance each; never raises for a single row."""
    flows = _loaded(rows)
    reading = [row for row in flows if not _effect_at_work(row)]
    outcomes = _read(forge_client(Purpose.POLL), reading) if reading else {}
    warnings = dependencies_look(forge_client(Purpose.POLL), reading, outcomes) if reading else {}
    looks_each(
        flows,
        lambda row: (
            _look_at(row, outcomes[row.pk], warnings.get(row.pk)) if row.pk in outcomes else _left_to_effect(row)
        ),
    )


def _loaded(rows: Sequence[FlowRow]) -> list[MergeFlow]:
    """The rows with their pull requests, as they were claimed; one that moved since then is left to its next look."""
    fresh = MergeFlow.rows().select_related("pull__repository").in_bulk([row.pk for row in rows])
    kept = []
    for row in rows:
        flow = fresh.get(row.pk)
        if flow is not None and flow.version == row.version and not flow.is_terminal:
            flow.due_at = row.due_at
            kept.append(flow)
    return kept


def _effect_at_work(row: MergeFlow) -> bool:
    """Whether the merge effect still has its time: it reads the pull request itself, and tells the outcome."""
    in_time = row.timer_at is not None and row.timer_at > clock_now()
    return row.state in EFFECT_STATES and in_time and effect_pending(row)


def _left_to_effect(row: MergeFlow) -> None:
    now = clock_now()
    look_done(row, due_at=max(row.timer_at or now, now + EFFECT_RELOOK), now=now)


def _read(client: ForgeClient, rows: Sequence[MergeFlow]) -> dict[int, PullFacts | FactoryError]:
    outcomes: dict[int, PullFacts | FactoryError] = {}
    for profile in (Profile.ALIVE, Profile.HELD, Profile.MERGE):
        refs = {row.pk: pull_ref(row.pull) for row in rows if _profile(row) is profile}
        if refs:
            found = read_pulls(client, profile, list(refs.values()))
            outcomes |= {key: found[ref] for key, ref in refs.items()}
    return outcomes


def _profile(row: MergeFlow) -> Profile:
    if row.state in AGENT_STATES:
        return Profile.ALIVE
    return Profile.HELD if row.state in {MergeState.WAITING_DEPS, MergeState.WAITING_LANE} else Profile.MERGE


def _look_at(row: MergeFlow, outcome: PullFacts | FactoryError, warnings: Sequence[str] | None) -> None:
    """One row: gather, decide, then take the edge or set the next look. Raises ``Refused`` if it was moved."""
    scene = scene_of(forge_client(Purpose.MERGE), row, row.pull, outcome, clock_now(), warnings=warnings)
    facts = facts_of(scene)
    edge = MERGE_MACHINE.advance(row.state, "look", facts)
    if edge is not None:
        try:
            _take(edge, scene, facts)
        except IntegrityError:
            if edge.target != MergeState.MERGING:
                raise
            _stay(scene, facts, held=BASE_BUSY)  # another flow of this base was faster
        except Refused as error:
            if error.code != LANE_AHEAD:
                raise
            _stay(scene, facts, held=LANE_AHEAD)  # a neighbour of its lane was faster
    elif scene.error is not None and not isinstance(scene.error, NotFound):
        look_failed(row, scene.error)
    else:
        _stay(scene, facts, held=scene.held or _held(facts))


def _take(edge: Edge, scene: Scene, facts: Facts) -> None:
    found = taken(edge, scene, facts)
    row = scene.row
    with joined_transaction():
        merge_move(row, edge, pull=scene.pull, actor=found.actor, now=scene.now, step=found.step)
        found.also()
        MergeFlow.rows().filter(pk=row.pk).update(last_look_at=scene.now)


def _held(facts: Facts) -> str:
    if facts.verdict is not Verdict.READY:
        return ""
    return BASE_BUSY if facts.base_busy else RESTING if facts.resting else ""


def _stay(scene: Scene, facts: Facts, *, held: str) -> None:
    """Nothing moves: record the look, what it found, and when the next one is."""
    row, now = scene.row, scene.now
    reason = scene.found.reason if scene.found else ""
    looks = 0 if _begins_anew(scene, reason) else row.looks
    columns = {**scene.columns, "looks": looks + 1, "held_reason": held}
    if row.state in READY_STATES and scene.read is not None:
        columns["base_ref"] = scene.read.base_ref
    look_done(row, due_at=_due_at(scene, facts, reason, looks), now=now, columns=columns)


def _begins_anew(scene: Scene, reason: str) -> bool:
    """Whether looks are counted from this one: the reason is another, or the forge computes for other commits.

    On a busy base each landing has it compute again; a count that went on would leave the pull request to the poll.
    """
    row = scene.row
    if reason and reason != row.verdict_reason:
        return True
    commits = (scene.columns.get("verdict_head"), scene.columns.get("verdict_base_sha"))
    return reason == COMPUTING and commits != (row.verdict_head, row.verdict_base_sha)


def _due_at(scene: Scene, facts: Facts, reason: str, looks: int) -> datetime:
    row, now = scene.row, scene.now
    poll = settings.FACTORY.poll_seconds * scene.client.poll_factor()
    seconds = poll * (1 + _random.uniform(-POLL_SPREAD, POLL_SPREAD))
    due = next_look(
        state=row.state,
        reason=reason,
        looks=looks,
        entered_at=row.entered_at,
        now=now,
        poll=timedelta(seconds=seconds),
    )
    timer = scene.columns.get("timer_at", row.timer_at)
    waits_for = [timer] if facts.verdict is not Verdict.READY else [row.retry_at]
    return min([due, *(instant for instant in waits_for if instant is not None and instant > now)])
