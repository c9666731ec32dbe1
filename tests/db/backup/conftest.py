"""A machine that has lived: a data folder, and a database in which every commit is real; copied for each test."""

import hashlib
import io
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings

from factory_site.backup.wipe import database_made
from runs.artifacts.uploads import artifact_upload
from runs.people import bootstrap_admin
from tests import databases, rings
from tests.queue_driver import claim, completed_body, enqueue, load_definitions, presented, publish

TEXT = b"a transcript\n"
SHA256 = hashlib.sha256(TEXT).hexdigest()


@dataclass(frozen=True)
class Machine:
    home: Path
    database: str


@contextmanager
def machine(home, blocker, *, like=None):
    """A data folder, and an empty database in which every commit is real; or copies of those of another ``like`` it."""
    server = rings.postgres_url()
    if like:
        shutil.copytree(like.home, home)
    else:
        home.mkdir(mode=0o700)
    if server:
        database = databases.made_on(server, template=like and like.database).rpartition("/")[2]
    else:
        database = str(home / "factory.sqlite3")
    backend = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": home / "artifacts"}}
    kept = connection.settings_dict["NAME"]
    with (
        blocker.unblock(),
        override_settings(
            FACTORY=settings.FACTORY.model_copy(update={"home": home}),
            STORAGES={**settings.STORAGES, "artifacts": backend},
        ),
    ):
        connection.close()
        connection.settings_dict["NAME"] = database
        try:
            yield Machine(home, database)
        finally:
            connection.close()
            connection.settings_dict["NAME"] = kept


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory, django_db_blocker):
    """A machine with a run that completed, one that is queued, and people."""
    with machine(tmp_path_factory.mktemp("lived-in") / "home", django_db_blocker) as made:
        database_made()
        bootstrap_admin(made.home, "http://127.0.0.1:8090")
        (made.home / "secrets").mkdir()
        (made.home / "secrets" / "worker-lab.json").write_text("{}")
        (made.home / "settings.env").write_text("FACTORY_POLL_SECONDS=7\n")
        load_definitions()
        completed_run()
        enqueue(subject="pull-request:1:2")
    return made


@pytest.fixture
def site(lived_in, tmp_path, django_db_blocker):
    """The data folder of a copy of that machine, whose database is the connection's."""
    with machine(tmp_path / "one", django_db_blocker, like=lived_in) as made:
        yield made.home


@pytest.fixture
def moved(tmp_path, django_db_blocker):
    """A context in which the machine is another one, with nothing on it."""
    return lambda: machine(tmp_path / "two", django_db_blocker)


def completed_run():
    run = enqueue(subject="pull-request:1:1")
    attempt = claim()
    artifact_upload(presented(attempt), body=io.BytesIO(TEXT), size=len(TEXT), sha256=SHA256, media_type="text/plain")
    reference = {"kind": "transcript", "name": "t", "sha256": f"sha256:{SHA256}", "sizeBytes": len(TEXT)}
    body = completed_body(attempt, artifactRefs=[reference])
    body["result"]["artifacts"] = [reference]
    publish(attempt, body)
    return run
