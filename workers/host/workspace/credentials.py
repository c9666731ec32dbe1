"""The worker behind the credential helper: answers git from memory, for the repositories of one run alone."""

import contextlib
import json
import os
import shlex
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from runs.contract.errors import FactoryError
from runs.contract.tokens import TokenSource
from workers.host.disk.files import make_private
from workers.host.workspace.moved import moved_to

USER = "x-access-token"
HELPER = Path(__file__).parents[1] / "credential_helper.py"
LARGEST_QUESTION = 65536
LONGEST_SOCKET_PATH = 100  # bytes; systems stop at 104 to 108

Fence = Callable[[], bool]


class GitCredentials:
    """One Unix socket (0600). ``fence`` is asked before each answer; None means that no answer needs it."""

    def __init__(
        self, folder: Path, *, tokens: TokenSource, server_url: str, repositories: Collection[str], fence: Fence | None
    ) -> None:
        """Listen now; ``repositories`` are ``owner/repo``."""
        server = urlsplit(server_url)
        self._server_url = server_url
        self._protocol, self._host, self._prefix = server.scheme, server.netloc, server.path.strip("/")
        self._repositories = {name.lower() for name in repositories}
        self._tokens = tokens
        self._fence = fence
        self._short: Path | None = None
        self.path = self._place(folder)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self.path))
        self.path.chmod(0o600)
        self._listener.listen(16)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Nobody answers any more."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.path.unlink(missing_ok=True)
        if self._short is not None:
            with contextlib.suppress(OSError):
                self._short.rmdir()

    def helper(self) -> str:
        """The value of ``credential.helper``."""
        words = (sys.executable, "-I", str(HELPER), str(self.path))
        return "!" + " ".join(shlex.quote(word) for word in words)

    def _place(self, folder: Path) -> Path:
        path = make_private(folder) / f"git-{os.urandom(4).hex()}.sock"
        if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
            return path
        # A deep worker home does not fit into a socket's address: a private folder elsewhere takes its place.
        self._short = Path(tempfile.mkdtemp(prefix="factory-"))
        return self._short / path.name

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError):
            connection.settimeout(10)
            content = b""
            while not content.endswith(b"\n") and len(content) < LARGEST_QUESTION:
                chunk = connection.recv(4096)
                if not chunk:
                    return
                content += chunk
            asked = json.loads(content)
            answer = self._decide(asked) if isinstance(asked, dict) else {}
            connection.sendall(json.dumps(answer).encode() + b"\n")

    def _decide(self, asked: Mapping[str, str]) -> dict[str, object]:
        repository = self._named(asked)
        if repository is None:
            return {}
        try:
            token = self._tokens.token()
        except FactoryError:
            return {}
        if repository not in self._repositories and not self._moved_here(repository, token.value):
            return {}
        if self._fence is not None and not self._fence():
            return {"refused": True}
        return {"username": USER, "password": token.value}

    def _named(self, asked: Mapping[str, str]) -> str | None:
        """The repository of the forge that git asks for, as ``owner/repo`` in lower case."""
        if asked.get("protocol") != self._protocol or asked.get("host", "").lower() != self._host.lower():
            return None
        path = str(asked.get("path", "")).strip("/")
        if self._prefix:
            if not path.startswith(f"{self._prefix}/"):
                return None
            path = path.removeprefix(f"{self._prefix}/")
        return path.removesuffix(".git").lower()

    def _moved_here(self, repository: str, token: str) -> bool:
        """Whether one of the run's repositories has this name now; it may be renamed while the agent works."""
        for known in sorted(self._repositories):
            now = moved_to(self._server_url, known, token)
            if now is not None and now.lower() == repository:
                self._repositories.add(repository)
                return True
        return False


def git_configuration(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """``GIT_CONFIG_COUNT`` and its pairs: configuration that lies in no file and no argv."""
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for number, (key, value) in enumerate(pairs):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def agent_git_environment(helper: str | None, author: tuple[str, str]) -> dict[str, str]:
    """The git variables of an agent; without a helper git gets no credential at all."""
    name, email = author
    pairs = [("credential.helper", "")]
    if helper is not None:
        pairs += [("credential.helper", helper), ("credential.useHttpPath", "true")]
    return {
        **git_configuration(pairs),
        "GIT_TERMINAL_PROMPT": "0",
        "GCM_INTERACTIVE": "never",
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }
