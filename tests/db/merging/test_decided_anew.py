"""Between the decision to merge and its call something comes up that the forge would not mind: no call is made."""

import json

import pytest

from merging.models import HoldKind
from merging.services.holds import hold_set
from runs.queue.limits.pauses import pause_set
from tests.db.merging.stage import PERSON, REPO
from tests.db.merging.test_merge_call import ready

PROTOCOL = ".github/merge-protocol.json"


def declares_another(stage, pull):
    other = stage.pull_on_forge("feat/other")
    stage.sim.verbs.edit(pull, body=f"Depends-on: #{other.number}")


def is_paused(_stage, _pull):
    pause_set(scope="repository", key=REPO, reason="Freeze.", actor=PERSON)


def is_held(stage, _pull):
    hold_set(stage.pull, HoldKind.TRIAL_MERGE, group="plan:1", actor=PERSON)


def wants_a_fresh_base(stage, _pull):
    hold_set(stage.pull, HoldKind.FRESH_BASE, group="plan:1", actor=PERSON)
    stage.sim.verbs.push(REPO, "main", {"OTHER.md": "other\n"}, "Other")


def is_reviewed(stage, pull):
    stage.sim.world.clock.advance(120)
    stage.sim.verbs.review(pull, "maria", "CHANGES_REQUESTED", "Not like this.")


def only_people_may(stage, _pull):
    stage.sim.verbs.push(REPO, "main", {PROTOCOL: json.dumps({"land": {"method": "ui"}})}, "Declare")


def base_is_guarded(stage, _pull):
    stage.policy("reviewers: []\nmerging: {approvalBases: [main]}\n")


def is_retargeted(stage, pull):
    stage.sim.verbs.push(REPO, "next", {"NEXT.md": "next\n"}, "Next")
    stage.sim.verbs.edit(pull, base="next")


@pytest.mark.parametrize(
    ("comes_up", "then"),
    [
        (declares_another, "waiting_deps"),
        (is_paused, "waiting_merge"),
        (is_held, "waiting_merge"),
        (wants_a_fresh_base, "updating_branch"),
        (is_reviewed, "returned"),
        (only_people_may, "escalated"),
        (base_is_guarded, "escalated"),
        (is_retargeted, "merging"),
    ],
)
def test_what_comes_up_after_the_decision_stops_the_call(stage, comes_up, then):
    """MG-H2, MG-S24: the next look waits, asks or goes back for it, and nothing is counted."""
    pull = ready(stage)
    comes_up(stage, pull)
    pull.merge_lag_left = 0  # the forge has computed it anew
    stage.deliver()
    assert (stage.calls(), pull.state, stage.outcomes) == (0, "OPEN", [("retry", "not_ready")])

    for _ in range(5):
        if stage.flow.state != then:
            stage.look()
    assert stage.flow.state == then
    assert stage.flow.merge_retries == (1 if then == "updating_branch" else 0)
