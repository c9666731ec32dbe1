"""The floor: what the database alone needs for a claim and its result, by hand and without any rule."""

import sqlite3
import time
from pathlib import Path


class Floor:
    """One SQLite file with a ready index, in WAL with synchronous FULL, as the product's."""

    def __init__(self, path: Path, rows: int) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            self.connection.execute(f"PRAGMA {pragma}")
        self.connection.execute("CREATE TABLE run (id INTEGER PRIMARY KEY, state TEXT, rank REAL, token INTEGER)")
        self.connection.execute("CREATE TABLE attempt (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER, result TEXT)")
        self.connection.execute("CREATE INDEX ready ON run (rank, id) WHERE state = 'queued'")
        self.connection.execute("BEGIN")
        self.connection.executemany("INSERT INTO run (state, rank) VALUES ('queued', ?)", ((n,) for n in range(rows)))
        self.connection.execute("COMMIT")

    def claim(self) -> float:
        """Claim one row in one transaction; seconds."""
        begun = time.perf_counter()
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        (key,) = run("SELECT id FROM run WHERE state = 'queued' ORDER BY rank, id LIMIT 1").fetchone()
        token = run("INSERT INTO attempt (run) VALUES (?)", (key,)).lastrowid
        run("UPDATE run SET state = 'leased', token = ? WHERE id = ? AND state = 'queued'", (token, key))
        run("COMMIT")
        return time.perf_counter() - begun

    def pair(self) -> float:
        """Claim one row and store its result, in two transactions; seconds."""
        begun = time.perf_counter()
        self.claim()
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        (token,) = run("SELECT max(id) FROM attempt").fetchone()
        run("UPDATE attempt SET result = '{}' WHERE id = ?", (token,))
        run("UPDATE run SET state = 'completed' WHERE token = ?", (token,))
        run("COMMIT")
        return time.perf_counter() - begun
