"""Whether the database fits this version: reachable, set up, and not written by a newer one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from runs.contract.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_NAMED = 3


def database_check(*, set_up: bool) -> None:
    """Raise ``Invalid`` with one sentence when this version must not touch the database; reads only.

    ``set_up``: every migration of this version must have been made, too.
    """
    try:
        loader = MigrationLoader(connection)
    except DatabaseError as error:
        raise Invalid("database_unusable", database_sentence(error)) from None
    applied = set(loader.applied_migrations)
    newer = sorted(f"{app}.{name}" for app, name in applied if (app, name) not in loader.disk_migrations)
    if newer:
        named = ", ".join(newer[:MOST_NAMED]) + (", …" if len(newer) > MOST_NAMED else "")
        raise Invalid(
            "database_newer",
            f"the database was changed by a newer version ({named}); nothing was touched. "
            "Install that version again, or set FACTORY_HOME or DATABASE_URL to another database",
        )
    missing = [key for key in loader.graph.nodes if key not in applied]
    if set_up and missing:
        word = "has tables of an older version" if applied else "is empty"
        raise Invalid("database_older", f"the database {word}; start once: manage.py serve")


def migrations_missing() -> list[str]:
    """Migrations of this version that the database lacks, as ``app.name``; reads only."""
    loader = MigrationLoader(connection)
    return sorted(f"{app}.{name}" for app, name in loader.graph.nodes if (app, name) not in loader.applied_migrations)


@contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Wait until no other host on this PostgreSQL is inside a block of the same name; SQLite has one host anyway."""
    if connection.vendor != "postgresql":
        yield
        return
    key = f"factory:{name}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [key])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [key])


def database_sentence(error: Exception) -> str:
    """What a person reads instead of a traceback, with the setting that names the database; holds no secret."""
    text = " ".join(str(error).split())[:300]
    where = "DATABASE_URL" if settings.FACTORY.database_url else f"the database in {settings.FACTORY.home}"
    return f"{where} cannot be used ({text}); see that it is there, readable and not locked, then start again"
