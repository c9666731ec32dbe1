"""The node's bearer token: read from one file of mode 0600, and again when that file changes."""

import json
import stat
import threading
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from runs.contract.ids import NODE_PATTERN
from workers.host.options import UsageError

CREDENTIAL_VERSION = "factory.worker-credential/v1"
DEFAULT_FILE = Path("secrets", "worker-local.json")  # in the data folder
MEND = "run manage.py credentials issue NODE --output FILE"


@dataclass(frozen=True, slots=True)
class Credential:
    """Node, address and token; the token is in no ``repr``."""

    node: str
    url: str | None
    token: str = field(repr=False)


class CredentialFile:
    """The current credential. Safe for threads."""

    def __init__(self, path: Path) -> None:
        """Read it now; ``UsageError`` says how to mend it."""
        self.path = path
        self._lock = threading.Lock()
        self._mark = self._look()
        self._current = read_credential(path)

    @property
    def current(self) -> Credential:
        """The credential as it was last read."""
        return self._current

    def reread(self, *, force: bool = False) -> bool:
        """Read the file again if it changed; True if the token is another one. A file that is wrong is left."""
        with self._lock:
            mark = self._look()
            if mark == self._mark and not force:
                return False
            try:
                fresh = read_credential(self.path)
            except UsageError:
                return False
            self._mark = mark
            changed = fresh.token != self._current.token
            self._current = fresh
            return changed

    def _look(self) -> tuple[int, int, int]:
        try:
            found = self.path.stat()
        except OSError:
            return (0, 0, 0)
        return (found.st_mtime_ns, found.st_size, found.st_ino)


def credential_path(flag: str | None, home: Path) -> Path:
    """The file that a flag names, else the one in the data folder."""
    return Path(flag) if flag else home / DEFAULT_FILE


def read_credential(path: Path) -> Credential:
    """The credential in the file; ``UsageError`` for an absent, open or malformed one."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            raise UsageError("credential_mode", f"{path} can be read by others; run chmod 600 {path}")
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError("credential_unreadable", f"{path} cannot be read ({error.strerror}); {MEND}") from error
    except ValueError as error:
        raise UsageError("credential_malformed", f"{path} is no credential file; {MEND}") from error
    sound = isinstance(document, dict) and document.get("schemaVersion") == CREDENTIAL_VERSION
    node, token = (document.get("node"), document.get("token")) if sound else (None, None)
    if not isinstance(node, str) or not NODE_PATTERN.fullmatch(node) or not isinstance(token, str) or not token:
        raise UsageError("credential_malformed", f"{path} is no {CREDENTIAL_VERSION}; {MEND}")
    url = document.get("url")
    return Credential(node=node, url=url if isinstance(url, str) and url else None, token=token)


def check_address(url: str) -> str:
    """The address without a closing slash; ``UsageError`` (``insecure_url``) for plain HTTP to another machine."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError("usage", f"{url!r} is no address of a control plane; pass --url https://HOST")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise UsageError("insecure_url", f"insecure_url: {url} is plain HTTP to another machine; pass --url https://…")
    return url.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine for certain."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
