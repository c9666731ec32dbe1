"""Git as the worker runs it: nothing that an agent wrote into a checkout is ever executed."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from workers.host.process.streams import readable
from workers.host.workspace.credentials import git_configuration

NETWORK_SECONDS = 600.0
LOCAL_SECONDS = 120.0
POLL_SECONDS = 0.25  # between two looks whether the attempt goes on
SAFE = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("diff.external", ""),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("protocol.ext.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("filter.lfs.smudge", ""),
    ("filter.lfs.process", ""),
    ("filter.lfs.required", "false"),
    ("http.lowSpeedLimit", "1024"),
    ("http.lowSpeedTime", "60"),
    ("http.followRedirects", "false"),
    ("advice.detachedHead", "false"),
)


class GitFailed(Exception):
    """A git command that did not do its work; ``tail`` is redacted."""

    def __init__(self, argv: tuple[str, ...], exit_code: int | None, tail: str) -> None:
        """``exit_code`` is None after a time-out."""
        super().__init__(f"git {argv[0]} ended with {exit_code}: {tail[-200:]}")
        self.exit_code = exit_code
        self.tail = tail


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git in one folder; ``helper`` is the credential helper of the worker's own socket, if any."""

    folder: Path
    redact: Callable[[str], str]
    helper: str | None = None
    author: tuple[str, str] = ("factory", "factory@localhost")
    path: str | None = None
    stopped: Callable[[], bool] | None = None
    extra: Mapping[str, str] = field(default_factory=dict)

    def at(self, folder: Path, **extra: str) -> "Git":
        """The same git in another folder, with further variables."""
        return replace(self, folder=folder, extra={**self.extra, **extra})

    def run(self, *argv: str, seconds: float = LOCAL_SECONDS, allow: tuple[int, ...] = (0,)) -> str:
        """The standard output; ``GitFailed`` for any other exit code than the allowed ones."""
        return self.code_and_output(*argv, seconds=seconds, allow=allow)[1]

    def code_and_output(
        self, *argv: str, seconds: float = LOCAL_SECONDS, allow: tuple[int, ...] = (0,)
    ) -> tuple[int, str]:
        """Exit code and standard output; ``GitFailed`` also when the attempt is to be stopped meanwhile."""
        process = subprocess.Popen(
            ["git", *argv], cwd=self.folder, env=self._environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + seconds
        while True:
            try:
                out, err = process.communicate(timeout=POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                interrupted = self.stopped is not None and self.stopped()
                if interrupted or time.monotonic() >= until:
                    _kill(process)
                    reason = "stopped" if interrupted else f"no end after {seconds:.0f} s"
                    raise GitFailed(argv, None, reason) from None
        if process.returncode not in allow:
            raise GitFailed(argv, process.returncode, readable(self.redact(err.decode("utf-8", "replace"))))
        return process.returncode, out.decode("utf-8", "replace")

    def _environment(self) -> dict[str, str]:
        pairs = [*SAFE, ("safe.directory", str(self.folder)), ("credential.helper", "")]
        if self.helper is not None:
            pairs += [("credential.helper", self.helper), ("credential.useHttpPath", "true")]
        name, email = self.author
        return {
            "PATH": os.defpath if self.path is None else self.path,
            "HOME": os.devnull,
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GCM_INTERACTIVE": "never",
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": email,
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": email,
            **git_configuration(pairs),
            **self.extra,
        }


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # The group was made for this command, and its leader is not reaped yet: the number is still its own.
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
