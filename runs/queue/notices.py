"""Saying inside a transaction that waiting requests may have news. SQLite needs no word: its watcher sees commits."""

from __future__ import annotations

from django.db import connection

CHANNEL = "factory_wake"


def work_appeared() -> None:
    """A run became ready; heard by the watchers of all processes when the transaction commits."""
    _notify()


def control_changed() -> None:
    """A held heartbeat has news (a cancel); heard when the transaction commits."""
    _notify()


def _notify() -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, '')", [CHANNEL])
