"""A database of its own for each control plane that a test starts as a process.

On SQLite it lies in the data folder and nothing has to be said. On PostgreSQL, where DATABASE_URL names a server, each
one is made there under a new name, and all of them are dropped when the test run ends.
"""

import secrets
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from tests import rings

_made: list[tuple[str, str]] = []  # address of the server, name of the database


def fresh_database() -> dict[str, str]:
    """The variables that give a new control plane an empty database of its own."""
    server = rings.postgres_url()
    return {"DATABASE_URL": made_on(server)} if server else {}


def made_on(server: str, *, template: str | None = None) -> str:
    """Make an empty database on this server, or a copy of another one that nobody uses; return its address."""
    name = f"factory_test_{secrets.token_hex(6)}"
    like = sql.SQL(" TEMPLATE {}").format(sql.Identifier(template)) if template else sql.SQL("")
    with psycopg.connect(server, autocommit=True) as session:
        session.execute(sql.SQL("CREATE DATABASE {}{}").format(sql.Identifier(name), like))
    _made.append((server, name))
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def drop_all() -> None:
    """Drop what was made; a server that is gone by now has taken its databases along."""
    while _made:
        server, name = _made.pop()
        try:
            with psycopg.connect(server, autocommit=True) as session:
                session.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        except psycopg.OperationalError:
            continue
