"""An installation moves from SQLite to PostgreSQL and back by its backups, and loses not a byte of a row."""

import json
import os
import subprocess
import sys
import tarfile

from tests.databases import fresh_database
from tests.process.system import PROJECT

RUNS = 5
OWN = {"tables/factory_site.Backup.jsonl.gz", "tables/runs.PeriodicTask.jsonl.gz"}  # speak of the machine itself


class Machine:
    """A data folder and a database, used by commands alone."""

    def __init__(self, home, **database):
        self.home = home
        self.environment = {"PATH": os.environ["PATH"], "FACTORY_HOME": str(home), **database}

    def run(self, *argv):
        environment = {**self.environment, "DJANGO_SETTINGS_MODULE": "factory_site.settings"}
        done = subprocess.run(
            [sys.executable, *argv], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def manage(self, *argv):
        return self.run("manage.py", *argv)

    def backed_up(self, path):
        """Take a backup and return the hash of each table that it holds."""
        self.manage("backup", "--output", str(path))
        with tarfile.open(path) as archive:
            file = archive.extractfile("manifest.json")
            assert file is not None
            members = json.load(file)["members"]
        return {name: found for name, found in members.items() if name.startswith("tables/") and name not in OWN}


def test_rows_are_the_same_on_either_database_whichever_way_they_went(tmp_path):
    """RU-H5: every chain verifies on the other side, for not a digit of an instant was lost."""
    small = Machine(tmp_path / "sqlite")
    small.manage("migrate")
    small.run("-m", "tests.process.postgres.queue_runs", str(RUNS))
    before = small.backed_up(tmp_path / "small.tar")
    large = Machine(tmp_path / "postgres", **fresh_database())
    assert "every journal verifies" in large.manage("restore", str(tmp_path / "small.tar"))
    assert large.backed_up(tmp_path / "large.tar") == before
    again = Machine(tmp_path / "again")
    assert "every journal verifies" in again.manage("restore", str(tmp_path / "large.tar"))
    assert again.backed_up(tmp_path / "again.tar") == before
