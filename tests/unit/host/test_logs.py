"""Logs of workers and supervisors: bounded, private, without the credential."""

import faulthandler
import json
import logging
import os
import re
import signal

import pytest

from workers.host import logs
from workers.host.credential import CredentialFile

TOKEN = "fwk_" + "a1B2c3D4e5F" * 3 + "0123456789"
LINE = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z worker=lab\.x slot=2 event=hello")


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A log of its own, with small files; the place of the real one is given back afterwards."""
    path = tmp_path / "secrets.json"
    path.touch(mode=0o600)
    document = {"schemaVersion": "factory.worker-credential/v1", "node": "lab", "url": None, "token": TOKEN}
    path.write_text(json.dumps(document))
    monkeypatch.setattr(logs, "FILE_BYTES", 2_000)
    root = logging.getLogger()
    kept, level = root.handlers[:], root.level
    root.handlers.clear()
    logs.log_to(CredentialFile(path), "worker=lab.x slot=2", file=tmp_path / "run" / "worker-2.log")
    yield tmp_path / "run" / "worker-2.log"
    for handler in root.handlers:
        handler.close()
    root.handlers[:], root.level = kept, level
    faulthandler.unregister(signal.SIGUSR1)


@pytest.fixture(autouse=True)
def run_folder(tmp_path):
    (tmp_path / "run").mkdir()


def test_a_line_begins_with_its_instant_and_never_holds_the_credential(log):
    logging.getLogger("workers").info("event=hello")
    logging.getLogger("workers").warning("event=refused header=%s", f"Bearer {TOKEN}")
    first, second = log.read_text().splitlines()
    assert LINE.fullmatch(first)
    assert "level=WARNING" in second
    assert TOKEN not in second


def test_five_files_of_a_bounded_size_are_kept_and_nobody_else_reads_them(log):
    for number in range(400):
        logging.getLogger("workers").info("event=tick number=%d", number)
    files = sorted(log.parent.iterdir())
    assert [path.name for path in files] == ["worker-2.log", *(f"worker-2.log.{n}" for n in range(1, 5))]
    assert max(path.stat().st_size for path in files) <= 2_000
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert "number=399" in log.read_text()


def test_stacks_go_to_the_file_that_is_written_now(log):
    for number in range(100):
        logging.getLogger("workers").info("event=tick number=%d", number)
    os.kill(os.getpid(), signal.SIGUSR1)
    assert "most recent call first" in log.read_text()
