"""Which database holds everything, and how large it is."""

from __future__ import annotations

from pathlib import Path

from django.db import connection


def database_bytes() -> int:
    """The size of the database: of its file and log for SQLite, as PostgreSQL says otherwise."""
    if connection.vendor == "sqlite":
        path = Path(str(connection.settings_dict["NAME"]))
        files = (path, path.with_name(f"{path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])
