"""Rows found, inserted and updated by kept statements are the ORM's rows."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from runs.models import Attempt, JournalRow, Outbox, PlacementClass, Run, RunSpec
from runs.rows import row_find, row_insert, row_insert_once, row_new, row_save, row_update, rows_insert, together
from runs.rows.direct import answers_of, changed_by, row_of, rows_of
from tests.queue_driver import claim, enqueue, load_definitions

pytestmark = pytest.mark.django_db
AT = datetime(2026, 8, 30, 12, 31, 4, 123456, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _definitions():
    load_definitions()


def found(model, **equal):
    row = row_find(model, **equal)
    assert row is not None
    return row


def columns_of(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def test_a_found_row_is_the_row_of_the_orm_with_its_instants_and_its_json():
    run = enqueue()
    attempt = claim()
    for model, equal in (
        (Run, {"run_id": run.run_id}),
        (Attempt, {"run_id": run.pk, "number": 1}),
        (PlacementClass, {"id": run.placement_class_id}),
        (RunSpec, {"run_id": run.pk}),
    ):
        row = found(model, **equal)
        assert columns_of(row) == columns_of(model.objects.get(pk=row.pk))
        assert not row._state.adding
    assert attempt.worker_id == found(Attempt, worker_id=attempt.worker_id, finished_at=None).worker_id


def test_a_null_is_asked_for_as_such_and_nothing_is_found_where_nothing_is():
    enqueue()
    attempt = claim()
    assert row_find(Attempt, worker_id=attempt.worker_id, finished_at=AT) is None
    Attempt.objects.update(finished_at=AT, outcome="failed")
    assert row_find(Attempt, worker_id=attempt.worker_id, finished_at=None) is None
    assert found(Attempt, worker_id=attempt.worker_id, finished_at=AT).pk == attempt.pk
    assert row_find(Run, run_id="run_absent") is None


def test_an_inserted_row_has_its_key_and_reads_back_as_it_was():
    row = Outbox(topic="t", key="k", stream="s", payload={"ä": [1, None]}, created_at=AT, available_at=AT)
    row_insert(row)
    stored = Outbox.objects.get(key="k")
    assert columns_of(stored) == columns_of(row)
    row.stream = "other"
    row.save()  # an update, for the row is known to be stored
    assert Outbox.objects.get().stream == "other"


def test_a_row_is_inserted_once_whatever_of_it_must_be_unique():
    def row():
        return Outbox(topic="t", key="k", stream="s", created_at=AT, available_at=AT)

    first, second = row(), row()
    assert row_insert_once(first)
    assert not row_insert_once(second)
    assert (Outbox.objects.get().pk, second.pk) == (first.pk, None)


def test_several_rows_are_inserted_as_they_are():
    run = enqueue()
    rows = list(JournalRow.objects.filter(run=run))
    copies = [type(row)(**{**columns_of(row), "id": None, "seq": row.seq + step}) for step in (10, 20) for row in rows]
    rows_insert(copies)
    stored = JournalRow.objects.filter(run=run, seq__gt=9).order_by("seq")
    assert [columns_of(row) | {"id": None} for row in stored] == [columns_of(row) for row in copies]


def test_a_row_is_read_with_the_row_that_it_names(django_assert_num_queries):
    enqueue()
    attempt = claim()
    with django_assert_num_queries(1):
        row = row_find(Attempt, joined="run", id=attempt.pk)
        assert row is not None
        read = row.run
    assert columns_of(read) == columns_of(Run.objects.get(pk=attempt.run_id))


def test_columns_that_were_left_out_are_read_when_asked_for(django_assert_num_queries):
    run = enqueue()
    row = row_find(Run, only=("state",), run_id=run.run_id)
    assert row is not None
    with django_assert_num_queries(0):
        assert (row.pk, row.state) == (run.pk, "queued")
    with django_assert_num_queries(1):
        assert row.subject == run.subject


def test_a_saved_row_writes_what_differs_and_leaves_alone_what_another_wrote_meanwhile():
    enqueue()
    attempt = claim()
    row = found(Attempt, id=attempt.pk)
    Attempt.objects.filter(pk=attempt.pk).update(control_seq=7)
    row.phase, row.started_at = "running", AT
    row_save(row)
    row.phase = "verifying"
    row_save(row)
    stored = Attempt.objects.get(pk=attempt.pk)
    assert (stored.phase, stored.started_at, stored.control_seq) == ("verifying", AT, 7)


def test_a_statement_by_its_text_asks_the_same_whether_or_not_somebody_listens():
    run = enqueue()
    text, values = "SELECT run_id, 'a%%b' FROM runs_run WHERE id = %s", [run.pk]
    with CaptureQueriesContext(connection) as heard:
        listened = rows_of(text, values)
    assert rows_of(text, values) == listened == [(run.run_id, "a%b")]
    assert row_of(text, values) == listened[0]
    assert row_of(text, [0]) is None
    assert len(heard) == 1
    assert changed_by("UPDATE runs_run SET subject_label = %s WHERE id = %s", ["x", run.pk]) == 1
    assert Run.objects.get(pk=run.pk).subject_label == "x"


def test_faults_of_a_statement_are_those_of_django():
    enqueue()
    attempt = claim()
    copy = Attempt(**{**columns_of(attempt), "id": None})
    with pytest.raises(IntegrityError), transaction.atomic():
        row_insert(copy)
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(TransactionManagementError):
            rows_of("SELECT 1")


def test_a_row_whose_key_is_another_row_needs_none_of_its_own():
    run = enqueue()
    RunSpec.objects.all().delete()
    row_insert(RunSpec(run=run, canonical="{}"))
    assert RunSpec.objects.get().run_id == run.pk


def test_an_update_compares_and_sets_and_says_how_many_rows_it_found():
    run = enqueue()
    due = AT + timedelta(hours=1)
    columns = {"hold": "backoff", "available_at": due, "hold_checked_at": AT}
    assert row_update(Run, {"id": run.pk, "state": "queued", "journal_seq": 99}, columns) == 0
    assert row_update(Run, {"id": run.pk, "state": "queued", "journal_seq": run.journal_seq}, columns) == 1
    run.refresh_from_db()
    assert (run.hold, run.available_at, run.hold_checked_at) == ("backoff", due, AT)
    assert row_update(Run, {"id": run.pk}, {"hold": "", "available_at": None, "hold_checked_at": None}) == 1
    run.refresh_from_db()
    assert (run.hold, run.available_at) == ("", None)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks the database, not rows")
def test_a_found_row_can_be_locked_to_the_commit():
    run = enqueue()
    with transaction.atomic():
        assert found(Run, lock=True, run_id=run.run_id).pk == run.pk


def test_a_new_row_has_the_columns_that_the_constructor_would_give_it():
    columns = {"topic": "t", "key": "k", "stream": "s", "created_at": AT, "available_at": AT}
    for named in (columns, {**columns, "payload": {"a": 1}}):
        made, other = row_new(Outbox, **named), Outbox(**named)
        assert columns_of(made) == columns_of(other)
        assert made._state.adding
    assert row_new(Outbox, **columns).observed is not row_new(Outbox, **columns).observed  # no two share a mapping


def test_statements_that_go_together_are_all_there_at_the_end_of_the_block():
    rows = [row_new(Outbox, topic="t", key=f"k{n}", stream="s", created_at=AT, available_at=AT) for n in range(3)]
    with transaction.atomic(), together():
        for row in rows:
            rows_insert([row])
        row_update(Outbox, {"key": "k1"}, {"stream": "moved"})
    assert list(Outbox.objects.order_by("key").values_list("key", "stream")) == [
        ("k0", "s"),
        ("k1", "moved"),
        ("k2", "s"),
    ]


def test_one_of_several_that_fails_fails_them_all():
    row = row_new(Outbox, topic="t", key="k", stream="s", created_at=AT, available_at=AT)

    def twice():
        with transaction.atomic(), together():
            rows_insert([row])
            rows_insert([row])

    with pytest.raises(IntegrityError):
        twice()
    assert not Outbox.objects.exists()


def test_several_questions_are_answered_in_their_order_also_while_somebody_listens():
    asked = [("SELECT %s", [7]), ("SELECT 1 WHERE 1 = %s", [2]), ("SELECT 8 UNION ALL SELECT 9", [])]
    assert answers_of(asked) == [[(7,)], [], [(8,), (9,)]]
    with CaptureQueriesContext(connection) as captured:
        assert answers_of(asked) == [[(7,)], [], [(8,), (9,)]]
    assert len(captured) == 3


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite composes no plans that are worth keeping")
def test_postgresql_keeps_the_plan_of_a_statement():
    for number in range(3):
        assert row_of("SELECT %s::int AS kept_plan", [number]) == (number,)
    kept = rows_of("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%%AS kept_plan'")
    assert len(kept) == 1
