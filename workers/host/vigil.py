"""The voice of a worker that waits for a process which SIGKILL does not end: it goes on to greet, and says so."""

import logging
import threading
from collections.abc import Callable

from workers.host.client import elapsed
from workers.host.process.survivors import survivors

LOOK_SECONDS = 1.0
AGAIN_SECONDS = 5.0  # between two greetings that say the same: the worker is not lost while it waits
LEAVE_SECONDS = 2.0  # for a greeting under way when the worker leaves

log = logging.getLogger(__name__)


class Vigil:
    """A thread of its own, because the worker's own one waits for the end of what it kills."""

    def __init__(self, greet: Callable[[], bool], *, look: float = LOOK_SECONDS, again: float = AGAIN_SECONDS) -> None:
        """Begins to look at once. ``greet`` sends a hello and returns whether it was accepted."""
        self._greet = greet
        self._look = look
        self._again = again
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vigil", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No further greeting begins."""
        self._ended.set()
        self._thread.join(LEAVE_SECONDS)

    def _run(self) -> None:
        told: list[int] = []
        at = elapsed()
        while not self._ended.wait(self._look):
            found = survivors()
            if found == told and not (found and elapsed() - at >= self._again):
                continue
            try:
                heard = self._greet()
            except Exception:
                log.exception("event=vigil_failed")
                continue
            if heard:
                told, at = found, elapsed()
