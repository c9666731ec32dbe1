"""What goes before what: dependencies in bodies and submits, drops, lanes, holds and pauses."""

from merging.models import Dependency, HoldKind, MergeFlow
from merging.services.dependencies import dependency_drop
from merging.services.holds import hold_release, hold_set
from merging.services.lanes import lane_pass
from runs.models import Pause
from runs.queue.limits.pauses import pause_lift, pause_set
from tests.db.histories.moves.code import open_pull
from tests.db.histories.moves.people import PERSON, allowed, submit
from tests.db.histories.moves.table import move


@move(3)
def a_body_declares(stage):
    """Others, itself, an issue, a number that is none, a repository that nobody can read, or nothing."""
    pull = open_pull(stage)
    if pull is None:
        return
    others = [other for other in stage.pulls if other is not pull]
    names = [f"#{other.number}" for other in others] * 3 + [f"#{pull.number}", "#404", "elsewhere/lost#1", "nonsense"]
    body = f"Depends-on: {stage.one(names)}" if stage.chance(0.6) else f"Sums up, {stage.count}."
    stage.sim.verbs.edit(pull, body=body)


@move(2)
def submitted_after_another(stage):
    pull, other = stage.one(stage.pulls), stage.one(stage.pulls)
    submit(stage, pull, other)


@move(2)
def a_dependency_is_dropped(stage):
    row = stage.one(Dependency.objects.in_force().select_related("pull__repository").order_by("id"))
    if row is None:
        return
    dependency_drop(row.pull, row.reference, actor=PERSON, reason="It may go first.")
    pull = next(pull for pull in stage.pulls if pull.number == row.pull.number)
    stage.merges.dropped_by_hand(pull, row.number)


@move(2)
def let_pass(stage):
    _, row = stage.one(stage.rows()) or (None, None)
    if row:
        allowed(stage, lambda: lane_pass(row, actor=PERSON, reason="It is urgent."))


@move(3)
def held_or_released(stage):
    """The plan holds a pull request, wants a fresh base for it, or lets go."""
    pull, row = stage.one(stage.rows()) or (None, None)
    if pull is None or row is None:
        return
    kind = stage.one([HoldKind.TRIAL_MERGE, HoldKind.FRESH_BASE, HoldKind.FRESH_BASE])
    held = stage.merges.holds[pull.number]
    if kind in held:
        hold_release(row, kind, group="plan:1", actor=PERSON)
        held.discard(kind)
    elif stage.chance(0.6):
        hold_set(row, kind, group="plan:1", actor=PERSON)
        held.add(kind)


@move(2)
def paused_or_resumed(stage):
    pause = Pause.objects.filter(lifted_at=None).first()
    if pause:
        pause_lift(pause_id=pause.pk, actor=PERSON)
        stage.merges.paused = False
    elif stage.chance(0.5):
        pause_set(scope="global", reason="Freeze.", actor=PERSON)
        stage.merges.paused = True


def released(stage):
    """Nothing of the product's own holds anything any more."""
    for pause in Pause.objects.filter(lifted_at=None):
        pause_lift(pause_id=pause.pk, actor=PERSON)
    stage.merges.paused = False
    for _, row in stage.rows():
        for kind in list(stage.merges.holds[row.number]):
            hold_release(row, kind, group="plan:1", actor=PERSON)
            stage.merges.holds[row.number].discard(kind)


def merging_now():
    """The number of the pull request whose merge is decided and not yet called; None when there is none."""
    return MergeFlow.rows().filter(state="merging").values_list("pull__number", flat=True).first()
