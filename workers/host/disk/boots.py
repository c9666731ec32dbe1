"""One boot of a worker on disk: who it is, which attempt it holds, and what dead boots left behind.

Layout below the worker home: ``boots/<worker id>/{boot.json, current.json, outbox/, previous/}``.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runs.contract.instants import format_instant
from workers.host.disk.files import make_private, overwrite_json, read_json, remove_tree, write_json
from workers.host.process.identity import ProcessId, identify, is_alive

CURRENT = "current.json"
BOOT = "boot.json"
PREVIOUS = "previous"
ACCEPTED = "accepted"  # the phase in current.json of an attempt whose outcome the server has


@dataclass(frozen=True, slots=True)
class Holding:
    """The attempt in hand, as ``current.json`` holds it: enough to end it without the worker that began it."""

    run_id: str
    attempt: int
    fencing_token: str
    worker_id: str
    phase: str
    workspace: str
    adapter: str = "unknown"  # to a worker of an earlier release
    leader: ProcessId | None = None
    agent: ProcessId | None = None

    @property
    def accepted(self) -> bool:
        """Whether the server already has its outcome."""
        return self.phase == ACCEPTED


class Boot:
    """The folder of one running worker."""

    def __init__(self, home: Path, worker_id: str) -> None:
        """Make the folder and say whose it is."""
        self.worker_id = worker_id
        self.folder = make_private(home / "boots" / worker_id)
        me = identify(os.getpid())
        write_json(self.folder / BOOT, {"workerId": worker_id, **(asdict(me) if me else {}), "startedAt": _now()})

    def hold(self, holding: Holding, *, durable: bool) -> None:
        """Record the attempt in hand, for whoever starts after a kill; ``durable``: after a power failure as well."""
        if durable:
            write_json(self.folder / CURRENT, asdict(holding), durable=True)
        else:
            overwrite_json(self.folder / CURRENT, asdict(holding))

    def release(self) -> None:
        """Nothing is in hand any more."""
        overwrite_json(self.folder / CURRENT, {})

    def close(self) -> None:
        """Remove the folder, if nothing in it waits to be sent."""
        if not any(self.folder.rglob("manifest.json")) and read_holding(self.folder) is None:
            remove_tree(self.folder)


def adopt_dead(home: Path, boot: Boot) -> list[Path]:
    """Move the folders of dead boots below this one; a folder that another worker took first is its own."""
    for folder in sorted((home / "boots").iterdir()):
        if folder == boot.folder or folder.name.startswith(".") or not _is_dead(folder):
            continue
        target = make_private(boot.folder / PREVIOUS) / folder.name
        with contextlib.suppress(OSError):
            folder.rename(target)
    return list(_adopted(boot.folder))


def boot_of(home: Path, process: ProcessId) -> Path | None:
    """The folder of the boot that this process made; None if it has none or a later boot has adopted it."""
    folders = (home / "boots").iterdir() if (home / "boots").is_dir() else ()
    return next((folder for folder in folders if _booted(folder) == process), None)


def read_holding(folder: Path) -> Holding | None:
    """What a boot held when it died."""
    document = read_json(folder / CURRENT)
    if document is None:
        return None
    with contextlib.suppress(TypeError):
        return Holding(**{**document, "leader": _process(document), "agent": _process(document, "agent")})
    return None


def forget_holding(folder: Path) -> None:
    """What a dead boot held is dealt with."""
    (folder / CURRENT).unlink(missing_ok=True)


def _adopted(folder: Path) -> Iterator[Path]:
    previous = folder / PREVIOUS
    if previous.is_dir():
        for found in sorted(previous.iterdir()):
            yield found
            yield from _adopted(found)


def _process(document: dict[str, Any], name: str = "leader") -> ProcessId | None:
    found = document.get(name)
    return ProcessId(int(found["pid"]), str(found["start"])) if isinstance(found, dict) else None


def _is_dead(folder: Path) -> bool:
    process = _booted(folder)
    if process is None:
        # Between the making of the folder and its first file lies a moment; a live worker is not robbed for it.
        return not folder.name.startswith(".") and _is_old(folder)
    return not is_alive(process)


def _booted(folder: Path) -> ProcessId | None:
    document = read_json(folder / BOOT)
    return ProcessId(int(document["pid"]), str(document["start"])) if document and "pid" in document else None


def _is_old(folder: Path) -> bool:
    try:
        age = datetime.now(UTC).timestamp() - folder.stat().st_mtime
    except OSError:
        return False  # its worker has left and taken it away
    return age > 60  # noqa: PLR2004 -- seconds; a boot writes its first file within milliseconds


def _now() -> str:
    return format_instant(datetime.now(UTC))
