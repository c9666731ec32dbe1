"""Lanes: direct neighbours land one after another; nobody waits for one that is not in motion."""

import pytest
from django.db import transaction

from convergence.models import PullRequest
from merging.models import LaneEdge, LaneMember, MergeFlow
from merging.selectors import merge_detail
from merging.services.lanes import Exclusion, Task, lane_checked, lane_pass, lanes_set
from runs.contract.errors import Invalid, Refused
from tests.db.merging.stage import PERSON, REPO


def flow_of(pull):
    return MergeFlow.rows().get(pull__number=pull.number)


def row_of(pull):
    return PullRequest.objects.select_related("repository").get(number=pull.number)


@pytest.fixture
def lane(stage):
    """Three converged pull requests; one and two touch the same file, as do two and three."""
    stage.repository()
    stage.sim.verbs.protect(REPO, approvals=1)  # so that nothing lands yet
    pulls = [stage.pull_on_forge(f"feat/{name}", files={f"{name}.py": "x = 1\n"}) for name in ("a", "b", "c")]
    for pull in pulls:
        stage.converged(pull)
    stage.settle()
    tasks = [Task(name, 0, place, row_of(pull)) for place, (name, pull) in enumerate(zip("abc", pulls, strict=True))]
    lanes_set("plan:1", tasks, [Exclusion("a", "b", ("shop.py",)), Exclusion("c", "b")])
    return pulls


def test_of_two_ready_neighbours_one_lands_and_the_other_follows(stage, lane):
    """MG-S23: b waits for a; c has no edge with a and does not."""
    first, second, third = lane
    stage.sim.verbs.protect(REPO)
    for _ in range(3):
        stage.look()
        if flow_of(second).state == "waiting_lane":
            break
    assert flow_of(second).state == "waiting_lane"
    assert flow_of(third).state != "waiting_lane"
    assert row_of(second).state == "waiting_lane"
    shown = merge_detail(row_of(second))["lane"]
    assert shown["order"] == [first.key, second.key, third.key]
    assert shown["ahead"] == [first.key]

    stage.settle(passes=30)
    assert {flow_of(pull).state for pull in lane} == {"merged"}
    landed = list(MergeFlow.rows().order_by("ended_at").values_list("pull__number", flat=True))
    assert landed.index(first.number) < landed.index(second.number)


def test_the_head_of_the_lane_lets_the_others_by_once_a_person_is_asked(stage, lane):
    """MG-S23: escalated is not in motion."""
    first, second, _ = lane
    stage.sim.verbs.edit(first, draft=True)
    stage.sim.verbs.protect(REPO)
    stage.settle(passes=30)
    assert (flow_of(first).state, flow_of(second).state) == ("escalated", "merged")


def test_a_member_that_still_converges_holds_nobody(stage, lane):
    _, second, _ = lane
    LaneMember.objects.filter(name="a").update(pull=None)
    stage.sim.verbs.protect(REPO)
    stage.settle(passes=30)
    assert flow_of(second).state == "merged"


def test_a_person_lets_one_pass_and_says_why(stage, lane):
    first, second, _ = lane
    with pytest.raises(Invalid):
        lane_pass(row_of(second), actor=PERSON, reason=" ")
    assert lane_pass(row_of(second), actor=PERSON, reason="It is urgent.") == 1
    assert lane_pass(row_of(second), actor=PERSON, reason="Again.") == 0
    assert merge_detail(row_of(second))["lane"]["passedBy"] == PERSON
    stage.sim.verbs.protect(REPO)
    stage.settle(passes=30)
    landed = list(MergeFlow.rows().order_by("ended_at").values_list("pull__number", flat=True))
    assert landed.index(second.number) < landed.index(first.number)


def test_passing_a_lane_that_one_is_not_in_is_refused(stage):
    stage.converged(stage.pull_on_forge())
    with pytest.raises(Refused) as refused:
        lane_pass(stage.pull, actor=PERSON, reason="Go.")
    assert refused.value.code == "not_held"


@pytest.mark.usefixtures("lane")
def test_an_edge_that_the_plan_no_longer_says_holds_nobody():
    lanes_set("plan:1", [], [Exclusion("b", "c")])
    assert [edge.superseded_at is None for edge in LaneEdge.objects.order_by("id")] == [False, True]


@pytest.mark.parametrize("state", ["merging", "queued", "verifying_landing"])
def test_whoever_decides_second_sees_the_neighbour_that_lands(lane, state):
    """MG-H10: decided under the group's lock, whatever was read before it; a person's pass does not lift it."""
    first, second, third = lane
    lane_pass(row_of(first), actor=PERSON, reason="It is urgent.")
    MergeFlow.rows().filter(pull__number=second.number).update(state=state)
    with transaction.atomic(), pytest.raises(Refused) as refused:
        lane_checked(row_of(first))
    assert refused.value.code == "lane_ahead"
    assert second.key in refused.value.message
    MergeFlow.rows().filter(pull__number=second.number).update(state="escalated")
    with transaction.atomic():
        lane_checked(row_of(third))
