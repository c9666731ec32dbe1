"""One instant of the database to read from, whatever is written meanwhile; and the keys that its tables gave out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import connections, models, transaction

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from django.db.models import Model

ALIAS = "snapshot"


@contextmanager
def snapshot() -> Iterator[str]:
    """The alias of a connection of its own, inside a transaction that only reads; it holds up no writer."""
    main = connections["default"]
    connections.settings[ALIAS] = {
        **main.settings_dict,
        "OPTIONS": {**main.settings_dict.get("OPTIONS", {}), **_one_instant(main.vendor)},
        "CONN_MAX_AGE": 0,
    }
    try:
        with transaction.atomic(using=ALIAS):
            yield ALIAS
    finally:
        connections[ALIAS].close()
        del connections[ALIAS]
        del connections.settings[ALIAS]


def _one_instant(vendor: str) -> dict[str, Any]:
    if vendor == "sqlite":
        return {"transaction_mode": "DEFERRED"}  # the write-ahead log keeps what a reader began with
    from psycopg import IsolationLevel

    return {"isolation_level": IsolationLevel.REPEATABLE_READ}


def last_keys(kept: Sequence[type[Model]], alias: str) -> dict[str, int]:
    """The last key that each table gave out, also where that row is gone; nothing for tables with other keys."""
    connection = connections[alias]
    found: dict[str, int] = {}
    with connection.cursor() as cursor:
        for table, column in _counted(kept):
            if connection.vendor == "sqlite":
                cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
            else:
                sequence = "pg_get_serial_sequence(%s, %s)::regclass"
                cursor.execute(f"SELECT pg_sequence_last_value({sequence})", [table, column])
            row = cursor.fetchone()
            if row and row[0] is not None:
                found[table] = int(row[0])
    return found


def keys_begin_behind(kept: Sequence[type[Model]], last: Mapping[str, int], gap: int) -> None:
    """Have each table give out keys from ``gap`` behind its last one on, in the caller's transaction."""
    connection = connections["default"]
    with connection.cursor() as cursor:
        for table, column in _counted(kept):
            key = last.get(table, 0) + gap
            if connection.vendor == "sqlite":
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, key])
            else:
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, %s)::regclass, %s)", [table, column, key])


def _counted(kept: Sequence[type[Model]]) -> Iterator[tuple[str, str]]:
    """Table and column of the models whose keys the database counts up."""
    for model in kept:
        key = model._meta.pk
        if isinstance(key, models.AutoField):
            yield model._meta.db_table, str(key.column)
