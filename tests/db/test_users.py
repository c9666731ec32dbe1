import pytest
from django.db import IntegrityError, connection, transaction

from runs.models.user import Role
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


def test_a_person_may_only_look_until_told_otherwise():
    user = UserFactory.create()
    assert [role for role in Role if user.may(role)] == [Role.VIEWER]


def test_a_higher_role_may_do_everything_of_a_lower_one():
    assert [role for role in Role if UserFactory.create(role=Role.ADMIN).may(role)] == list(Role)


def test_the_database_refuses_an_unknown_role():
    with pytest.raises(IntegrityError), transaction.atomic():
        UserFactory.create(role="owner")


def test_sqlite_waits_for_a_lock_and_writes_ahead():
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        found = [
            cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("busy_timeout", "journal_mode", "synchronous")
        ]
    assert found == [10_000, "wal", 1]
