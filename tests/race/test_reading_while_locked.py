"""Reading goes on while another program holds SQLite's write lock."""

import sqlite3

import pytest
from django.db import connection

from runs.models import ApiToken, Role
from runs.people import token_caller, token_issue
from tests.factories import UserFactory

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL locks rows, not the database"),
]


def uses():
    return list(ApiToken.objects.exclude(last_used_at=None).values_list("last_used_at", flat=True))


def test_a_token_is_proven_while_the_write_lock_is_held_and_its_use_is_noted_later():
    user = UserFactory.create(role=Role.ADMIN)
    _, secret = token_issue(name="reader", user=user, role=Role.VIEWER, created_by="operator:ann@cli")
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        assert token_caller(secret) is not None  # a wait for the lock would end in an error, for nobody lets go
        assert uses() == []
        other.execute("ROLLBACK")
    finally:
        other.close()
    assert token_caller(secret) is not None
    assert len(uses()) == 1
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone()[0] == 10_000
