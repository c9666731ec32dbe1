import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def manage(*argv, cwd=PROJECT, **variables):
    environment = {"PATH": os.environ["PATH"], **variables}
    return subprocess.run(
        [sys.executable, "manage.py", *argv], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_a_wrong_setting_stops_any_command_with_one_line_and_no_traceback(tmp_path):
    done = manage("check", FACTORY_HOME=str(tmp_path), FACTORY_POLL_SECONDS="0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("factory: FACTORY_POLL_SECONDS: '0' is wrong")
    assert done.stderr.count("\n") == 1


def test_a_malformed_review_wait_only_warns(tmp_path):
    done = manage("check", FACTORY_HOME=str(tmp_path), FACTORY_REVIEW_WAIT_TIMEOUT="soon")
    assert done.returncode == 0
    assert done.stderr.startswith("factory: warning: FACTORY_REVIEW_WAIT_TIMEOUT: 'soon'")


def test_an_unusable_data_folder_stops_any_command_with_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = manage("migrate", FACTORY_HOME=str(tmp_path / "file" / "home"))
    assert done.returncode == 2
    assert done.stderr.startswith("factory: FACTORY_HOME: ")
    assert done.stderr.count("\n") == 1


def test_a_first_migration_needs_nothing_set_up(tmp_path):
    home = tmp_path / "home"
    done = manage("migrate", "-v0", FACTORY_HOME=str(home))
    assert (done.returncode, done.stderr) == (0, "")
    assert (home / "factory.sqlite3").is_file()


class Checkout:
    """A copy of what makes the environment, with empty locks, so that nothing has to be downloaded."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "factory_site").mkdir()
        for name in ("factory_site/__init__.py", "factory_site/bootstrap.py"):
            (folder / name).write_bytes((PROJECT / name).read_bytes())
        for lock in ("requirements.lock", "requirements-dev.lock"):
            (folder / lock).write_text("# nothing to install\n")

    def start(self, *argv):
        # A prepared environment of the caller must not be the one that is prepared.
        base = Path(sys.base_prefix) / "bin" / "python3"
        return subprocess.Popen(
            [base, "-m", "factory_site.bootstrap", *argv],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def prepare(self, *argv):
        process = self.start(*argv)
        _, said = process.communicate(timeout=120)
        return process.returncode, said


def test_two_first_starts_make_one_environment(tmp_path):
    checkout = Checkout(tmp_path)
    both = [checkout.start(), checkout.start()]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(text.count("preparing") for text in said) == [0, 1]


def test_an_interrupted_install_is_done_again_and_a_finished_one_is_not(tmp_path):
    checkout = Checkout(tmp_path)
    half = tmp_path / ".venv" / "bin"
    half.mkdir(parents=True)
    (half / "leftover").write_text("")
    assert checkout.prepare()[0] == 0
    assert not (half / "leftover").exists()
    assert checkout.prepare() == (0, "")


def test_a_changed_lock_is_installed_without_making_the_environment_anew(tmp_path):
    checkout = Checkout(tmp_path)
    assert checkout.prepare("--dev")[0] == 0
    witness = tmp_path / ".venv" / "witness"
    witness.write_text("")
    (tmp_path / "requirements.lock").write_text("# another lock\n")
    code, said = checkout.prepare()
    assert (code, "preparing" in said, witness.exists()) == (0, True, True)
    stamp = json.loads((tmp_path / ".venv" / "factory-stamp.json").read_text())
    assert sorted(stamp) == ["requirements-dev.lock", "requirements.lock"]


def test_a_failed_install_is_one_line_that_names_the_reason_and_leaves_no_stamp(tmp_path):
    checkout = Checkout(tmp_path)
    (tmp_path / "requirements.lock").write_text("/nowhere/absent.whl --hash=sha256:" + "0" * 64 + "\n")
    code, said = checkout.prepare()
    assert code == 2
    assert "cannot install requirements.lock: " in said.splitlines()[-1]
    assert "start again" in said.splitlines()[-1]
    assert not (tmp_path / ".venv" / "factory-stamp.json").exists()
