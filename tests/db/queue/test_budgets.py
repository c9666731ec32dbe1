"""Budgets at the claim: the day's, a subject's and a run's; what is reserved, raised, and told."""

from datetime import timedelta

import pytest

from runs.clock import now
from runs.contract.errors import Invalid, NotFound
from runs.models import Attempt, BudgetRaise, HumanTask, Run, Spend
from runs.queue import holds
from runs.queue.claim import ClaimedRun, Empty, run_claim
from runs.queue.claim_answer import budget_left
from runs.queue.limits.balance import Amount
from runs.queue.limits.raises import budget_raise
from runs.queue.limits.sentences import next_day
from runs.queue.limits.standing import standing_now
from runs.queue.limits.upkeep import limits_pass
from runs.queue.waiting import run_waiting
from runs.reading.limits import limits_page
from tests.queue_driver import (
    beat,
    claim,
    claim_request,
    completed_body,
    enqueue,
    execution,
    failed_body,
    publish,
    release_backoff,
)
from tests.site_policy import edited_policy

BY = "operator:maria"
SUBJECT = "pull-request:8412077:12"


def day():
    found = standing_now().day
    assert found is not None
    return found


def why(run, workers=()):
    waiting = run_waiting(run, workers)
    assert waiting is not None
    return waiting


def spend(usd, tokens=100, **changes):
    """Run one run to its end, at this price."""
    enqueue(**changes)
    attempt = claim()
    usage = {"inputTokens": tokens, "outputTokens": 0, "costUsd": usd}
    publish(attempt, completed_body(attempt, execution=execution(usage=usage)))
    return attempt.run


def more(scope, key="", *, usd=0, tokens=0, reason="the release cannot wait"):
    return budget_raise(scope=scope, key=key, added=Amount(usd * 10**6, tokens), reason=reason, actor=BY)


def looked_at_long_ago():
    Run.objects.exclude(hold="").update(hold_checked_at=now() - timedelta(hours=1))


def test_a_spent_day_stops_what_spends_until_the_next_one():
    """RU-S19"""
    with edited_policy("budgets: {perDay: {usd: 2}, perSubject: null}"):
        spend(2)
        stopped = enqueue()
        free = enqueue(adapter="command")
        assert claim().run == free
        assert run_claim(claim_request()) == Empty("limits")
        waiting = why(stopped)
        assert waiting.code == "day_budget"
        assert "2 of 2 USD" in waiting.text
        assert waiting.until == next_day(now())
        Spend.objects.filter(scope="day").update(day=now().date() - timedelta(days=1))
        assert claim().run == stopped


def test_the_day_can_be_raised_until_it_ends():
    with edited_policy("budgets: {perDay: {usd: 2}}"):
        spend(2)
        stopped = enqueue()
        more("day", usd=1)
        assert claim().run == stopped
        BudgetRaise.objects.update(key=(now().date() - timedelta(days=1)).isoformat())
        assert day().is_reached


def test_tokens_are_a_limit_of_their_own():
    with edited_policy("budgets: {perDay: {tokens: 100}}"):
        spend(0, tokens=100)
        run = enqueue()
        assert run_claim(claim_request()) == Empty("limits")
        assert "100 of 100 tokens" in why(run).text


def test_a_subject_that_has_spent_its_budget_waits_until_an_operator_raises_it():
    """RU-S25"""
    with edited_policy("budgets: {perSubject: {usd: 2}}"):
        spend(2)
        held, other = enqueue(), enqueue(subject="pull-request:8412077:13")
        assert claim().run == other
        held.refresh_from_db()
        assert held.hold == "subject_budget"
        waiting = why(held)
        assert (waiting.code, "2 of 2 USD" in waiting.text) == ("subject_budget", True)
        assert f"manage.py runs raise --subject {SUBJECT}" in waiting.text
        row = more("subject", SUBJECT, usd=3)
        held.refresh_from_db()
        assert held.hold == ""
        assert claim().run == held
        shown = next(each for each in limits_page().budgets if each.key == SUBJECT)
        assert [(each.actor, each.reason, each.cost_micro_usd) for each in shown.raises] == [
            (BY, "the release cannot wait", 3_000_000)
        ]
        assert (row.at, shown.balance.allowed.micro_usd) == (BudgetRaise.objects.get().at, 5_000_000)


def test_a_run_gets_no_further_attempt_once_its_own_budget_is_spent():
    run = enqueue(budget={"usd": 1}, maxAttempts=5)
    attempt = claim()
    assert budget_left(attempt) == {"usd": 1.0, "tokens": None}
    publish(attempt, failed_body(attempt, execution=execution(usage={"costUsd": 0.75, "inputTokens": 1})))
    release_backoff(run)
    attempt = claim()
    assert budget_left(attempt) == {"usd": 0.25, "tokens": None}
    publish(attempt, failed_body(attempt, execution=execution(usage={"costUsd": 0.25, "inputTokens": 1})))
    release_backoff(run)
    assert isinstance(run_claim(claim_request()), Empty)
    run.refresh_from_db()
    assert (run.state, run.hold) == ("queued", "run_budget")
    assert f"manage.py runs raise --run {run.run_id}" in why(run).text
    more("run", run.run_id, usd=1)
    attempt = claim()
    assert (attempt.run, budget_left(attempt)) == (run, {"usd": 1.0, "tokens": None})


def test_the_policys_budget_of_a_run_counts_where_the_specification_names_none():
    with edited_policy("budgets: {perRun: {tokens: 500}}"):
        enqueue()
        assert budget_left(claim()) == {"usd": None, "tokens": 500}
        enqueue(budget={"usd": 2})
        assert budget_left(claim()) == {"usd": 2.0, "tokens": None}


def test_what_a_running_attempt_may_still_use_is_reserved_from_day_and_subject():
    """RU-H14 beside: the larger of what was reported and what is reserved counts, never both."""
    with edited_policy("budgets: {perDay: {usd: 4}, perSubject: {usd: 3}}"):
        enqueue(budget={"usd": 3})
        attempt = claim()
        assert day().used == Amount(3_000_000)
        beat(attempt, "running", 1, usage={"costUsd": 1, "inputTokens": 7})
        assert day().used == Amount(3_000_000, 7)
        held = enqueue()
        assert isinstance(run_claim(claim_request()), Empty)
        held.refresh_from_db()
        assert held.hold == "subject_budget"
        beat(attempt, "running", 2, usage={"costUsd": 3.5, "inputTokens": 7})
        assert day().used == Amount(3_500_000, 7)


def test_the_sweep_frees_what_a_budget_no_longer_holds():
    with edited_policy("budgets: {perSubject: {usd: 2}}"):
        enqueue(budget={"usd": 2})
        attempt = claim()
        held = enqueue()
        assert isinstance(run_claim(claim_request()), Empty)
        looked_at_long_ago()
        assert holds.holds_pass() == 0
        publish(attempt, completed_body(attempt))  # it used 0.25 of what was reserved for it
        looked_at_long_ago()
        assert holds.holds_pass() == 1
        assert claim().run == held


def test_a_changed_file_frees_every_run_that_a_budget_holds():
    with edited_policy("budgets: {perSubject: {usd: 1}}"):
        spend(1)
        runs = [enqueue() for _ in range(3)]
        assert isinstance(run_claim(claim_request()), Empty)
        limits_pass()
        assert isinstance(run_claim(claim_request()), Empty)
        assert limits_pass() == 0
        assert Run.objects.filter(hold="subject_budget").count() == 3
    limits_pass()
    assert not Run.objects.filter(hold="subject_budget").exists()
    assert claim().run == runs[0]


def test_a_raise_during_the_run_reaches_its_agent_by_the_next_heartbeat():
    run = enqueue(budget={"usd": 1, "tokens": 50})
    attempt = claim()
    before = beat(attempt, "running", 1)
    more("run", run.run_id, usd=2)
    after = beat(attempt, "running", 2)
    assert (before.budget_micro_usd, after.budget_micro_usd, after.budget_tokens) == (1_000_000, 3_000_000, 50)
    assert after.control_seq == before.control_seq + 1, "the held heartbeat is answered at once"


@pytest.mark.parametrize(
    ("scope", "key", "amounts", "field"),
    [
        ("planet", "", {"usd": 1}, "scope"),
        ("day", "2020-01-01", {"usd": 1}, "key"),
        ("day", "", {}, "usd"),
        ("day", "", {"usd": -1}, "usd"),
        ("day", "", {"tokens": 5}, "tokens"),  # the shipped file limits money alone
        ("run", "the run", {"usd": 1}, "usd"),
        ("day", "", {"usd": 1, "reason": " "}, "reason"),
    ],
)
def test_a_wrong_raise_is_refused_by_its_field_and_changes_nothing(scope, key, amounts, field):
    run = enqueue()
    with pytest.raises(Invalid) as caught:
        more(scope, run.run_id if key == "the run" else key, **amounts)
    assert caught.value.details["field"] == field
    assert not BudgetRaise.objects.exists()


def test_a_raise_of_what_nobody_knows_says_so():
    with pytest.raises(NotFound, match="There is no run run_x"):
        more("run", "run_x", usd=1)
    with pytest.raises(NotFound, match="No run has the subject"):
        more("subject", "acme/shop#99", usd=1)


def test_a_person_is_warned_once_for_each_limit_and_day():
    with edited_policy("budgets: {perDay: {usd: 10}, perSubject: {usd: 5}}"):
        spend(3)
        limits_pass()
        assert not HumanTask.objects.exists()
        spend(1.5)
        limits_pass()
        task = HumanTask.objects.get()
        assert (task.kind, task.refs["scope"], task.subject) == ("budget_warning", "subject", SUBJECT)
        assert "is used to 90 %: 4.50 of 5 USD" in task.question
        HumanTask.objects.update(state="answered", answered_at=now())
        spend(0.25)
        limits_pass()
        assert HumanTask.objects.count() == 1, "it was said today"
        spend(4, subject="pull-request:8412077:13")
        limits_pass()
        assert {row.refs["scope"] for row in HumanTask.objects.filter(state="open")} == {"day", "subject"}
        assert not Spend.objects.filter(is_judged=False).exists()


def test_a_warning_goes_when_its_limit_has_room_again_or_its_day_is_over():
    with edited_policy("budgets: {perDay: {usd: 10}, perSubject: {usd: 10}}"):
        spend(9)
        limits_pass()
        of_day, of_subject = (HumanTask.objects.get(refs__scope=scope) for scope in ("day", "subject"))
        more("subject", SUBJECT, usd=20)
        limits_pass()
        of_subject.refresh_from_db()
        assert (of_subject.state, of_subject.closed_reason) == ("closed", "the limit was raised or lifted")
        of_day.refs["day"] = "2020-01-01"
        of_day.save()
        limits_pass()
        of_day.refresh_from_db()
        assert (of_day.state, of_day.closed_reason) == ("closed", "its day is over")


def test_what_a_command_reports_is_charged_although_no_budget_stops_it():
    with edited_policy("budgets: {perDay: {usd: 1}, perSubject: {usd: 1}, perRun: {usd: 1}}"):
        spend(5, adapter="command")
        assert Spend.objects.get(scope="day").cost_micro_usd == 5_000_000
        enqueue(adapter="command")
        attempt = claim()
        assert budget_left(attempt) == {"usd": None, "tokens": None}
        assert isinstance(attempt, Attempt)


def test_an_unknown_cost_counts_its_tokens_only():
    with edited_policy("budgets: {perDay: {usd: 0.01, tokens: 200}}"):
        enqueue()
        attempt = claim()
        publish(attempt, completed_body(attempt, execution=execution(usage={"inputTokens": 150})))
        assert day().used == Amount(0, 150)
        enqueue()
        assert isinstance(run_claim(claim_request()), ClaimedRun)
