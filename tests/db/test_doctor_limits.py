"""What the doctor says of pauses, budgets and keys that are held long, and that it goes with its mend."""

from datetime import timedelta

import pytest
from django.core.management import call_command

from factory_site.doctor.report import findings
from factory_site.shell.limit_lines import pause_lines, spend_document
from runs.clock import now
from runs.models import Pause, Run
from runs.queue.claim import run_claim
from runs.queue.limits.balance import Amount
from runs.queue.limits.pauses import pause_lift, pause_set
from runs.queue.limits.raises import budget_raise
from tests import queue_driver as queue
from tests.site_policy import edited_policy

pytestmark = pytest.mark.django_db
BY = "operator:maria"


@pytest.fixture(autouse=True)
def definitions():
    queue.load_definitions()


def found(code):
    return next((each for each in findings() if each.code == code), None)


def test_a_pause_of_more_than_a_day_is_told_until_it_is_lifted():
    row = pause_set(scope="repository", key="acme/shop", reason="release freeze", actor=BY)
    assert found("paused_long") is None
    Pause.objects.update(since=now() - timedelta(hours=25))
    told = found("paused_long")
    assert told is not None
    assert (told.count, told.examples, told.mend) == (
        1,
        ("acme/shop",),
        "manage.py runs resume --repository acme/shop",
    )
    assert told.text.endswith("by maria: release freeze")
    pause_lift(pause_id=row.pk, actor=BY)
    assert found("paused_long") is None


def test_a_budget_that_is_used_up_is_told_with_who_waits_until_it_is_raised():
    with edited_policy("budgets: {perDay: {usd: 1}}"):
        queue.enqueue()
        attempt = queue.claim()
        body = queue.completed_body(attempt, execution=queue.execution(usage={"costUsd": 1.5}))
        queue.publish(attempt, body)
        queue.enqueue()
        told = found("budget_reached")
        assert told is not None
        assert told.text == "the budget of today reached 1.50 of 1 USD; 1 run waits"
        assert told.mend.startswith("manage.py runs raise --day")
        assert "manage.py runs raise --day" in told.mend
        budget_raise(scope="day", added=Amount(10**6), reason="release", actor=BY)
        assert found("budget_reached") is None


def test_a_key_that_is_held_for_hours_is_told_with_the_run_that_holds_it():
    holder = queue.enqueue(exclusiveKey="branch:1:x")
    waiting = queue.enqueue(exclusiveKey="branch:1:x")
    attempt = queue.claim()
    run_claim(queue.claim_request())
    assert found("hold_old") is None
    Run.objects.filter(pk=waiting.pk).update(queued_at=now() - timedelta(hours=7))
    told = found("hold_old")
    assert told is not None
    assert told.text == f"run {waiting.run_id} waits for key branch:1:x, held by run {holder.run_id}"
    assert told.mend == f"manage.py runs show {holder.run_id}"
    queue.publish(attempt, queue.completed_body(attempt))
    assert found("hold_old") is None


def test_what_a_pause_holds_is_no_fault_of_the_queue():
    run = queue.enqueue()
    Run.objects.filter(pk=run.pk).update(queued_at=now() - timedelta(hours=2))
    assert found("no_workers") is not None
    pause_set(scope="global", reason="night", actor=BY)
    assert {each.code for each in findings()}.isdisjoint({"no_workers", "unplaceable", "queue_old"})


def test_status_says_what_the_day_has_cost_and_what_is_paused(capsys):
    with edited_policy("budgets: {perDay: {usd: 200, tokens: 5000000}}"):
        queue.enqueue(budget={"usd": 3})
        attempt = queue.claim()
        queue.beat(attempt, "running", 1, usage={"costUsd": 1.2, "inputTokens": 3_100_000})
        assert spend_document(now())["line"] == ("today 1.20 of 200 USD · 3.1 M of 5.0 M tokens · 1.80 USD reserved")
        pause_set(scope="agent", key="pr-review", reason="model outage", actor=BY, until=now() + timedelta(hours=1))
        (line,) = pause_lines()
        assert line.startswith("agent pr-review since ")
        assert "by maria: “model outage”, until " in line
        call_command("status")
    said = capsys.readouterr().out
    assert "spend     today 1.20 of 200 USD" in said
    assert f"pause     {line}" in said
