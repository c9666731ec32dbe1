"""The floors: what a database alone needs for a claim and its result, by hand and without any rule."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import psycopg

TABLES = (
    "CREATE TABLE run (id INTEGER PRIMARY KEY, state TEXT, rank REAL, token INTEGER)",
    "CREATE TABLE attempt (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER, result TEXT)",
    "CREATE INDEX ready ON run (rank, id) WHERE state = 'queued'",
)
HEAD = "SELECT id FROM run WHERE state = 'queued' ORDER BY rank, id LIMIT 1"


class Floor(Protocol):
    """A claim, and the result of that claim; each is one transaction."""

    def claim(self) -> int:
        """The token of a row that nobody else has."""

    def result(self, token: int) -> None:
        """Store the result of the token's row."""


class SqliteFloor:
    """One file with a ready index, in WAL with synchronous FULL, as the product's."""

    def __init__(self, path: Path, rows: int = 0) -> None:
        """``rows`` queued ones are made if any are asked for; else the file has them already."""
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            self._connection.execute(f"PRAGMA {pragma}")
        if rows:
            for statement in TABLES:
                self._connection.execute(statement)
            self._connection.execute("BEGIN")
            queued = ((number,) for number in range(rows))
            self._connection.executemany("INSERT INTO run (state, rank) VALUES ('queued', ?)", queued)
            self._connection.execute("COMMIT")

    def claim(self) -> int:
        self._run("BEGIN IMMEDIATE")
        (key,) = self._run(HEAD).fetchone()
        token = self._run("INSERT INTO attempt (run) VALUES (?)", (key,)).lastrowid or 0
        self._run("UPDATE run SET state = 'leased', token = ? WHERE id = ? AND state = 'queued'", (token, key))
        self._run("COMMIT")
        return token

    def result(self, token: int) -> None:
        self._run("BEGIN IMMEDIATE")
        self._run("UPDATE attempt SET result = '{}' WHERE id = ?", (token,))
        self._run(
            "UPDATE run SET state = 'completed' WHERE id = (SELECT run FROM attempt WHERE id = ?) AND state = 'leased'",
            (token,),
        )
        self._run("COMMIT")

    def _run(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self._connection.execute(statement, values)


class PostgresFloor:
    """One connection to an empty database on the server under test."""

    def __init__(self, url: str, rows: int) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        for statement in (
            "CREATE TABLE run (id bigserial PRIMARY KEY, state text, rank real, token bigint)",
            "CREATE TABLE attempt (id bigserial PRIMARY KEY, run bigint, result text)",
            "CREATE INDEX ready ON run (rank, id) WHERE state = 'queued'",
        ):
            self._connection.execute(statement)
        self._connection.execute(
            "INSERT INTO run (state, rank) SELECT 'queued', n FROM generate_series(1, %s) AS n", (rows,)
        )
        self._connection.execute("ANALYZE")

    def claim(self) -> int:
        with self._connection.transaction():
            (key,) = self._one(HEAD + " FOR UPDATE SKIP LOCKED")
            (token,) = self._one("INSERT INTO attempt (run) VALUES (%s) RETURNING id", key)
            self._run("UPDATE run SET state = 'leased', token = %s WHERE id = %s AND state = 'queued'", token, key)
        return int(token)

    def result(self, token: int) -> None:
        with self._connection.transaction():
            self._run("UPDATE attempt SET result = '{}' WHERE id = %s", token)
            self._run(
                "UPDATE run SET state = 'completed' WHERE id = (SELECT run FROM attempt WHERE id = %s)"
                " AND state = 'leased'",
                token,
            )

    def close(self) -> None:
        self._connection.close()

    def _one(self, statement: str, *values: Any) -> tuple[Any, ...]:
        found = self._connection.execute(statement, values).fetchone()
        return tuple(found or ())

    def _run(self, statement: str, *values: Any) -> None:
        self._connection.execute(statement, values)
