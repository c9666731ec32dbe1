"""The one clock of instants that decide."""

from datetime import UTC, datetime

from django.db import connection


def now() -> datetime:
    """Return the present instant in UTC: the database's on PostgreSQL, so that all hosts agree; else this host's."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT statement_timestamp()")
            instant: datetime = cursor.fetchone()[0]
            return instant.astimezone(UTC)
    return datetime.now(UTC)
