"""The pipe by which a child learns that its parent is gone, however that ended."""

from __future__ import annotations

import contextlib
import os
import signal
import threading


def watch_lifeline(fd: int) -> threading.Thread:
    """End this process at once when the parent's end of the pipe closes; the thread never keeps the process alive.

    SIGKILL of the parent closes the pipe too, so nothing is left that holds the port.
    """

    def wait_for_end() -> None:
        with contextlib.suppress(OSError):
            while os.read(fd, 1):
                pass
        os.kill(os.getpid(), signal.SIGKILL)

    thread = threading.Thread(target=wait_for_end, name="lifeline", daemon=True)
    thread.start()
    return thread
