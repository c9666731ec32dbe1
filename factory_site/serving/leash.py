"""`python -m factory_site.serving.leash FD GRACE ARGV…`: run a program that ends with this parent, however that ends.

The pipe FD closes when the parent dies, even by SIGKILL; then the program gets SIGTERM. Signals to end are passed on.
After either it has GRACE seconds until SIGKILL, which reaches everything that it started, in whatever session. What a
program leaves running when it ends by itself within that time is left alone. Exits as the program does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from workers.host.process.ending import end_below
from workers.host.process.subreaper import become_subreaper

if TYPE_CHECKING:
    from types import FrameType


def main(argv: list[str]) -> int:
    """Run the program to its end."""
    descriptor, grace, program = int(argv[0]), float(argv[1]), argv[2:]
    become_subreaper()
    process = subprocess.Popen(program, stdin=subprocess.DEVNULL)  # argv is this product's own

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        with suppress(ProcessLookupError):
            process.send_signal(number)
        threading.Thread(target=_kill_late, args=(grace, process), daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, pass_on)
    threading.Thread(target=_watch, args=(descriptor, grace, process), daemon=True).start()
    return process.wait()


def _watch(descriptor: int, grace: float, process: subprocess.Popen[bytes]) -> None:
    """End the program when the pipe closes."""
    while os.read(descriptor, 1):
        pass
    process.terminate()
    _kill_late(grace, process)


def _kill_late(grace: float, process: subprocess.Popen[bytes]) -> None:
    """Kill the program and what it started if it still runs after its grace."""
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        end_below()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
