"""Gunicorn's threads, which stay a moment for the next request of the connection that they have just answered."""

from __future__ import annotations

import select
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

STAY_MS = 20  # a worker's requests of one run follow each other within that


class StayingThreads(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Between two requests of a connection gunicorn hands it to its main thread and to another thread after that.

    For requests as short as those of a fleet that costs more than reading them.
    """

    def handle(self, conn: Any) -> Any:
        """Answer the next request of the connection, and those that follow at once; gunicorn's own answer at the end.

        What was read ahead of a request counts as nothing more to read: gunicorn sees to that.
        """
        kept = super().handle(conn)
        while kept is True and self.alive and not conn.is_http2 and _follows(conn.sock):
            kept = super().handle(conn)
        return kept


def _follows(sock: Any) -> bool:
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(STAY_MS))
