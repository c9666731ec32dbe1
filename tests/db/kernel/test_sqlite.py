"""Connections that a waiting request puts aside, for whoever needs one next."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.db.utils import OperationalError

from runs.sqlite.base import ASIDE, MOST_ASIDE, Aside, DatabaseWrapper

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "one.sqlite3"
    with sqlite3.connect(made) as own:
        own.execute("CREATE TABLE word (text)")
    return made


@pytest.fixture
def opened(file):
    """Makes wrappers of one file as two threads have them; everything is closed with the test."""
    if connection.vendor != "sqlite":
        pytest.skip("the backend of SQLite")
    made = []

    def open_one():
        made.append(DatabaseWrapper({**connection.settings_dict, "NAME": str(file)}, "other"))
        return made[-1]

    yield open_one
    for wrapper in made:
        wrapper.close()
    while (kept := ASIDE.take(str(file))) is not None:
        kept.close()


def said(wrapper):
    with wrapper.cursor() as cursor:
        cursor.execute("SELECT text FROM word")
        return [text for (text,) in cursor.fetchall()]


def write(wrapper, text):
    with wrapper.cursor() as cursor:
        cursor.execute("INSERT INTO word VALUES (%s)", [text])


def test_a_connection_that_was_put_aside_serves_the_next_who_connects(opened):
    first, second = opened(), opened()
    write(first, "a")
    handle = first.connection
    first.set_aside()
    assert first.connection is None
    assert said(second) == ["a"]
    assert second.connection is handle
    assert said(first) == ["a"]
    assert first.connection is not handle


def test_each_thread_that_connects_gets_one_of_its_own(opened):
    wrappers = [opened() for _ in range(4)]
    for wrapper in wrappers:
        said(wrapper)
    handles = {wrapper.connection for wrapper in wrappers}
    for wrapper in wrappers:
        wrapper.set_aside()
    with ThreadPoolExecutor(4) as threads:
        taken = list(
            threads.map(lambda wrapper: (wrapper.inc_thread_sharing(), said(wrapper), wrapper.connection)[2], wrappers)
        )
    assert set(taken) == handles
    assert len(set(taken)) == 4


def test_no_transaction_and_no_failed_connection_is_put_aside(opened):
    first, second = opened(), opened()
    said(first)
    handle = first.connection
    handle.execute("BEGIN")
    first.set_aside()
    assert said(second) == []
    assert second.connection is not handle
    with pytest.raises(OperationalError), second.cursor() as cursor, second.wrap_database_errors:
        cursor.execute("SELECT nothing FROM nowhere")
    failed = second.connection
    second.set_aside()
    said(first)
    assert first.connection is not failed


def test_a_file_that_was_replaced_meanwhile_is_opened_anew(opened, file):
    wrapper = opened()
    write(wrapper, "old")
    wrapper.set_aside()
    fresh = file.with_name("fresh.sqlite3")
    with sqlite3.connect(fresh) as own:
        own.execute("CREATE TABLE word (text)")
    for name in (f"{file.name}-wal", f"{file.name}-shm"):
        file.with_name(name).unlink()
    shutil.move(fresh, file)
    assert said(wrapper) == []


def test_more_than_enough_are_closed(file):
    aside = Aside()
    given = [aside.give(str(file), sqlite3.connect(file)) for _ in range(MOST_ASIDE + 1)]
    assert given == [True] * MOST_ASIDE + [False]
    assert aside.take("another file") is None
