"""The plans of the hot queries on a filled table: each uses its index, and none reads everything."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from runs.clock import now
from runs.models import Attempt, JournalRow, PlacementClass, Run, TraceRow
from runs.policy import policy
from runs.queue import ready
from runs.queue.attempts.known import KNOWN
from runs.queue.claim import OPENING, OWN_ATTEMPT
from runs.queue.limits import budgets, standing
from runs.rows import row_find
from tests.queue_driver import claim, completed_body, enqueue, publish
from tests.site_policy import edited_policy

ROWS = 5000
STATEMENTS = 15 if connection.vendor == "sqlite" else 20  # of a claim, the look before it included
AUTOMATIC = {  # SQLite makes and names the index of a unique constraint itself
    "attempt_number": "sqlite_autoindex_runs_attempt_1",
    "attempt_claim_key": "sqlite_autoindex_runs_attempt_2",
    "journal_chain": "sqlite_autoindex_runs_journalrow_1",
    "trace_row_once": "sqlite_autoindex_runs_tracerow_1",
    "spend_total": "sqlite_autoindex_runs_spend_1",
}


@pytest.fixture
def _filled():
    """Five thousand runs and attempts, mostly at rest, copied from one of each."""
    run = enqueue()
    attempt = claim()
    run.refresh_from_db()
    at = now()
    classes = [run.placement_class, *(_other_class(run.placement_class, number) for number in range(19))]
    runs = []
    for number in range(ROWS):
        copy = _copied(run)
        copy.pk = None
        copy.run_id = f"run_{number:026d}"
        copy.idempotency_key = f"key-{number}"
        copy.state, copy.ended_at = ("completed", at) if number % 10 else ("queued", None)
        copy.subject = f"subject-{number % 500}"
        copy.placement_class = classes[number // 10 % len(classes)]
        copy.agent_id = f"agent-{number % 100}"
        copy.exclusive_key = f"branch-{number}"
        if copy.state == "queued" and number % 30 == 0:
            copy.hold, copy.available_at, copy.hold_checked_at = "backoff", at, at
        elif copy.state == "queued" and number % 20 == 0:
            copy.hold, copy.hold_checked_at = "exclusive", at
        runs.append(copy)
    Run.objects.bulk_create(runs, batch_size=500)
    copies = []
    for number, owner in enumerate(Run.objects.exclude(pk=run.pk).filter(state="completed")):
        copy = _copied(attempt)
        copy.pk = None
        copy.run = owner
        copy.claim_key = f"claim-{number}"
        copy.result_key = f"result-{number}"
        copy.worker_id = f"lab-{number % 7}"
        copy.agent_ref = f"agent-{number % 100}@1"
        copy.node = f"node-{number % 50}"
        copy.finished_at, copy.outcome = at - timedelta(seconds=number), "completed"
        copies.append(copy)
    Attempt.objects.bulk_create(copies, batch_size=500)


@pytest.fixture
def _analyzed(_filled):
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _other_class(row, number):
    copy = _copied(row)
    copy.pk = None
    copy.key_hash = f"sha256:{number:064x}"
    copy.save()
    return copy


def _copied(row):
    return type(row)(**{field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields})


def plan_of(statement, parameters):
    word = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
    with connection.cursor() as cursor:
        cursor.execute(f"{word} {statement}", parameters)
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def plan_of_rows(rows):
    return plan_of(*rows.query.sql_with_params())


def assert_uses(plan, index):
    if connection.vendor == "postgresql" and index.startswith("attempt_open_"):
        index = "attempt_open_"  # of the few unfinished ones every index is as good
    assert index in plan or AUTOMATIC.get(index, index) in plan, plan
    if connection.vendor == "sqlite":
        scans = [line for line in plan.splitlines() if re.match(r"SCAN (runs_|journal|attempt)", line)]
        assert all("USING" in line for line in scans), plan
    else:
        assert not re.search(r"Seq Scan on runs_(run|attempt|journalrow)\b", plan), plan


@pytest.mark.usefixtures("_analyzed")
def test_every_hot_query_uses_its_index():
    """RU-H13"""
    check_the_claim()
    check_lists_sweeps_and_guards()


@pytest.mark.usefixtures("_filled")
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL gathers statistics by itself")
def test_the_claim_uses_its_indexes_before_anybody_gathered_statistics():
    """RU-H13: a database that was never analysed claims as cheaply."""
    check_the_claim()


def check_the_claim():
    row = PlacementClass.objects.order_by("pk")[0]
    at = now()
    assert_uses(plan_of(ready.READY_CLASSES.sql(), []), "run_ready")
    assert_uses(plan_of(ready.HEAD.sql(), [row.pk]), "run_ready")
    assert_uses(plan_of(ready.COUNT.sql(), [row.pk, 100]), "run_ready")
    assert_uses(plan_of(ready.DUE.sql(), [at, 50]), "run_backoff")
    opening = OWN_ATTEMPT if connection.vendor == "sqlite" else OPENING
    own = plan_of(opening, ["lab-3", "node-7", "claim-7"])
    assert_uses(own, "attempt_open_per_worker")
    assert_uses(own, "attempt_claim_key")
    known = plan_of(KNOWN, ["node-7", "result-7", "run_7", "node-7"])
    assert_uses(known, "attempt_result_key")
    assert "attempt_by_node" not in known  # it holds everything that the node has ever had
    assert "attempt_by_run" in known or "attempt_number" in known or AUTOMATIC["attempt_number"] in known, known
    assert_uses(plan_of(ready.KEY_WAITERS.sql(), ["branch-20"]), "run_exclusive")
    assert_uses(plan_of(ready.KEY_HOLDER.sql(), ["branch-20"]), "attempt_open_per_key")
    with edited_policy("limits: {perAgent: {pr-review: 1}}"):
        of_limits = [
            plan_of(*standing.statement(policy(), at)),
            plan_of(*budgets.statement([("subject", "subject-7"), ("run", "run_7")])),
        ]
    if connection.vendor == "sqlite":  # which knows nothing of how many runs a subject has had
        assert of_limits[1].index("attempt_open_") < of_limits[1].index("SEARCH r "), of_limits[1]
    for plan in of_limits:
        assert_uses(plan, "attempt_open_")  # by class or by run: an index of the unfinished ones alone
        if connection.vendor == "sqlite":  # PostgreSQL reads the one page of a table with no rows
            assert_uses(plan, "spend_total")
    assert_uses(plan_of(ready.HELD_OLDEST.sql(), [at - timedelta(hours=1), 5]), "run_held")


def check_lists_sweeps_and_guards():
    at = now() - timedelta(hours=1)
    open_rows = Attempt.objects.filter(finished_at__isnull=True)
    expected = {
        "run_by_state": Run.objects.filter(state="verifying").order_by("-id")[:50],
        "run_by_subject": Run.objects.filter(subject="subject-7").order_by("-id")[:50],
        "run_by_agent": Run.objects.filter(agent_id="agent-7").order_by("-id")[:50],
        "attempt_agent": Attempt.objects.filter(agent_ref="agent-7@1", finished_at__gte=at),
        "attempt_by_node": Attempt.objects.filter(
            Q(finished_at__isnull=True) | Q(finished_at__gte=now() - timedelta(seconds=5)), node="node-7"
        ),
        "attempt_open_per_worker": open_rows.filter(worker_id="lab-3"),
        "attempt_open_per_key": open_rows.filter(exclusive_key="branch-9").exclude(exclusive_key=""),
        "journal_chain": JournalRow.objects.filter(run_id=7, seq=1),
        "trace_row_once": TraceRow.objects.filter(attempt_id=7, seq__gt=0).order_by("seq")[:200],
    }
    for index, rows in expected.items():
        if connection.vendor == "postgresql" and index in SMALL_ON_POSTGRES:
            continue
        assert_uses(plan_of_rows(rows), index)
    single: dict[str, dict[str, Any]] = {
        "attempt_claim_key": {"node": "node-7", "claim_key": "claim-7"},
        "attempt_number": {"run_id": 7, "number": 1},
    }
    for index, equal in single.items():
        with CaptureQueriesContext(connection) as captured:
            row_find(Attempt, **equal)
        assert_uses(plan_of(captured.captured_queries[0]["sql"].replace("%", "%%"), []), index)
    liveness = plan_of_rows(open_rows.filter(heartbeat_due_at__lte=at).order_by("heartbeat_due_at")[:100])
    deadline = plan_of_rows(open_rows.filter(deadline_at__lte=at).order_by("deadline_at")[:100])
    for plan in (liveness, deadline):
        assert re.search(r"attempt_(liveness|deadline|open_per_\w+)", plan), plan


# Tables with next to no rows here: the planner reads their one page whatever index there is.
SMALL_ON_POSTGRES = {"journal_chain", "trace_row_once"}


def test_a_run_that_needs_nothing_is_claimed_past_thousands_that_cannot_be_placed(django_assert_max_num_queries):
    """RU-S2: the class of what cannot be taken costs one seek, however deep it is."""
    blocked = enqueue(placement={"gpu": "yes"})
    copies = [_copied(blocked) for _ in range(ROWS)]
    for number, copy in enumerate(copies):
        copy.pk = None
        copy.run_id, copy.idempotency_key = f"run_{number:026d}", f"key-{number}"
    Run.objects.bulk_create(copies, batch_size=500)
    run = enqueue()
    with django_assert_max_num_queries(STATEMENTS + 2):  # two more when this process reads the definition first
        assert claim().run == run


def test_a_claim_takes_few_statements_whatever_is_finished_or_cannot_be_taken(django_assert_max_num_queries):
    """RU-H13: three reads before it, begin, commit, ten between; PostgreSQL adds clock, lock, savepoint."""
    for number in range(30):
        enqueue(placement={"gpu": f"kind-{number}"})
    enqueue()
    claim()
    run = enqueue()
    with django_assert_max_num_queries(STATEMENTS):
        assert claim().run == run


def test_a_result_takes_few_statements_with_every_edge_that_no_heartbeat_told(django_assert_max_num_queries):
    """Two reads before it, begin, commit, ten between; PostgreSQL adds the clock."""
    enqueue()
    enqueue()
    publish(attempt := claim(), completed_body(attempt))
    attempt = claim()
    body = completed_body(attempt)
    with django_assert_max_num_queries(15 if connection.vendor == "sqlite" else 16):
        publish(attempt, body)
