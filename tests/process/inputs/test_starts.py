"""Starts that cannot go well: one clear line each, and nothing half done."""

import shutil
import socket
import sqlite3

import pytest

from tests import rings
from tests.process.inputs.conftest import refused, run
from tests.process.serving import Served

BROKEN_AGENT = "id: pr-review\nversion: 9\nlimits: nothing\n"


def serve(home, *argv, **variables):
    return run(home, "serve", "--port", "0", *argv, **variables)


def tables(home):
    with sqlite3.connect(home / "factory.sqlite3") as database:
        return database.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_an_occupied_port_is_named_and_nothing_is_migrated(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        line = refused(run(tmp_path, "serve", "--port", str(port)))
    assert f"port {port} of 127.0.0.1" in line
    assert "--port or PORT" in line
    assert not (tmp_path / "factory.sqlite3").exists()


@pytest.mark.parametrize("argv", [["--port", "70000"], ["--port", "-1"], ["--host", "nowhere.invalid"]])
def test_an_address_that_no_socket_takes_is_one_line(tmp_path, argv):
    assert "cannot be used" in refused(run(tmp_path, "serve", *argv))


def test_a_second_serve_on_one_data_folder_names_the_first(served):
    assert f"pid {served.process.pid}" in refused(serve(served.home))


def test_a_data_folder_that_cannot_be_made_or_read_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        line = refused(serve(home), code=2)
        assert line.startswith(f"factory: FACTORY_HOME: the data folder {home} cannot be used")
    (tmp_path / "home" / "secret.key").mkdir(parents=True)
    assert "FACTORY_HOME: " in refused(serve(tmp_path / "home"), code=2)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sqlite:////nowhere/at/all.sqlite3", "DATABASE_URL cannot be used"),
        ("postgres://factory:hunter2@127.0.0.1:9/factory", "DATABASE_URL cannot be used"),
        ("mysql://root:hunter2@db/factory", "DATABASE_URL: its value is wrong"),
    ],
)
def test_a_database_that_cannot_be_reached_is_one_line_without_its_password(tmp_path, url, told):
    done = serve(tmp_path, DATABASE_URL=url)
    line = refused(done, code=2 if "wrong" in told else 1)
    assert told in line
    assert "hunter2" not in line


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path):
    (tmp_path / "factory.sqlite3").write_bytes(b"minutes of the meeting, " * 300)
    assert "cannot be used" in refused(serve(tmp_path))
    assert (tmp_path / "factory.sqlite3").read_bytes().startswith(b"minutes")


def test_a_database_of_a_newer_version_is_not_touched(tmp_path):
    assert run(tmp_path, "migrate", "-v0").returncode == 0
    with sqlite3.connect(tmp_path / "factory.sqlite3") as database:
        database.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
        database.execute("DROP TABLE django_session")
        database.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('runs', '9999_later', '2030-01-01 00:00:00')"
        )
    before = tables(tmp_path)
    for argv in (["serve", "--port", "0"], ["up", "--port", "0"], ["status"], ["submit", "acme/web#1"]):
        line = refused(run(tmp_path, *argv))
        assert "newer version (runs.9999_later)" in line
        assert "nothing was touched" in line
    assert tables(tmp_path) == before  # the table that this version misses was not made
    assert not (tmp_path / "admin.json").exists()


def test_a_command_before_the_first_start_names_the_next_step(manage):
    assert refused(manage("status")).endswith("the database is empty; start once: manage.py serve")


def test_a_broken_policy_stops_the_first_start_with_file_and_key(tmp_path):
    (tmp_path / "policy.yaml").write_text("merging:\n  maxReturns: many\n")
    for argv in (["serve", "--port", "0"], ["sync_definitions", "--check"]):
        if argv[0] == "sync_definitions":
            assert run(tmp_path, "migrate", "-v0").returncode == 0
        line = refused(run(tmp_path, *argv))
        assert "policy.yaml: merging.maxReturns: " in line
        assert line.endswith("manage.py sync_definitions --check")
    assert not (tmp_path / "admin.json").exists()


def test_broken_definitions_stop_a_first_start_and_leave_nothing_current(tmp_path):
    agents = tmp_path / "registry" / "agents"
    agents.mkdir(parents=True)
    (agents / "mine.yaml").write_text(BROKEN_AGENT)
    done = serve(tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "agents/mine.yaml: $" in done.stderr
    assert ": definition_invalid: " in done.stderr
    with sqlite3.connect(tmp_path / "factory.sqlite3") as database:
        assert database.execute("SELECT count(*) FROM runs_definition").fetchone() == (0,)
    assert not (tmp_path / "admin.json").exists()


@pytest.mark.skipif(rings.postgres_url() is not None, reason="copies the file that an SQLite database is")
def test_a_good_registry_that_breaks_stays_in_use_and_is_an_anomaly(served, tmp_path):
    home = tmp_path / "home"
    copied = shutil.copytree(served.home, home, ignore=shutil.ignore_patterns("run", "staticfiles", "*-wal", "*-shm"))
    with sqlite3.connect(served.home / "factory.sqlite3") as source, sqlite3.connect(home / "factory.sqlite3") as own:
        source.backup(own)
    agents = copied / "registry" / "agents"
    agents.mkdir(parents=True)
    (agents / "mine.yaml").write_text(BROKEN_AGENT)
    (agents / "second.yaml").write_text("[")
    check = run(home, "sync_definitions", "--check")
    assert check.returncode == 1
    named = [line for line in check.stderr.splitlines() if "agents/" in line]
    assert len(named) == 2
    assert all(line.count(": ") >= 3 for line in named)

    again = Served(home)
    try:
        again.until(lambda: "Factory serves " in again.log.read_text(), "it serves")
        assert "the definitions that were loaded last stay in use" in again.log.read_text()
        told = run(home, "status")
        assert "registry_invalid definitions: agents/" in told.stdout
    finally:
        again.stop()
