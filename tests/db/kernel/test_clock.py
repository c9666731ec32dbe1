from datetime import UTC

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.clock import now

pytestmark = pytest.mark.django_db


def test_the_clock_is_in_utc_and_goes_on_inside_a_transaction():
    """On PostgreSQL the transaction's own instant would stand still from its first statement on."""
    assert connection.in_atomic_block
    first, second = now(), now()
    assert first.tzinfo is UTC
    assert second > first


def test_the_database_says_what_time_it_is_where_hosts_share_it():
    with CaptureQueriesContext(connection) as asked:
        now()
    expected = ["SELECT statement_timestamp()"] if connection.vendor == "postgresql" else []
    assert [each["sql"] for each in asked] == expected
