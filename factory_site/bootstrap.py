"""Run every command inside the project's own virtual environment, and make that environment when it is absent.

Only the standard library is imported here: this is the code that runs before anything is installed. An environment
counts as complete when its stamp names the lock files as they are now. The stamp is taken away before anything is
installed and written last, so an install that was interrupted is recognised and done again.

`python3 -m factory_site.bootstrap [--dev]` only prepares the environment.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parent.parent
MINIMUM_PYTHON = (3, 11)
USAGE_ERROR = 2  # exit code of a person's mistake, as argparse has it

RUNTIME_LOCK = "requirements.lock"
DEV_LOCK = "requirements-dev.lock"  # holds the pins of the runtime lock too


class BootstrapError(Exception):
    """The environment cannot be made; the text is one line that names the next step."""


@dataclass(frozen=True)
class Environment:
    """The virtual environment of one checkout."""

    project: Path

    @property
    def folder(self) -> Path:
        """Where the environment lies."""
        return self.project / ".venv"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def stamp(self) -> Path:
        """The file that names the locks whose packages are completely installed."""
        return self.folder / "factory-stamp.json"

    def lock_hash(self, lock: str) -> str:
        """Hash of a lock file as it is now; raises BootstrapError when the file is missing."""
        try:
            return hashlib.sha256((self.project / lock).read_bytes()).hexdigest()
        except OSError as error:
            message = f"{lock} cannot be read ({error.strerror}); restore it with: git checkout -- {lock}"
            raise BootstrapError(message) from error

    def installed(self) -> dict[str, str]:
        """Lock name → hash of what is completely installed; empty when nothing is."""
        try:
            stamp = json.loads(self.stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) and self.python.exists() else {}

    def is_ready(self, lock: str) -> bool:
        """Whether everything that the lock names is installed."""
        return self.installed().get(lock) == self.lock_hash(lock)

    def is_current(self) -> bool:
        """Whether this very process runs inside the environment."""
        return os.path.realpath(sys.prefix) == os.path.realpath(self.folder)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the right to change the environment; a second start waits here until the first is done."""
        import fcntl  # absent on Windows, where the message about the platform must still appear

        path = self.project / ".venv.lock"
        try:
            handle = path.open("a")
        except OSError as error:
            message = f"cannot write in {self.project} ({error.strerror}); make the checkout writable for this user"
            raise BootstrapError(message) from error
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def prepare(self, *, dev: bool) -> bool:
        """Return whether anything had to be installed. Calling it twice, or from two processes, is harmless."""
        lock = DEV_LOCK if dev else RUNTIME_LOCK
        if self.is_ready(lock):
            return False
        with self.locked():
            if self.is_ready(lock):
                return False
            self._install(lock)
        return True

    def _install(self, lock: str) -> None:
        wanted = {lock: self.lock_hash(lock)}
        if lock == DEV_LOCK:
            wanted[RUNTIME_LOCK] = self.lock_hash(RUNTIME_LOCK)
        had = self.installed()
        _say(f"preparing {self.folder} from {lock}; this takes about a minute and happens once")
        if had:
            # Complete, but for other locks: a running server may use it, so it is changed and not made anew.
            self.stamp.unlink()
        else:
            self._create()
        self._pip_install(lock)
        # A lock that did not change since it was installed is still satisfied by what lies there.
        kept = {name: value for name, value in had.items() if (self.project / name).is_file()}
        kept = {name: value for name, value in kept.items() if value == self.lock_hash(name)}
        aside = self.stamp.with_suffix(".new")
        aside.write_text(json.dumps(kept | wanted), encoding="utf-8")
        aside.replace(self.stamp)

    def _create(self) -> None:
        if importlib.util.find_spec("ensurepip") is None:
            message = (
                "this Python cannot make virtual environments; install its venv module: apt-get install python3-venv"
            )
            raise BootstrapError(message)
        try:
            venv.EnvBuilder(with_pip=True, symlinks=True, clear=True).create(self.folder)
        except (OSError, subprocess.CalledProcessError) as error:
            message = f"cannot make {self.folder} ({error}); remove it, check the free disk space, and start again"
            raise BootstrapError(message) from error

    def _pip_install(self, lock: str) -> None:
        log = self.folder / "install.log"
        # The lock names every package, so pip has nothing to resolve and --no-deps loses nothing.
        argv = [str(self.python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
        argv += ["--no-deps", "--require-hashes", "-r", lock]
        with log.open("w", encoding="utf-8") as output:
            done = subprocess.run(
                argv, cwd=self.project, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
            )
        if done.returncode != 0:
            errors = [line for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("ERROR")]
            reason = errors[-1].removeprefix("ERROR: ") if errors else f"pip ended with {done.returncode}"
            message = f"cannot install {lock}: {reason[:300]} (all of it in {log}); check the network and start again"
            raise BootstrapError(message)


def main(argv: list[str]) -> int:
    """Run one command of manage.py and return its exit code; replaces this process where that is needed."""
    dev = argv[:1] == ["test"]
    environment = Environment(PROJECT)
    code = prepare_or_complain(environment, dev=dev)
    if code is not None:
        return code
    if dev:
        # The working directory goes on the path with -m; the suite always runs from the project's folder.
        os.chdir(PROJECT)
        _become(environment, ["-m", "tests.run", *argv[1:]])
    if not environment.is_current():
        _become(environment, [str(PROJECT / "manage.py"), *argv])
    from factory_site.shell import cli

    return cli.run(argv)


def prepare_or_complain(environment: Environment, *, dev: bool) -> int | None:
    """Return None when the environment is ready, else the exit code after one line on stderr."""
    if sys.version_info < MINIMUM_PYTHON:
        wanted = ".".join(map(str, MINIMUM_PYTHON))
        have = ".".join(map(str, sys.version_info[:3]))
        _say(f"Python {have} is too old; run this with Python {wanted}: python{wanted} manage.py")
        return USAGE_ERROR
    try:
        if environment.prepare(dev=dev) and environment.is_current():
            # The packages changed under this process: what it imported already may be of another version.
            _become(environment, sys.orig_argv[1:])
    except BootstrapError as error:
        _say(str(error))
        return USAGE_ERROR
    except KeyboardInterrupt:
        _say("interrupted while preparing .venv; start again and it is prepared from the beginning")
        return 130
    return None


def _become(environment: Environment, arguments: list[str]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(environment.python, [str(environment.python), *arguments])  # noqa: S606 - an argv list, and no shell


def _say(sentence: str) -> None:
    sys.stderr.write(f"factory: {sentence}\n")


if __name__ == "__main__":
    sys.exit(prepare_or_complain(Environment(PROJECT), dev="--dev" in sys.argv[1:]) or 0)
