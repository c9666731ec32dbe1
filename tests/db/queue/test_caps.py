"""Caps at the claim: weight classes, repositories and agents, counted over unfinished attempts."""

from runs.contract.placement import Offer
from runs.models import Attempt, Run
from runs.queue.claim import ClaimedRun, Empty, run_claim
from runs.queue.claimable import blocked_counts, claimable
from runs.queue.waiting import Capacity, run_waiting
from runs.reading.limits import limits_page
from tests.queue_driver import OFFER, claim, claim_request, completed_body, enqueue, publish, worker
from tests.site_policy import edited_policy


def why(run, workers=()):
    waiting = run_waiting(run, workers)
    assert waiting is not None
    return waiting


def claimed_on(node, number):
    outcome = run_claim(claim_request(worker(number, node)))
    return outcome.attempt.run if isinstance(outcome, ClaimedRun) else outcome


def test_two_heavy_runs_and_the_light_one_go_on_a_node_that_takes_two_heavy_ones():
    """RU-S18"""
    with edited_policy("weightClasses: {heavy: {perNode: 2}}"):
        heavy = [enqueue(weightClass="heavy") for _ in range(3)]
        light = enqueue(weightClass="light")
        assert [claimed_on("lab", number) for number in range(3)] == [heavy[0], heavy[1], light]
        assert claimed_on("lab", 4) == Empty("limits")
        on_lab = [Capacity(worker(5), OFFER, is_busy=False, node="lab")]
        waiting = why(heavy[2], on_lab)
        assert waiting.code == "weight_class_full"
        assert waiting.text.startswith("weight class heavy on node lab is full: 2 of 2 run")
        assert "weightClasses.heavy.perNode" in waiting.text
        elsewhere = [*on_lab, Capacity(worker(6, "other"), OFFER, is_busy=False, node="other")]
        assert why(heavy[2], elsewhere).code == "next_in_line"
        assert claimed_on("other", 6) == heavy[2]


def test_an_attempt_that_ends_makes_room():
    with edited_policy("weightClasses: {standard: {max: 1}}"):
        enqueue(weightClass="standard")
        second = enqueue(weightClass="standard")
        attempt = claim()
        assert run_claim(claim_request()) == Empty("limits")
        publish(attempt, completed_body(attempt))
        assert claim().run == second


def test_a_repository_and_an_agent_are_capped_by_name():
    with edited_policy("limits: {perRepository: {default: 1, acme/web: null}, perAgent: {pr-review: 3}}"):
        enqueue()
        second = enqueue()
        web = [enqueue(repository="acme/web") for _ in range(3)]
        assert [claim().run for _ in range(3)][1:] == web[:2]
        waiting = why(second)
        assert (waiting.code, "repository acme/shop is full: 1 of 1 run" in waiting.text) == ("repository_full", True)
        waiting = why(web[2])
        assert (waiting.code, "agent pr-review is full: 3 of 3 run" in waiting.text) == ("agent_full", True)


def test_a_higher_cap_in_the_file_frees_waiting_runs_at_once():
    with edited_policy("limits: {perAgent: {pr-review: 0}}"):
        run = enqueue()
        assert run_claim(claim_request()) == Empty("limits")
    assert claim().run == run


def test_what_an_offer_could_lease_is_counted_under_the_caps_that_its_classes_share():
    with edited_policy("weightClasses: {heavy: {max: 3}}\nlimits: {perRepository: {acme/web: 1}}"):
        for _ in range(4):
            enqueue(weightClass="heavy")
            enqueue(weightClass="light", repository="acme/web")
        enqueue(weightClass="heavy", placement={"gpu": "yes"})
        assert claimable(OFFER, limit=100).count == 4
        assert claimable(OFFER, limit=2).count == 2
        claim()
        claim()
        assert claimable(OFFER, limit=100).count == 2
        assert claimable(Offer(), limit=100).count == 0
        seen = claimable(OFFER, limit=100)
        assert blocked_counts(seen.blocked) == {"paused": 0, "limits": 3}


def test_every_finite_cap_is_shown_with_what_it_uses_and_holds():
    text = (
        "weightClasses: {heavy: {max: 1, perNode: 1}}\nlimits: {perRepository: {acme/web: 5}, perAgent: {pr-review: 9}}"
    )
    with edited_policy(text):
        enqueue(weightClass="heavy")
        enqueue(weightClass="heavy")
        claim(worker(1))
        rows = {row.words: (row.used, row.limit, row.held) for row in limits_page().caps}
    assert rows == {
        "weight class heavy": (1, 1, 1),
        "weight class heavy on node lab": (1, 1, 0),
        "repository acme/web": (0, 5, 0),
        "agent pr-review": (1, 9, 0),
    }
    assert Attempt.objects.get().placement_class == Run.objects.order_by("pk")[0].placement_class
