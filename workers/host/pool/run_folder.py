"""The run folder: which slots are taken, by whom, and who was asked to leave. Read anew at every look."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runs.contract.errors import Invalid
from runs.contract.instants import format_instant, parse_instant
from runs.contract.pool import LARGEST_POOL
from workers.host.disk.files import make_private, write_json, write_whole
from workers.host.process.identity import ProcessId, identify, is_alive
from workers.host.process.only_one import pid_line, process_of, read_pid_file

ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot that has a pid file. ``worker_id`` is known once the control plane has accepted the worker."""

    number: int
    process: ProcessId
    spawned_at: datetime
    draining: bool
    worker_id: str | None

    @property
    def alive(self) -> bool:
        """Whether exactly its process runs."""
        return is_alive(self.process)

    def age(self) -> float:
        """Seconds since the spawn, by the wall clock, so that another supervisor knows them too."""
        return max(0.0, (datetime.now(UTC) - self.spawned_at).total_seconds())


class RunFolder:
    """The files of one machine's pool."""

    def __init__(self, path: Path) -> None:
        """Make the folder if it is not there."""
        self.path = make_private(path)

    def pid_file(self, number: int) -> Path:
        """Who has the slot."""
        return self.path / f"worker-{number}.pid"

    def drain_file(self, number: int) -> Path:
        """Its existence asks the worker to leave at its next safe point."""
        return self.path / f"worker-{number}.drain"

    def id_file(self, number: int) -> Path:
        """The worker id, once its hello was accepted."""
        return self.path / f"worker-{number}.id"

    def log(self, number: int) -> Path:
        """Where the slot's worker logs, rotated by itself."""
        return self.path / f"worker-{number}.log"

    def output(self, number: int) -> Path:
        """What a worker wrote to its streams: the output of a crash."""
        return self.path / f"worker-{number}.out"

    def slots(self) -> list[Slot]:
        """Every slot that has a pid file, the lowest first; whether its process lives is for the caller to ask."""
        return list(self._slots())

    def free_slot(self, most: int) -> int | None:
        """The lowest slot up to ``most`` that nobody has."""
        return next((number for number in range(1, most + 1) if not self.pid_file(number).exists()), None)

    def take(self, number: int, pid: int) -> None:
        """Note that this process has the slot from now on."""
        write_whole(self.pid_file(number), pid_line(pid, "work").encode())

    def free(self, number: int) -> None:
        """Nobody has the slot any more; its pid file goes last, so that a half-freed slot is still taken."""
        for path in (self.drain_file(number), self.id_file(number), self.pid_file(number)):
            path.unlink(missing_ok=True)

    def clear(self, number: int) -> None:
        """Remove what an earlier worker of the slot left, before a new one is spawned."""
        for path in (self.drain_file(number), self.id_file(number)):
            path.unlink(missing_ok=True)

    def ask_to_leave(self, number: int, reason: str) -> None:
        """Write the drain file."""
        write_json(self.drain_file(number), {"requestedAt": format_instant(datetime.now(UTC)), "reason": reason})

    def keep(self, number: int) -> None:
        """Remove the drain file."""
        self.drain_file(number).unlink(missing_ok=True)

    def last_line(self, number: int) -> str:
        """The last line that the slot's worker wrote to its streams; blank if it said nothing."""
        try:
            lines = self.output(number).read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _slots(self) -> Iterator[Slot]:
        for number in range(1, LARGEST_POOL + 1):
            path = self.pid_file(number)
            if not path.exists():
                continue
            found = read_pid_file(path)
            yield Slot(
                number=number,
                process=process_of(found),
                spawned_at=_instant(found.get("spawnedAt")),
                draining=self.drain_file(number).exists(),
                worker_id=_text(self.id_file(number)),
            )


def hold_slot(folder: Path, number: int) -> bool:
    """Let a worker note itself in its slot; False if another live process has it.

    The supervisor does the same right after the spawn. A supervisor that was killed in between leaves a worker that
    the next one would not know of.
    """
    run = RunFolder(folder)
    holder = process_of(read_pid_file(run.pid_file(number)))
    if holder == identify(os.getpid()):
        return True
    if is_alive(holder):
        return False
    run.take(number, os.getpid())
    return True


def _instant(text: object) -> datetime:
    try:
        return parse_instant(str(text))
    except Invalid:
        return ORIGIN


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None
