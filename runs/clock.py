"""The one clock of instants that decide."""

from datetime import UTC, datetime

from django.db import connection

from runs.rows.direct import rows_of


def now() -> datetime:
    """Return the present instant in UTC: the database's on PostgreSQL, so that all hosts agree; else this host's."""
    if connection.vendor == "postgresql":
        ((instant,),) = rows_of("SELECT statement_timestamp()")
        return instant.astimezone(UTC)  # type: ignore[no-any-return]  # the database has no types here
    return datetime.now(UTC)
