"""What a supervisor is told, and what is known of its pool afterwards."""

import uuid
from datetime import timedelta

import pytest
from django.core.management import call_command

from runs.clock import now
from runs.contract.wire import check_answer
from runs.policy import policy, policy_forget
from runs.queue.limits.pauses import pause_set
from runs.queue.waiting import run_waiting
from tests.db.workers.queue import queued_run
from tests.db.workers.wire import OFFER, code, worker_on
from workers.models import Pool
from workers.models import Worker as Row
from workers.selectors.pools import SupervisorState, pools
from workers.services.pools import pools_forget

pytestmark = pytest.mark.django_db


def asked(worker, **changes):
    answer = worker.pool(**changes)
    assert answer.status_code == 200, answer.content
    document = answer.json()
    check_answer("pool", document)
    return document


def listed(worker, *boots, draining=()):
    return [
        {"slot": slot, "workerId": f"{worker.node}.{boot}", "draining": slot in draining}
        for slot, boot in enumerate(boots, start=1)
    ]


def why(run):
    waiting = run_waiting(run)
    assert waiting is not None
    return waiting.code, waiting.text


def boot(worker, name, **changes):
    worker.boot = name
    assert worker.hello(pid=uuid.uuid4().int % 10**6, **changes).status_code == 200
    return name


BOOTS = [f"20260830T12150{number}Z.9f3c1a" for number in range(5)]


def test_the_counts_are_those_of_the_pools_own_workers_and_of_runs_that_it_could_lease(worker):
    """WP-H11, PO-H10: other nodes, other pools and runs of other labels do not exist for it."""
    queued_run()
    queued_run()
    queued_run(placement={"can": "deploy"})
    stranger = worker_on("far")
    boot(stranger, BOOTS[4])
    for name in BOOTS[:3]:
        boot(worker, name)
    worker.boot = BOOTS[0]
    worker.claim()
    answer = asked(worker, workers=[*listed(worker, *BOOTS[:2]), *listed(stranger, BOOTS[4])])
    assert (answer["claimable"], answer["claimableCapped"]) == (1, False)
    assert [answer[name] for name in ("idle", "busy", "draining", "lost")] == [1, 1, 0, 0]
    states = {each["workerId"]: (each["state"], each["heldAttempt"]) for each in answer["workers"]}
    assert states == {f"lab.{BOOTS[0]}": ("busy", True), f"lab.{BOOTS[1]}": ("idle", False)}


def test_what_a_pause_holds_back_is_not_claimable_and_is_said(worker):
    """WP-H11"""
    queued_run()
    queued_run()
    pause_set(scope="global", reason="release", actor="operator:ops-1")
    answer = asked(worker)
    assert (answer["claimable"], answer["blocked"]) == (0, {"paused": 2, "limits": 0})


def test_a_worker_that_was_asked_to_leave_counts_as_draining_before_it_has_noticed(worker):
    boot(worker, BOOTS[0])
    boot(worker, BOOTS[1], blockedReason="no_adapter")
    answer = asked(worker, workers=listed(worker, *BOOTS[:2], draining=(1,)))
    assert [answer[name] for name in ("idle", "busy", "draining", "lost")] == [0, 0, 1, 0]


def test_a_silent_worker_is_lost_and_said_to_hold_its_attempt_until_that_is_taken_back(worker):
    queued_run()
    boot(worker, BOOTS[0])
    worker.claim()
    Row.objects.update(last_seen_at=now() - timedelta(seconds=91))
    answer = asked(worker, workers=listed(worker, BOOTS[0]))
    assert (answer["lost"], answer["busy"]) == (1, 0)
    assert [(each["lost"], each["heldAttempt"]) for each in answer["workers"]] == [(True, True)]


def test_the_bounds_of_the_operator_are_answered_and_those_of_the_supervisor_are_not_lost(worker, settings, tmp_path):
    answer = asked(worker, min=2, max=4)
    assert (answer["min"], answer["max"]) == (2, 4)
    settings.FACTORY = settings.FACTORY.model_copy(update={"home": tmp_path})
    (tmp_path / "policy.yaml").write_text("pools: {lab: {main: {min: 0, max: 7}, other: {min: 1, max: 1}}}\n")
    policy_forget()
    try:
        assert policy().bounds_for("lab", "main") is not None
        answer = asked(worker, min=2, max=4)
        assert (answer["min"], answer["max"]) == (0, 7)
        assert asked(worker, pool="third", min=2, max=4)["max"] == 4
    finally:
        policy_forget()
    assert Pool.objects.get(name="main").max == 7


def test_an_offer_beyond_the_credential_is_refused_and_nothing_is_kept(worker):
    answer = worker.pool(offer={**OFFER, "labels": {"can": "deploy"}})
    assert code(answer) == "capability_escalation"
    assert not Pool.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("pool", "Main Pool"), ("max", 65), ("max", 0), ("min", -1), ("workers", [{"slot": 0}]), ("decision", {})],
)
def test_a_malformed_report_is_refused_by_its_field(worker, field, value):
    answer = worker.pool(**{field: value})
    assert code(answer) == "malformed"
    assert field in answer.json()["error"]["details"]["path"]


def test_a_starting_worker_is_asked_for_again_in_a_second(worker):
    assert asked(worker)["nextInMs"] == 2000
    assert asked(worker, workers=[{"slot": 1, "workerId": None, "draining": False}])["nextInMs"] == 1000


def test_the_report_is_the_pools_row_until_the_supervisor_falls_silent(worker):
    boot(worker, BOOTS[0])
    crashes = {"inARow": 5, "lastLine": "work: no such file"}
    asked(worker, workers=listed(worker, BOOTS[0]), crashes=crashes)
    [row] = pools()
    assert (row.label, row.supervisor, row.workers) == ("main@lab", SupervisorState.LIVE, {"idle": 1})
    assert (row.min, row.max) == (1, 3)
    assert (row.action, row.reason, row.crashes, row.last_line) == ("hold", "steady", 5, "work: no such file")
    asked(worker, stopping=True, workers=listed(worker, BOOTS[0]))
    assert pools()[0].supervisor is SupervisorState.STOPPING
    Pool.objects.update(seen_at=now() - timedelta(seconds=30))
    queued_run()
    dead = pools()[0]
    assert (dead.supervisor, dead.claimable) == (SupervisorState.DEAD, 1)
    Pool.objects.update(seen_at=now() - timedelta(days=8))
    assert pools_forget() == 1
    assert [row.supervisor for row in pools()] == [SupervisorState.ABSENT]


def test_the_last_report_of_an_ordered_end_leaves_no_dead_supervisor_behind(worker):
    asked(worker)
    asked(worker, stopping=True)
    assert pools() == []


def test_it_is_kept_since_when_a_pool_decides_so_is_short_and_is_stuck(worker):
    queued_run()
    boot(worker, BOOTS[0])
    earlier = now() - timedelta(minutes=2)
    asked(worker, min=2, workers=listed(worker, BOOTS[0]))
    Pool.objects.update(decided_at=earlier, short_since=earlier, stuck_since=earlier)
    asked(worker, min=2, workers=listed(worker, BOOTS[0]))
    row = Pool.objects.get()
    assert (row.decided_at, row.short_since, row.stuck_since) == (earlier, earlier, earlier)
    worker.claim()
    asked(worker, min=1, workers=listed(worker, BOOTS[0]), decision={"action": "hold", "reason": "at_max"})
    row = Pool.objects.get()
    assert row.decided_at > earlier
    assert (row.short_since, row.stuck_since) == (None, None)


def test_a_run_that_a_pool_would_start_a_worker_for_is_not_unplaceable(worker):
    run = queued_run()
    assert why(run)[0] == "unplaceable"
    asked(worker, min=0)
    assert why(run) == ("no_free_worker", "the pool main@lab starts a worker for it")
    full = [{"slot": slot, "workerId": None, "draining": False} for slot in (1, 2, 3)]
    asked(worker, min=0, workers=full)
    assert why(run)[0] == "unplaceable"
    asked(worker, min=0)
    elsewhere = queued_run(placement={"can": "deploy"})
    assert why(elsewhere)[1] == "nearest pool main@lab lacks label can=deploy"
    Pool.objects.update(seen_at=now() - timedelta(seconds=31))
    assert why(run)[0] == "unplaceable"


def test_status_has_one_line_for_each_pool(worker, capsys):
    boot(worker, BOOTS[0])
    Row.objects.update(pool="main", slot=1)
    asked(worker, workers=listed(worker, BOOTS[0]))
    call_command("status")
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("pool"))
    assert " ".join(line.split()) == "pool main@lab supervisor live workers 1 of 1..3 (1 idle) steady"
