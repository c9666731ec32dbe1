"""Where the forge's token comes from: two environment variables, then the GitHub CLI; first found wins.

The value lives in memory only. It never appears in ``repr``, in an exception or in argv; records name a credential by
``credential_id``.
"""

import hashlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from runs.contract.errors import Permanent

VARIABLES = ("GITHUB_TOKEN", "GH_TOKEN")
CLI_SECONDS = 5.0  # a CLI that waits for a person must not hold a request
KEPT_SECONDS = 600.0  # how long an answer of the CLI is believed
ABSENT_SECONDS = 60.0  # a missing CLI or login is asked for again sooner, so that a login needs no restart

RunCli = Callable[[Sequence[str], Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class Token:
    """A credential. ``source`` is where it was found; only ``credential_id`` may be stored or shown."""

    value: str = field(repr=False)
    source: str

    @property
    def credential_id(self) -> str:
        """First 12 hex digits of the SHA-256 of the value."""
        return hashlib.sha256(self.value.encode()).hexdigest()[:12]


def run_cli(argv: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the first line that the command prints, blank if it fails or is absent; at most 5 s."""
    try:
        done = subprocess.run(
            list(argv), env=dict(environment), capture_output=True, text=True, timeout=CLI_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = done.stdout.split() if done.returncode == 0 else []
    return lines[0] if lines else ""


class TokenSource:
    """The token of one server. Safe for threads: one resolution at a time."""

    def __init__(
        self,
        server_url: str,
        environment: Mapping[str, str] | None = None,
        *,
        cli: RunCli = run_cli,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``environment`` is read at each resolution; by default that of this process."""
        self._host = urlsplit(server_url).netloc
        self._environment = os.environ if environment is None else environment
        self._cli = cli
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._cli_value = ""
        self._cli_until: float | None = None

    def token(self) -> Token:
        """Return the token; ``Permanent`` ``forge_unauthorised`` naming the three sources when there is none."""
        for variable in VARIABLES:
            values = self._environment.get(variable, "").split()
            if values:  # two values while one is rotated: the first is the newer
                return Token(value=values[0], source=variable)
        with self._lock:
            now = self._monotonic()
            if self._cli_until is None or now >= self._cli_until:
                self._cli_value = self._cli(("gh", "auth", "token", "--hostname", self._host), self._environment)
                self._cli_until = self._monotonic() + (KEPT_SECONDS if self._cli_value else ABSENT_SECONDS)
            value = self._cli_value
        if value:
            return Token(value=value, source="gh")
        tried = [*VARIABLES, f"gh auth token --hostname {self._host}"]
        raise Permanent(
            "forge_unauthorised",
            f"no token for {self._host}: tried {', '.join(tried)}; set GITHUB_TOKEN or run `gh auth login`",
            details={"tried": tried},
        )

    def has_token(self) -> bool:
        """Whether there is a token now, by the rules of ``token``."""
        try:
            return bool(self.token().value)
        except Permanent:
            return False

    def renew(self) -> None:
        """Forget what the CLI said, so that the next resolution asks it again; called after a 401."""
        with self._lock:
            self._cli_until = None
