import json

import pytest
from django.core.serializers.json import DjangoJSONEncoder

from convergence.flow import CONVERGENCE_WAKES
from convergence.selectors.abandon import abandon_state
from convergence.selectors.detail import pull_detail
from convergence.selectors.lists import pulls_listed
from convergence.selectors.lookup import pull_named
from convergence.selectors.shapes import wire
from convergence.selectors.waiting import waiting_for
from convergence.services.cancel import pull_cancel
from runs.contract.errors import Invalid, NotFound


def named_facts(stage):
    waiting = waiting_for(stage.flow)
    assert waiting.sentence
    assert all(wake.now and wake.need for wake in waiting.would_move_on)
    return tuple(wake.fact for wake in waiting.would_move_on)


def test_every_waiting_state_names_its_facts_from_rows_alone(stage):
    """CV-H24: the facts are those of the table, each with how it stands and how it must be."""
    pull = stage.pull_on_forge()
    stage.submit(pull)
    assert named_facts(stage) == CONVERGENCE_WAKES["capture_head"]
    stage.look()
    assert named_facts(stage) == CONVERGENCE_WAKES["review_round"]
    attempt = stage.claim()
    assert waiting_for(stage.flow).reason == "agent_running"
    assert named_facts(stage) == CONVERGENCE_WAKES["review_round"]
    stage.push()
    stage.publish(attempt, {"status": "addressed"})
    stage.look(1)
    stage.settle()
    assert named_facts(stage) == CONVERGENCE_WAKES["await_review"]
    assert waiting_for(stage.flow).reason == "review_of_head"


def test_the_detail_is_plain_json_in_the_spelling_of_the_api(stage):
    pull = stage.begun(max_rounds=3)
    stage.push()
    stage.agent({"status": "addressed", "summary": "Done."})
    stage.settle()
    detail = wire(pull_detail(pull_named("ACME", "Shop", pull.number)))
    again = json.loads(json.dumps(detail, cls=DjangoJSONEncoder))
    assert again["prKey"] == f"acme/shop#{pull.number}"
    assert again["counters"]["round"] == {"now": 1, "max": 3}
    assert again["counters"]["nudges"]["now"] == 1
    assert again["rounds"][0]["turns"][0]["probe"] == "progressed"
    assert again["rounds"][0]["turns"][0]["cost"] == pytest.approx(0.25)
    assert again["transitions"][0]["edge"] == "progressed"
    assert again["waitingFor"]["wouldMoveOn"]


def test_the_list_is_paged_by_keyset(stage):
    keys = []
    for number in range(3):
        pull = stage.pull_on_forge(branch=f"feat/{number}")
        keys.append(stage.submit(pull).pull.key)
    first = pulls_listed(limit=2)
    rest = pulls_listed(limit=2, cursor=first.next_cursor)
    assert [row.pr_key for row in [*first.items, *rest.items]] == keys[::-1]
    assert not rest.next_cursor
    assert not pulls_listed(states=["merged"]).items
    with pytest.raises(Invalid):
        pulls_listed(cursor="x")


def test_the_token_says_whether_the_work_is_still_wanted(stage):
    """CV-H20: from the cancel on it answers that the pull request is abandoned."""
    stage.begun()
    token = stage.pull.generations.get().abandon_token
    assert not abandon_state(token).abandoned
    pull_cancel(pull=stage.pull, actor="operator:ann")
    answer = abandon_state(token)
    assert (answer.abandoned, answer.state) == (True, "abandoned")
    with pytest.raises(NotFound):
        abandon_state("x")
    with pytest.raises(Invalid):
        abandon_state("  ")
