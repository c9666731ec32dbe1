"""Pauses at the claim: what stands still, what goes on, and who lifts it."""

from datetime import UTC, datetime, timedelta

import pytest

from runs.clock import now
from runs.contract.errors import Invalid, NotFound, Refused
from runs.models import Pause
from runs.queue.claim import ClaimedRun, Empty, run_claim
from runs.queue.claimable import blocked_counts, claimable
from runs.queue.limits.pauses import pause_find, pause_lift, pause_over, pause_set
from runs.queue.limits.upkeep import limits_pass
from runs.queue.waiting import Capacity, run_waiting
from tests.queue_driver import OFFER, beat, claim, claim_request, enqueue, worker

BY = "operator:maria"
FREE = Capacity(worker(1), OFFER, is_busy=False, node="lab")


def why(run, workers=()):
    waiting = run_waiting(run, workers)
    assert waiting is not None
    return waiting


def pause(scope="repository", key="acme/shop", **fields):
    return pause_set(scope=scope, key=key, reason=fields.pop("reason", "release freeze"), actor=BY, **fields)


def test_a_paused_repository_stands_still_while_others_go_on():
    """RU-S17"""
    held = enqueue()
    other = enqueue(repository="acme/web")
    pause(key="Acme/Shop")
    assert claim().run == other
    assert run_claim(claim_request()) == Empty("paused")
    waiting = why(held, [FREE])
    assert waiting.code == "paused_repository"
    assert "Acme/Shop is paused since" in waiting.text
    assert "by maria: “release freeze”" in waiting.text
    assert waiting.text.endswith("lift it with: manage.py runs resume --repository Acme/Shop")
    pause_lift(pause_id=pause_find(scope="repository", key="acme/shop").pk, actor=BY)
    assert claim().run == held


@pytest.mark.parametrize(
    ("scope", "key", "code"), [("global", "", "paused_global"), ("agent", "pr-review", "paused_agent")]
)
def test_a_pause_of_everything_and_of_an_agent_stop_claims(scope, key, code):
    run = enqueue()
    pause(scope, key)
    assert run_claim(claim_request()) == Empty("paused")
    assert why(run, [FREE]).code == code
    assert claimable(OFFER, limit=10).count == 0
    assert blocked_counts(claimable(OFFER, limit=10).blocked) == {"paused": 1, "limits": 0}


def test_what_runs_runs_on():
    enqueue()
    attempt = claim()
    pause("global", "")
    assert beat(attempt, "running", 1).cancel_requested is False


def test_a_pause_with_an_end_lifts_itself():
    enqueue()
    row = pause(until=now() + timedelta(hours=1))
    assert isinstance(run_claim(claim_request()), Empty)
    Pause.objects.filter(pk=row.pk).update(until=now() - timedelta(seconds=1))
    assert isinstance(run_claim(claim_request()), ClaimedRun), "nobody has to sweep for it"
    limits_pass()
    limits_pass()
    row.refresh_from_db()
    assert (row.lifted_by, row.lift_reason) == ("clock", "its time is over")


def test_who_paused_when_and_why_and_who_lifted_it_stand_in_the_row():
    row = pause()
    lifted = pause_lift(pause_id=row.pk, actor="operator:jon", reason="shipped")
    assert (row.actor, row.reason, row.since <= lifted.lifted_at) == (BY, "release freeze", True)
    assert (lifted.lifted_by, lifted.lift_reason) == ("operator:jon", "shipped")


def test_pausing_again_replaces_the_pause_and_keeps_the_old_one_as_history():
    first = pause()
    second = pause(key="ACME/SHOP", reason="incident", until=now() + timedelta(hours=1))
    first.refresh_from_db()
    assert (first.lifted_by, first.lift_reason) == (BY, "replaced: incident")
    assert pause_over(repository="acme/shop") == second


def test_a_pause_is_lifted_once():
    row = pause()
    pause_lift(pause_id=row.pk, actor=BY)
    with pytest.raises(Refused) as refused:
        pause_lift(pause_id=row.pk, actor=BY)
    assert refused.value.code == "already_ended"
    with pytest.raises(NotFound, match="There is no pause"):
        pause_lift(pause_id=row.pk + 1, actor=BY)
    with pytest.raises(NotFound, match="acme/shop is not paused; paused now: nothing"):
        pause_find(scope="repository", key="acme/shop")


def test_flows_ask_whether_a_pause_covers_them():
    assert pause_over(repository="acme/shop") is None
    agents = pause("agent", "pr-review")
    assert pause_over(repository="acme/shop") is None
    assert pause_over(repository="acme/shop", agent="pr-review") == agents
    everything = pause("global", "")
    assert pause_over(repository="acme/shop") == everything


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"scope": "planet"}, "scope"),
        ({"scope": "global", "key": "acme/shop"}, "key"),
        ({"key": "shop"}, "key"),
        ({"key": ""}, "key"),
        ({"scope": "agent", "key": "PR review"}, "key"),
        ({"reason": " "}, "reason"),
        ({"reason": "x" * 501}, "reason"),
        ({"until": datetime(2020, 1, 1, tzinfo=UTC)}, "until"),
        ({"until": datetime(2099, 1, 1)}, "until"),  # noqa: DTZ001 - without a zone it says nothing
    ],
)
def test_a_wrong_pause_is_refused_by_its_field(fields, field):
    with pytest.raises(Invalid) as caught:
        pause(**fields)
    assert caught.value.details["field"] == field
    assert not Pause.objects.exists()
