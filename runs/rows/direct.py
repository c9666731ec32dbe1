"""One statement by its text, on the shortest way to the database.

A cursor of Django's costs several times what SQLite needs for a statement on one row, and has PostgreSQL plan each
statement anew. Here the connection below is asked itself, unless somebody listens to what is asked; errors, broken
transactions and lost connections are met as by Django's own cursor. PostgreSQL keeps the plan of each text.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.db import connections
from django.db.utils import DEFAULT_DB_ALIAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.db.backends.base.base import BaseDatabaseWrapper

Found = tuple[Any, ...]

IDLE = 0  # of libpq: no transaction has begun

_PLACE = re.compile(r"(?<!%)%s")


def rows_of(text: str, values: Sequence[Any] = ()) -> list[Found]:
    """Every row of the answer. Places for values are ``%s``, and a percent sign is doubled."""
    own = connections[DEFAULT_DB_ALIAS]
    if not _is_direct(own):
        with own.cursor() as cursor:
            cursor.execute(text, values)
            return list(cursor.fetchall())
    with own.wrap_database_errors:
        found: list[Found] = _asked(own, text, values).fetchall()
        return found


def row_of(text: str, values: Sequence[Any] = (), own: BaseDatabaseWrapper | None = None) -> Found | None:
    """The first row of the answer, or None. ``own``: this thread's connection, where the caller has it at hand."""
    own = own or connections[DEFAULT_DB_ALIAS]
    if not _is_direct(own):
        with own.cursor() as cursor:
            cursor.execute(text, values)
            return _found(cursor)
    with own.wrap_database_errors:
        return _found(_asked(own, text, values))


def changed_by(text: str, values: Sequence[Any] = (), own: BaseDatabaseWrapper | None = None) -> int:
    """How many rows the statement wrote."""
    own = own or connections[DEFAULT_DB_ALIAS]
    if not _is_direct(own):
        with own.cursor() as cursor:
            cursor.execute(text, values)
            return int(cursor.rowcount)
    with own.wrap_database_errors:
        return int(_asked(own, text, values).rowcount)


@contextmanager
def on_one_way(own: BaseDatabaseWrapper) -> Iterator[bool]:
    """Let PostgreSQL get the statements of this block at once: True. Other databases get one after the other: False."""
    if own.vendor != "postgresql" or not _is_direct(own):
        yield False
        return
    with own.wrap_database_errors, own.connection.pipeline():
        yield True


def answers_of(statements: Sequence[tuple[str, Sequence[Any]]]) -> list[list[Found]]:
    """The rows of each statement, in order; PostgreSQL gets them at once, and sees for each what is committed then."""
    own = connections[DEFAULT_DB_ALIAS]
    with on_one_way(own) as is_one:
        if not is_one:
            return [rows_of(text, values) for text, values in statements]
        cursors = [_asked(own, text, values) for text, values in statements]
    with own.wrap_database_errors:
        return [list(cursor.fetchall()) for cursor in cursors]


def _asked(own: BaseDatabaseWrapper, text: str, values: Sequence[Any]) -> Any:
    """A cursor below Django's that has the answer."""
    if own.vendor == "sqlite":
        return own.connection.execute(_marked(text), values)
    connection = own.connection
    cursor = _postgres_cursor()(connection)
    if connection.autocommit or connection.info.transaction_status != IDLE:
        return cursor.execute(text, values, prepare=True)
    with connection.pipeline():  # BEGIN and the first statement of the transaction on one way
        return cursor.execute(text, values, prepare=True)


def _found(cursor: Any) -> Found | None:
    found: Found | None = cursor.fetchone()
    return found


def _is_direct(own: BaseDatabaseWrapper) -> bool:
    """Whether the connection below may be asked itself; it is open then, and its transaction is not broken."""
    if own.force_debug_cursor or own.execute_wrappers:
        return False
    own.ensure_connection()
    own.validate_no_broken_transaction()
    return True


@lru_cache(maxsize=1)
def _postgres_cursor() -> Any:
    """The class of cursors that send values apart from the text, which a plan can be kept for."""
    from psycopg import Cursor

    return Cursor


@lru_cache(maxsize=512)
def _marked(text: str) -> str:
    """The text with SQLite's own marks for values."""
    return _PLACE.sub("?", text).replace("%%", "%")
