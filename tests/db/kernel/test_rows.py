"""Rows found, inserted and updated by kept statements are the ORM's rows."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from runs.models import Attempt, Outbox, PlacementClass, Run, RunSpec
from runs.rows import row_find, row_insert, row_update
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
